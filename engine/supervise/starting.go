package supervise

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"tandem/engine/api"
	"tandem/engine/invariants"
	"tandem/engine/keeper"
	"tandem/engine/proctree"
	"tandem/persist/store"
)

// spawnFirst starts a new process. The intent is on disk before the child can be.
func spawnFirst(c *Control, p *proc) {
	p.rec.Asked = c.Keeper()
	rec, durable := p.rec, p.promised()
	ctx, cancel := context.WithCancel(c.ctx)
	p.callOff = cancel
	c.effects.addStart(&p.work, func(waits func()) {
		defer cancel()
		if err := c.world.Save(rec, durable); err != nil {
			c.post(rec.ID, event{kind: evSpawnFailed, err: err})
			return
		}
		spawnNow(c, ctx, rec, store.Identity{}, waits)
	})
}

// spawn asks the keeper for the child once nothing is left of the run before,
// unless the process was asked to stop meanwhile.
func spawn(c *Control, p *proc, before Predecessor) {
	rec := p.rec
	ctx, cancel := context.WithCancel(c.ctx)
	if p.callOff = cancel; rec.Desired == desiredStopped {
		cancel()
	}
	start := func() {
		c.effects.startBeside(&p.work, func(waits func()) {
			defer cancel()
			former := store.Identity{}
			if rec.Former != nil {
				former = *rec.Former
			}
			spawnNow(c, ctx, rec, former, waits)
		})
	}
	if before.isNothing() {
		start()
		return
	}
	c.effects.wait(func() {
		if err := c.world.Clear(c.ctx, rec, before); err != nil {
			cancel()
			c.post(rec.ID, event{kind: evSpawnFailed, err: err})
			return
		}
		c.box.Post(start)
	})
}

// spawnNow runs in a worker.
func spawnNow(c *Control, ctx context.Context, rec store.Record, former store.Identity, waits func()) {
	s, err := c.world.Spawn(ctx, rec, former, waits)
	if err != nil {
		c.post(rec.ID, event{kind: evSpawnFailed, err: err})
		return
	}
	c.post(rec.ID, event{kind: evSpawned, Started: s})
}

// startAgain starts a process anew whose last run has ended.
func startAgain(c *Control, p *proc, e event) {
	p.rec.Restarts++
	startPending(c, p, e)
}

// startPending starts a process whose start is counted. The record is on disk
// before the child can be.
func startPending(c *Control, p *proc, _ event) {
	before := p.renew()
	p.rec.Asked = c.Keeper()
	c.leases.claim(p)
	c.become(p, api.StateStarting)
	spawnOnceSaved(c, p, before)
}

// renew prepares a process that has ended, or never ran, for its next run.
func (p *proc) renew() Predecessor {
	before := p.leave()
	p.rec.Desired, p.rec.EndedBy = desiredRunning, ""
	p.rec.StartedAt, p.rec.NextStart, p.rec.WasReady = time.Time{}, time.Time{}, false
	p.rec.Asked, p.rec.Unsure = nil, false
	p.exit, p.stop, p.killing, p.lines = exit{}, stopping{}, false, nil
	p.work.calm()
	return before
}

// spawnOnceSaved spawns when the record as it is now is on disk.
func spawnOnceSaved(c *Control, p *proc, before Predecessor) {
	c.effects.add(&p.work, &c.effects.writes, func() {
		c.box.Post(func() {
			if !c.frozen {
				spawn(c, p, before)
			}
		})
	})
}

// leave releases a run that has ended.
func (p *proc) leave() Predecessor {
	p.disarm()
	before := Predecessor{Live: p.live}
	p.close()
	if p.rec.Identity != nil {
		p.rec.Former = p.rec.Identity
		if !p.gone {
			before.Identity, before.Held = *p.rec.Identity, p.held
		}
	}
	p.rec.Identity, p.held = nil, 0
	return before
}

