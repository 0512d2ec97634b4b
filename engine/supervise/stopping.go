package supervise

import (
	"fmt"
	"math/rand/v2"
	"time"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/engine/proctree"
	"tandem/persist/store"
)

const (
	// heardSoon is how long ago an exit may have been that counts as just heard of.
	heardSoon = time.Second
	// defaultStopTimeout is the time from the stop signal to SIGKILL.
	defaultStopTimeout = 8 * time.Second
)

// StopTimeout is the time from a record's stop signal to SIGKILL.
func StopTimeout(r store.Record) time.Duration {
	if r.StopTimeoutMS > 0 {
		return time.Duration(r.StopTimeoutMS) * time.Millisecond
	}
	return defaultStopTimeout
}

// noteExit remembers how the child ended. Its output is read to the end before
// anybody is told.
func noteExit(c *Control, p *proc, e event) {
	if p.ending != nil || !p.isChild(e.Child) {
		return
	}
	p.ending = &e.ending
	if since := time.Since(e.ending.At); 0 <= since && since < heardSoon {
		p.held = proctree.BootTicks()
	}
	if p.rec.Identity == nil { // the start has not been reported yet
		return
	}
	childEnded(p)
	settle(c, p)
}

// isChild reports whether an event is about the child that runs or is being
// started, and not about one before it.
func (p *proc) isChild(child keeper.Child) bool {
	if p.rec.Identity == nil && p.rec.Former != nil && sameChild(p.rec.Former, child) {
		return false
	}
	return sameChild(p.rec.Identity, child)
}

// sameChild reports whether an event is about the child we know; an event
// without a pid is, and so is every event as long as we know none.
func sameChild(id *store.Identity, child keeper.Child) bool {
	return id == nil || child.PID == 0 || (child.PID == id.PID && child.StartTime == id.StartTime)
}

func childEnded(p *proc) {
	if p.live != nil {
		p.live.ChildEnded()
	}
}

func noteDrained(c *Control, p *proc, _ event) {
	p.drained = true
	settle(c, p)
}

func noteGone(c *Control, p *proc, _ event) {
	p.gone, p.killing = true, false
	p.stop.tries, p.stop.told = 0, false
	if p.ending == nil {
		rec := p.rec
		c.effects.wait(func() {
			late := c.world.LateExit(c.ctx, rec)
			// The keeper's own word may come first, and another child begin.
			c.post(rec.ID, event{kind: evExited, Started: Started{Child: childOf(rec)}, ending: late})
		})
		return
	}
	settle(c, p)
}

// IdentityOf is who a child of the keeper is.
func IdentityOf(c keeper.Child) store.Identity {
	return store.Identity{BootID: c.BootID, PID: c.PID, StartTime: c.StartTime}
}

// childOf is the child of a record, as events name it.
func childOf(r store.Record) keeper.Child {
	if r.Identity == nil {
		return keeper.Child{ID: r.ID}
	}
	return keeper.Child{ID: r.ID, PID: r.Identity.PID, StartTime: r.Identity.StartTime, BootID: r.Identity.BootID}
}

// settle ends a run once nothing more can come of it, and begins the next if
// that is wanted.
func settle(c *Control, p *proc) {
	if p.ending == nil || !p.drained || p.killing {
		return
	}
	stopping := p.state() == api.StateStopping
	if stopping && !p.gone {
		endProcess(c, p)
		return
	}
	p.disarm()
	p.release()
	endRun(&p.rec, *p.ending)
	if p.live != nil {
		p.last = p.live.Facts()
		p.rec.Title, p.rec.Cols, p.rec.Rows = p.last.Title, p.last.Cols, p.last.Rows
	}
	switch {
	case p.rec.Desired == desiredStopped:
		c.become(p, api.StateStopped)
		forget(c, p)
		removeStopped(c, p)
	case stopping && p.stop.again && !c.closing:
		startAgain(c, p, event{})
	default:
		carryOut(c, p, judge(p.rec, p.life(), rand.Float64()))
	}
}

