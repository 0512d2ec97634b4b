package engine

import (
	"time"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/persist"
)

// An eventKind is something that happens to a process.
type eventKind string

const (
	evIntent      eventKind = "intent saved"   // the wish to start it is on disk; err if not
	evSpawned     eventKind = "spawned"        // the keeper has started it: child, live
	evSpawnFailed eventKind = "spawn failed"   // it could not: err
	evFound       eventKind = "found"          // a new engine found its child in the keeper: child, live
	evLost        eventKind = "lost"           // a new engine found its child alive, but not its terminal
	evMissing     eventKind = "missing"        // a new engine found no child: ending
	evExited      eventKind = "exited"         // its child has ended: child, ending
	evDrained     eventKind = "drained"        // all its output has been read
	evGone        eventKind = "gone"           // nothing is left of its tree
	evStuck       eventKind = "stuck"          // its tree could not be ended: err
	evStop        eventKind = "stop asked for" // reply
	evRemove      eventKind = "removal asked for"
)

// An event carries what its kind says.
type event struct {
	kind   eventKind
	child  keeper.Child
	live   liveSession
	ending ending
	err    error
	reply  chan<- outcome
}

type action func(c *control, p *proc, e event)

// A table says what an event does to a process in a state. A cell that is not
// there cannot happen; one that shall have no effect says ignore.
type table map[api.State]map[eventKind]action

func newTable() table {
	ended := map[eventKind]action{
		evSpawnFailed: ignore,
		evExited:      forgetLate,
		evDrained:     ignore,
		evGone:        ignore,
		evStuck:       ignore,
		evStop:        refuseEnded,
		evRemove:      remove,
	}
	return table{
		api.StateStarting: {
			evIntent:      spawn,
			evSpawned:     begin,
			evSpawnFailed: giveUp,
			evFound:       begin,
			evLost:        endLost,
			evMissing:     conclude,
			evExited:      noteExit,
			evDrained:     noteDrained,
			evStop:        stopOnceStarted,
			evRemove:      refuseRunning,
		},
		api.StateRunning: {
			evFound:   begin,
			evLost:    endLost,
			evMissing: conclude,
			evExited:  noteExit,
			evDrained: noteDrained,
			evStop:    stop,
			evRemove:  refuseRunning,
		},
		api.StateStopping: {
			evFound:   begin,
			evLost:    endLost,
			evMissing: conclude,
			evExited:  noteExit,
			evDrained: noteDrained,
			evGone:    noteGone,
			evStuck:   reportStuck,
			evStop:    stop,
			evRemove:  refuseRunning,
		},
		api.StateBackoff: {
			evFound:   begin,
			evMissing: conclude,
			evExited:  ignore,
			evDrained: ignore,
			evStop:    stopWaiting,
			evRemove:  refuseRunning,
		},
		api.StateStopped: ended,
		api.StateExited:  ended,
		api.StateFailed:  ended,
	}
}

func ignore(*control, *proc, event) {}

// spawn asks the keeper for the child, now that the intent is on disk.
func spawn(c *control, p *proc, e event) {
	if e.err != nil {
		giveUp(c, p, e)
		return
	}
	rec := p.rec
	c.work(func() {
		child, live, err := c.world.spawn(c.ctx, rec)
		if err != nil {
			c.post(rec.ID, event{kind: evSpawnFailed, err: err})
			return
		}
		c.post(rec.ID, event{kind: evSpawned, child: child, live: live})
	})
}

// begin takes a child that exists, and ends it again if that is wanted.
func begin(c *control, p *proc, e event) {
	id := persist.Identity{BootID: e.child.BootID, PID: e.child.PID, StartTime: e.child.StartTime}
	known := p.rec.Identity != nil && *p.rec.Identity == id
	p.live = e.live
	p.rec.Identity = &id
	p.drained = p.drained || e.live == nil
	if p.rec.StartedAt.IsZero() {
		p.rec.StartedAt = time.Now()
	}
	switch {
	case p.rec.Desired == desiredStopped:
		c.become(p, api.StateStopping)
		endProcess(c, p)
	case known && p.state() == api.StateRunning:
		c.announce(p)
	default:
		c.become(p, api.StateRunning)
	}
	if p.ending != nil { // the exit came before the start did
		childEnded(p)
		settle(c, p)
	}
}

// giveUp drops a process that could not be started and tells who asked for it.
func giveUp(c *control, p *proc, e event) {
	c.log.Warn("start failed", "id", p.rec.ID, "name", p.rec.Name, "error", e.err)
	p.fail(e.err)
	drop(c, p)
}

// noteExit remembers how the child ended. Its output is read to the end before
// anybody is told.
func noteExit(c *control, p *proc, e event) {
	if p.ending != nil || !sameChild(p.rec.Identity, e.child) {
		return
	}
	p.ending = &e.ending
	if p.rec.Identity == nil { // the start has not been reported yet
		return
	}
	childEnded(p)
	settle(c, p)
}

// sameChild reports whether an event is about the child we know; an event
// without a pid is, and so is every event as long as we know none.
func sameChild(id *persist.Identity, child keeper.Child) bool {
	return id == nil || child.PID == 0 || (child.PID == id.PID && child.StartTime == id.StartTime)
}

func childEnded(p *proc) {
	if p.live != nil {
		p.live.childEnded()
	}
}