// begin takes a child that exists, and ends it again if that is wanted.
func begin(c *Control, p *proc, e event) {
	id := IdentityOf(e.Child)
	known := p.rec.Identity != nil && *p.rec.Identity == id
	p.disarm()
	if p.live = e.Live; p.live != nil {
		p.live.Admit(p.rec.Keyboard != "", p.rec.Open)
	}
	p.rec.Identity, p.rec.Former = &id, nil
	p.rec.Asked, p.rec.Unsure = nil, false
	p.noteFault(e)
	if e.kind == evSpawned {
		p.rec.LogStart, p.rec.ErrorLogStart, p.rec.ProxyURL = e.LogStart, e.ErrorLogStart, e.ProxyURL
	}
	p.rec.NextStart = time.Time{}
	p.drained = p.drained || e.Live == nil
	p.runs++
	if !p.rec.TTY && p.unbound == nil {
		p.unbound = c.world.Bound(p.rec)
	}
	if p.rec.StartedAt.IsZero() || !known {
		if p.rec.StartedAt = e.Began; e.Began.IsZero() {
			p.rec.StartedAt = time.Now()
		}
		beginRun(&p.rec)
	}
	p.noteStart(c.History, e)
	switch {
	case p.rec.Desired == desiredStopped, known && p.state() == api.StateStopping:
		if p.stop.again = p.restartAsked(); !p.stop.again {
			p.stop.fault = p.rec.Error
		}
		c.become(p, api.StateStopping)
		endProcess(c, p)
	case known && p.state() == api.StateRunning:
		c.announce(p)
	case p.rec.Transient && !p.expected(api.StateRunning):
		becomeSoon(c, p, api.StateRunning)
	default:
		c.become(p, api.StateRunning)
	}
	if p.ending != nil { // the exit came before the start did
		childEnded(p)
		settle(c, p)
	} else if p.state() == api.StateRunning {
		probe(c, p, e.Child)
	}
}

// noteFault sets or clears the error of the child that was found or started. A run that an
// earlier engine was stopping keeps its error.
func (p *proc) noteFault(e event) {
	switch {
	case e.kind == evFound && e.err != nil && p.state() != api.StateStopping:
		p.rec.Error = "no screen: " + e.err.Error()
	case p.state() != api.StateStopping:
		p.rec.Error = ""
	}
}

// restartAsked reports whether an earlier engine was stopping the run in order to restart it.
// A run with an error was stopped by the engine itself: its policy decides.
func (p *proc) restartAsked() bool {
	return p.state() == api.StateStopping && p.rec.Desired == desiredRunning && p.rec.Error == ""
}

// giveUp drops a process that could not be started, and tells whoever asked for it.
// Whoever wanted it to end has what they wanted.
func giveUp(c *Control, p *proc, e event) {
	c.log.Warn("start failed", "id", p.rec.ID, "name", p.rec.Name, "error", e.err)
	p.rec.State, p.removing = string(api.StateStopped), true
	p.failStart(e.err)
	if p.rec.Desired == desiredStopped {
		view := describe(p)
		p.answer(func(waiter) bool { return true }, outcome{process: view})
	}
	p.fail(e.err)
	for _, reply := range p.removals {
		p.await(reply, never)
	}
	p.removals = nil
	drop(c, p)
}

// tellUnsure answers who has waited long enough for a start of which nobody knows
// whether it was carried out; whoever looks after it goes on. The record is on
// disk already.
func tellUnsure(c *Control, p *proc, e event) {
	p.fail(e.err)
	c.announce(p)
}

// failStart answers everybody who waits for a process to run with an error.
func (p *proc) failStart(err error) {
	p.answer(func(w waiter) bool { return w.until(api.StateRunning) }, outcome{err: err})
}

// startFailed handles a start that came to nothing: of a new process nothing
// is left, an older one fails or is tried again, as its policy says.
func startFailed(c *Control, p *proc, e event) {
	if p.view.ID == "" && !errors.Is(e.err, api.CodeUnsure) {
		giveUp(c, p, e)
		return
	}
	c.log.Warn("restart failed", "id", p.rec.ID, "name", p.rec.Name, "error", e.err)
	if p.rec.Desired == desiredStopped {
		p.failStart(e.err)
		c.become(p, api.StateStopped)
		removeStopped(c, p)
		return
	}
	p.fail(e.err)
	p.rec.Unsure = errors.Is(e.err, api.CodeUnsure)
	v := judge(p.rec, life{fault: e.err.Error()}, rand.Float64())
	carryOut(c, p, v)
}