// life is the run that has ended; of one that could not begin nothing is known
// but why.
func (p *proc) life() life {
	if p.ending == nil {
		return life{exit: keeper.Exit{Unknown: true}, fault: p.rec.Error}
	}
	at := p.ending.At
	if at.IsZero() {
		at = time.Now()
	}
	return life{exit: p.ending.Exit, lasted: at.Sub(p.rec.StartedAt), fault: p.stop.fault}
}

// forget lets the keeper drop an ended child.
func forget(c *Control, p *proc) {
	id := p.rec.ID
	c.effects.add(&p.work, &c.effects.forgets, func() { c.world.Forget(id) })
}

// forgetLate lets the keeper drop a child whose end it learned after us.
func forgetLate(c *Control, p *proc, _ event) { forget(c, p) }

// stop writes down that the process shall not run, then ends it.
func stop(c *Control, p *proc, e event) {
	p.await(e.reply, api.State.Ended)
	if p.killing && p.rec.Desired == desiredStopped {
		return
	}
	p.stop.signal, p.stop.timeoutMS, p.stop.again = e.signal, e.timeoutMS, false
	p.rec.Desired, p.rec.EndedBy = desiredStopped, e.by
	c.become(p, api.StateStopping)
	if !p.killing {
		endProcess(c, p)
	}
}

// stopWaiting ends a process that waits for its next start: its last child has
// ended, but what that has started may not have.
func stopWaiting(c *Control, p *proc, e event) {
	p.rec.NextStart, p.down = time.Time{}, true
	if p.rec.Identity != nil {
		p.gone = false
		stop(c, p, e)
		return
	}
	p.disarm()
	p.await(e.reply, api.State.Ended)
	p.rec.Desired, p.rec.EndedBy = desiredStopped, e.by
	c.become(p, api.StateStopped)
	forget(c, p)
}

// stopOnceStarted writes the wish down and calls the start off; begin acts on the
// wish where the child already exists.
func stopOnceStarted(c *Control, p *proc, e event) {
	p.await(e.reply, api.State.Ended)
	if p.callOff != nil {
		p.callOff()
	}
	c.effects.hurry(&p.work)
	p.stop.signal, p.stop.timeoutMS = e.signal, e.timeoutMS
	p.rec.Desired, p.rec.EndedBy = desiredStopped, e.by
	if p.view.ID != "" {
		c.save(p)
	}
}

// stopEnded keeps a reboot from starting what has ended.
func stopEnded(c *Control, p *proc, e event) {
	if !StartsAtBoot(p.rec.Restart) || p.rec.Desired == desiredStopped || p.removing {
		e.answer(outcome{err: ErrEnded(p.rec)})
		return
	}
	p.await(e.reply, api.State.Ended)
	p.rec.Desired = desiredStopped
	c.become(p, api.StateStopped)
}

func ErrEnded(r store.Record) error {
	return api.Errorf(api.CodeEnded, "%s %s has ended", r.Kind, r.Name)
}

// endProcess queues behind what is being saved, so that the wish is on disk
// before the first signal is sent.
func endProcess(c *Control, p *proc) {
	p.disarm()
	p.killing = true
	if p.stop.tries == 0 {
		p.stop.since = time.Now()
	}
	if p.live != nil && p.ending == nil && p.stop.fault == "" {
		p.live.Stopping()
	}
	rec, held, signal := p.rec, p.held, p.stop.signal
	if p.ending == nil { // nobody has told of its end
		held = proctree.BootTicks()
	}
	if p.stop.timeoutMS > 0 {
		rec.StopTimeoutMS = p.stop.timeoutMS
	}
	c.effects.hurry(&p.work)
	c.effects.add(&p.work, &c.effects.writes, func() {
		c.effects.wait(func() {
			if err := c.world.EndTree(c.ctx, rec, held, signal); err != nil {
				c.post(rec.ID, event{kind: evStuck, err: err})
				return
			}
			c.post(rec.ID, event{kind: evGone})
		})
	})
}