func noteDrained(c *control, p *proc, _ event) {
	p.drained = true
	settle(c, p)
}

func noteGone(c *control, p *proc, _ event) {
	p.gone, p.killing = true, false
	if p.ending == nil {
		rec := p.rec
		c.work(func() {
			late := c.world.lateExit(c.ctx, rec)
			c.post(rec.ID, event{kind: evExited, ending: late})
		})
		return
	}
	settle(c, p)
}

// settle ends a process once nothing more can come of it.
func settle(c *control, p *proc) {
	if p.ending == nil || !p.drained || p.killing {
		return
	}
	if p.state() == api.StateStopping && !p.gone {
		endProcess(c, p)
		return
	}
	if p.live != nil {
		p.last = p.live.facts()
		p.rec.Title, p.rec.Cols, p.rec.Rows = p.last.title, p.last.cols, p.last.rows
	}
	c.become(p, endedAs(p.rec))
	id := p.rec.ID
	c.onDisk(p, func() { c.world.forget(id) })
}

func endedAs(r persist.Record) api.State {
	if r.Desired == desiredStopped {
		return api.StateStopped
	}
	return api.StateExited
}

// forgetLate lets the keeper drop a child whose end it learned after us.
func forgetLate(c *control, p *proc, _ event) {
	id := p.rec.ID
	c.onDisk(p, func() { c.world.forget(id) })
}

// conclude ends a process whose child is not there when an engine starts.
func conclude(c *control, p *proc, e event) {
	p.ending, p.drained, p.gone = &e.ending, true, true
	if p.rec.Identity == nil {
		p.ending = nil
		p.rec.Error = "the engine ended before it was started"
		c.become(p, api.StateFailed)
		return
	}
	c.become(p, endedAs(p.rec))
}

// endLost ends a child whose terminal nobody holds any more.
func endLost(c *control, p *proc, _ event) {
	p.drained = true
	p.ending = &ending{exit: keeper.Exit{Unknown: true}} // whoever could tell is gone
	p.rec.Error = "its terminal was lost: engine and keeper ended at the same time"
	c.become(p, api.StateStopping)
	endProcess(c, p)
}

// stop writes down that the process shall not run, then ends it.
func stop(c *control, p *proc, e event) {
	if e.reply != nil {
		p.waiters = append(p.waiters, waiter{until: api.State.Ended, reply: e.reply})
	}
	if p.killing {
		return
	}
	p.rec.Desired = desiredStopped
	c.become(p, api.StateStopping)
	endProcess(c, p)
}

// stopWaiting ends a process that has no child at the moment.
func stopWaiting(c *control, p *proc, e event) {
	if e.reply != nil {
		p.waiters = append(p.waiters, waiter{until: api.State.Ended, reply: e.reply})
	}
	p.rec.Desired = desiredStopped
	c.become(p, api.StateStopped)
}

// endProcess queues behind what is being saved, so that the wish is on disk
// before the first signal is sent.
func endProcess(c *control, p *proc) {
	p.killing = true
	rec := p.rec
	c.onDisk(p, func() {
		c.work(func() {
			if err := c.world.endTree(c.ctx, *rec.Identity); err != nil {
				c.post(rec.ID, event{kind: evStuck, err: err})
				return
			}
			c.post(rec.ID, event{kind: evGone})
		})
	})
}

// stopOnceStarted remembers the wish; begin then acts on it.
func stopOnceStarted(c *control, p *proc, e event) {
	p.rec.Desired = desiredStopped
	if e.reply != nil {
		p.waiters = append(p.waiters, waiter{until: api.State.Ended, reply: e.reply})
	}
}

func reportStuck(c *control, p *proc, e event) {
	p.killing = false
	p.fail(e.err)
	c.notice(e.err.Error())
}

func refuseEnded(_ *control, p *proc, e event) {
	if e.reply != nil {
		e.reply <- outcome{err: errEnded(p)}
	}
}

func errEnded(p *proc) error {
	return api.Errorf(api.CodeEnded, "%s %s has ended", p.rec.Kind, p.rec.Name)
}

func refuseRunning(_ *control, p *proc, e event) {
	if e.reply != nil {
		e.reply <- outcome{err: api.Errorf(api.CodeConflict, "remove %s: it has not ended", p.rec.Name).
			WithHint("end it first")}
	}
}

// remove deletes what is on disk, then forgets the process.
func remove(c *control, p *proc, e event) {
	if e.reply != nil {
		p.waiters = append(p.waiters, waiter{until: never, reply: e.reply})
	}
	if p.removing {
		return
	}
	p.removing = true
	drop(c, p)
}

func never(api.State) bool { return false }

// drop removes a process from disk and table and announces that.
func drop(c *control, p *proc) {
	p.close()
	id := p.rec.ID
	c.onDisk(p, func() {
		err := c.world.remove(id)
		c.box.post(func() { c.dropped(p, err) })
	})
}

func (c *control) dropped(p *proc, err error) {
	p.removing = false
	if err != nil {
		p.fail(err)
		return
	}
	for _, w := range p.waiters {
		w.reply <- outcome{process: p.view}
	}
	p.waiters = nil
	delete(c.procs, p.rec.ID)
	if p.view.ID != "" {
		c.hub.publish(api.Event{Type: api.EventRemoved, ID: p.rec.ID})
	}
}