// ErrUnsure returns the error for a start that may or may not have been carried out.
func ErrUnsure(r store.Record) error {
	return api.Errorf(api.CodeUnsure, "start %s: it may have been started as %s: the keeper exited before it answered", r.Name, r.ID).
		WithHint("Run `tandem ps` to see whether it is running, and `tandem logs " + r.ID + "` to see its output.")
}

// carryOut brings about what the policy has decided.
func carryOut(c *Control, p *proc, v verdict) {
	if invariants.Enabled {
		v.check(p.rec.Restart)
	}
	p.rec.Failures = v.failures
	if v.reason != "" {
		p.rec.Error = v.reason
	}
	switch {
	case v.state == api.StateStarting && !c.closing:
		p.rec.AutoRestarts++
		startAgain(c, p, event{})
	case v.state == api.StateBackoff && !c.closing:
		p.rec.NextStart = time.Now().Add(v.delay)
		arm(c, p)
		c.become(p, api.StateBackoff)
	default:
		if v.state != api.StateFailed {
			v.state = api.StateExited
		}
		if p.rec.Transient { // somebody waits for nothing else
			c.effects.hurry(&p.work)
		}
		c.become(p, v.state)
		if p.runs > 0 { // else the keeper does not know it
			forget(c, p)
		}
	}
}

// arm sets the timer of a process in backoff.
func arm(c *Control, p *proc) { armIn(c, p, min(time.Until(p.rec.NextStart), longestDelay)) }

// armIn sets the timer of a process to fire after delay.
func armIn(c *Control, p *proc, delay time.Duration) {
	id := p.rec.ID
	var timer *time.Timer
	timer = time.AfterFunc(delay, func() {
		c.box.Post(func() {
			if p.due == timer {
				c.handle(id, event{kind: evDue})
			}
		})
	})
	p.due = timer
}

// release ends the bounding of a log that is not written any more.
func (p *proc) release() {
	if p.unbound != nil {
		p.unbound()
		p.unbound = nil
	}
}

// disarm stops the timer and the readiness check of a process.
func (p *proc) disarm() {
	if p.due != nil {
		p.due.Stop()
		p.due = nil
	}
	if p.unprobe != nil {
		p.unprobe()
		p.unprobe = nil
	}
}

func startDue(c *Control, p *proc, e event) {
	p.due = nil
	p.rec.AutoRestarts++
	startAgain(c, p, e)
}

// awaitStart answers a restart of what is being started already.
func awaitStart(c *Control, p *proc, e event) {
	if p.rec.Desired == desiredStopped {
		e.answer(outcome{err: errStopping(p)})
		return
	}
	p.rec.RestartID = e.restartID
	if p.view.ID != "" {
		c.save(p)
	}
	p.await(e.reply, HasStarted)
}

func errStopping(p *proc) error {
	return api.Errorf(api.CodeConflict, "restart %s: it is being stopped", p.rec.Name).WithHint("try again in a moment")
}

// restartRunning ends a process that is to keep running: settle starts it again.
func restartRunning(c *Control, p *proc, e event) {
	if c.closing {
		e.answer(outcome{err: api.ErrEnding()})
		return
	}
	p.acceptRestart(e)
	p.rec.Error, p.stop.again = "", true
	c.become(p, api.StateStopping)
	endProcess(c, p)
}

// restartStopping turns a stop into a restart. Who waits for the stop learns
// that somebody else wants otherwise.
func restartStopping(c *Control, p *proc, e event) {
	if c.closing || p.removals != nil {
		e.answer(outcome{err: errStopping(p)})
		return
	}
	if p.rec.Desired == desiredStopped {
		p.fail(api.Errorf(api.CodeConflict, "stop %s: somebody has asked to start it again", p.rec.Name))
	}
	if p.rec.Desired == desiredStopped || p.rec.Error != "" {
		p.rec.Desired, p.rec.EndedBy, p.rec.Error = desiredRunning, "", ""
	}
	p.stop.again = true
	p.acceptRestart(e)
	c.save(p)
	if !p.killing { // it was stuck
		endProcess(c, p)
	}
}