const (
	// A failed stop is retried after firstStopDelay, doubled with each retry up to
	// maxStopDelay. Failures within quietStop of the first attempt are not reported.
	firstStopDelay = 50 * time.Millisecond
	maxStopDelay   = 10 * time.Second
	quietStop      = time.Second
)

// retryFailedStop schedules another attempt to kill a process tree. If attempts keep failing
// it reports the error to waiting clients, and continues to retry.
func retryFailedStop(c *Control, p *proc, e event) {
	p.killing = false
	delay := min(firstStopDelay<<min(p.stop.tries, 16), maxStopDelay)
	p.stop.tries++
	c.log.Warn("stop failed", "id", p.rec.ID, "name", p.rec.Name, "error", e.err, "tries", p.stop.tries)
	if time.Since(p.stop.since) >= quietStop && (!p.stop.told || p.isAwaited()) {
		p.stop.told = true
		p.fail(e.err)
		p.failRemovals(e.err)
		c.notice(fmt.Sprintf("stop %s: %v; still retrying", p.rec.Name, e.err))
	}
	armIn(c, p, delay)
}

// isAwaited reports whether a client is waiting for the process to change or be removed.
func (p *proc) isAwaited() bool { return len(p.waiters) > 0 || len(p.removals) > 0 }

// retryStop makes the next attempt at a stop.
func retryStop(c *Control, p *proc, _ event) {
	p.due = nil
	if !p.killing {
		endProcess(c, p)
	}
}

func refuseRunning(_ *Control, p *proc, e event) {
	e.answer(outcome{err: errRunning(p)})
}

func errRunning(p *proc) error {
	return api.Errorf(api.CodeConflict, "remove %s: still running", p.rec.Name).WithHint("stop it first: `tandem stop " + p.rec.Name + "`")
}

// removeOnceStopped remembers the wish until nothing of the process is left.
func removeOnceStopped(_ *Control, p *proc, e event) {
	if p.rec.Desired != desiredStopped {
		e.answer(outcome{err: errRunning(p)})
		return
	}
	p.removals = append(p.removals, e.reply)
}

func removeStopped(c *Control, p *proc) {
	for _, reply := range p.removals {
		id := p.rec.ID
		c.box.Post(func() { c.handle(id, event{kind: evRemove, reply: reply}) })
	}
	p.removals = nil
}

func (p *proc) failRemovals(err error) {
	for _, reply := range p.removals {
		event{reply: reply}.answer(outcome{err: err})
	}
	p.removals = nil
}

// remove deletes what is on disk, then forgets the process.
func remove(c *Control, p *proc, e event) {
	p.await(e.reply, never)
	if p.removing {
		return
	}
	p.removing = true
	drop(c, p)
}

func never(api.State) bool { return false }

// drop removes a process from disk and table and announces that.
func drop(c *Control, p *proc) {
	p.disarm()
	p.release()
	p.close()
	id, durable := p.rec.ID, p.startsAtBoot()
	c.effects.add(&p.work, &c.effects.writes, func() {
		err := c.world.Remove(id, durable)
		c.box.Post(func() { dropped(c, p, err) })
	})
}

func dropped(c *Control, p *proc, err error) {
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
	wakeSoon(c)
	if p.view.ID != "" {
		c.hub.publishOf(p.rec, api.Event{Type: api.EventRemoved, ID: p.rec.ID})
	}
}

// await makes the answer wait for an announced state; nobody waits for a nil
// reply.
func (p *proc) await(reply chan<- outcome, until func(api.State) bool) {
	if reply != nil {
		p.waiters = append(p.waiters, waiter{until: until, reply: reply})
	}
}

// answer answers whoever sent an event, if somebody waits.
func (e event) answer(o outcome) {
	if e.reply != nil {
		e.reply <- o
	}
}