// acceptRestart records a restart. The record is on disk before the restart begins, so
// that a later engine which finds the process stopping completes the restart.
func (p *proc) acceptRestart(e event) {
	p.rec.Failures, p.rec.RestartID = 0, e.restartID
	p.await(e.reply, isUp)
}

// wasRestartedAs reports whether the last restart was requested under this id and has
// begun or will begin.
func (p *proc) wasRestartedAs(id string) bool {
	return id != "" && p.rec.RestartID == id && !p.wasNotBegun()
}

func isUp(s api.State) bool { return s != api.StateStarting && s != api.StateStopping }

// restartEnded starts a process that does not run at the moment.
func restartEnded(c *Control, p *proc, e event) {
	switch {
	case c.closing:
		e.answer(outcome{err: api.ErrEnding()})
		return
	case p.removing:
		e.answer(outcome{err: api.Errorf(api.CodeConflict, "restart %s: it is being removed", p.rec.Name)})
		return
	case p.state().Ended():
		p.rec.Name = c.procs.freeName(p.rec.Name)
	}
	p.acceptRestart(e)
	if len(e.after) > 0 {
		waitAgain(c, p, e)
		return
	}
	startAgain(c, p, e)
}

// noteReady and endUnready take the result of a readiness check.
func noteReady(c *Control, p *proc, e event) {
	if !sameChild(p.rec.Identity, e.Child) || p.rec.WasReady {
		return
	}
	p.rec.WasReady = true
	c.save(p)
}

// endUnready ends a child that was not ready in time; its policy decides what
// follows.
func endUnready(c *Control, p *proc, e event) {
	if !sameChild(p.rec.Identity, e.Child) || p.ending != nil {
		return
	}
	p.stop.fault = e.err.Error()
	p.rec.Error = p.stop.fault
	c.notice(p.rec.Name + ": " + p.stop.fault)
	c.become(p, api.StateStopping)
	endProcess(c, p)
}

// notBegun is why a start failed that an engine had written down and not begun.
const notBegun = "the engine ended before it was started"

// conclude goes on with a process whose child is not there when an engine
// starts.
func conclude(c *Control, p *proc, e event) {
	p.ending, p.drained, p.gone = &e.ending, true, true
	p.stop.again = p.restartAsked()
	if p.rec.Identity == nil {
		p.ending = nil
	}
	supervised := p.rec.Restart.Policy != "" && p.rec.Restart.Policy != string(api.PolicyNo)
	switch {
	case p.rec.Desired == desiredStopped:
		c.become(p, api.StateStopped)
	case e.rebooted && StartsAtBoot(p.rec.Restart):
		p.rec.Failures = 0
		startAgain(c, p, e)
	case e.rebooted:
		c.become(p, api.StateExited)
	case p.state() == api.StateBackoff:
		arm(c, p)
		c.announce(p)
	case p.rec.Identity != nil:
		settle(c, p)
	case e.unsure: // only its restart policy may start the process again
		startFailed(c, p, event{err: ErrUnsure(p.rec)})
	case supervised:
		startPending(c, p, e) // an engine before has counted it, and got no further
	default:
		p.rec.Error = notBegun
		c.become(p, api.StateFailed)
	}
}

// endLost ends a child whose terminal nobody holds any more.
func endLost(c *Control, p *proc, _ event) {
	p.disarm()
	p.drained = true
	p.ending = &Ending{Exit: keeper.Exit{Unknown: true}} // whoever could tell is gone
	p.held = proctree.BootTicks()                        // it was seen to live a moment ago
	p.rec.Error = "its terminal was lost: engine and keeper ended at the same time"
	c.become(p, api.StateStopping)
	endProcess(c, p)
}
