package supervise

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/invariants"
	"tandem/engine/system/keeper"
	"tandem/engine/system/proctree"
	"tandem/persist/store"
)

// starting starts processes, for the first time and according to their restart policies.
type starting struct {
	reg  *registry
	runs runEnder
	// keeper returns the keeper that will be asked for starts, or nil if it is unknown. It must not
	// block.
	keeper         func() *store.Identity
	claimRun       func(p *proc)          // makes a new run its client's own
	waitForNextRun func(p *proc, e event) // makes an ended process wait for its dependencies
}

// A runEnder ends runs, and removes processes.
type runEnder interface {
	stopTree(p *proc)
	settleRun(p *proc)
	forgetChild(p *proc)
	removeStopped(p *proc)
	deleteProcess(p *proc)
}

// spawnFirst starts a new process. It saves the record before the child exists, so that a new
// engine can find the child.
func (s *starting) spawnFirst(p *proc) {
	p.rec.Asked = s.keeper()
	rec, durable := p.rec, p.mustBeDurable()
	ctx, cancel := context.WithCancel(s.reg.ctx)
	p.cancelStart = cancel
	s.reg.effects.addStart(&p.work, func(onWait func()) {
		defer cancel()
		if err := s.reg.executor.Save(rec, durable); err != nil {
			s.reg.post(rec.ID, event{kind: evSpawnFailed, err: err})
			return
		}
		s.runSpawn(ctx, rec, store.Identity{}, onWait)
	})
}

// spawnAfter asks the keeper for the child once nothing is left of the previous run. It does not if
// the process was asked to stop meanwhile.
func (s *starting) spawnAfter(p *proc, before Predecessor) {
	rec := p.rec
	ctx, cancel := context.WithCancel(s.reg.ctx)
	if p.cancelStart = cancel; rec.Desired == desiredStopped {
		cancel()
	}
	start := func() {
		s.reg.effects.startOutsideQueue(&p.work, func(onWait func()) {
			defer cancel()
			former := store.Identity{}
			if rec.Former != nil {
				former = *rec.Former
			}
			s.runSpawn(ctx, rec, former, onWait)
		})
	}
	if before.isEmpty() {
		start()
		return
	}
	s.reg.effects.runBlocking(func() {
		// s.reg.ctx instead of ctx, so that a cancelled start does not leave the predecessor
		// behind.
		if err := s.reg.executor.ClearPredecessor(s.reg.ctx, rec, before); err != nil {
			cancel()
			s.reg.post(rec.ID, event{kind: evSpawnFailed, err: err})
			return
		}
		s.reg.box.Post(start)
	})
}

// runSpawn spawns in a worker and posts the result.
func (s *starting) runSpawn(ctx context.Context, rec store.Record, former store.Identity, onWait func()) {
	launch, err := s.reg.executor.Spawn(ctx, rec, former, onWait)
	if err != nil {
		s.reg.post(rec.ID, event{kind: evSpawnFailed, err: err})
		return
	}
	s.reg.post(rec.ID, event{kind: evSpawned, Launch: launch})
}

// startNextRun starts a process again after its last run has ended. If it is unsure whether the
// last start happened, that start is counted already.
func (s *starting) startNextRun(p *proc, e event) {
	if !p.rec.Unsure {
		p.rec.Restarts++
	}
	s.startPending(p, e)
}

// restartByPolicy is startNextRun without a request.
func (s *starting) restartByPolicy(p *proc, e event) {
	if !p.rec.Unsure {
		p.rec.AutoRestarts++
	}
	s.startNextRun(p, e)
}

// startPending starts a process whose start is already counted. It saves the record before the
// child exists.
func (s *starting) startPending(p *proc, e event) {
	before := p.prepareNextRun(e)
	s.claimRun(p)
	s.spawnNow(p, before)
}

// prepareNextRun resets a process that has ended, or never ran, for its next run.
func (p *proc) prepareNextRun(e event) Predecessor {
	before := p.releaseRun()
	p.rec.Desired, p.rec.EndedBy, p.rec.Folder = desiredRunning, "", ""
	if !e.restores {
		p.rec.Interrupted = nil
	}
	p.rec.StartedAt, p.rec.NextStart, p.rec.WasReady = time.Time{}, time.Time{}, false
	p.rec.Asked, p.rec.Unsure, p.rec.NeverStarted = nil, false, false
	p.limit.stop()
	p.rec.RunLimit = store.RunLimit{} // it was for the run that the caller of exec waited for
	p.exit, p.stop, p.killing, p.lines = exit{}, stopRequest{}, false, nil
	p.work.resetPriority()
	return before
}

// spawnNow starts the child of a process once its record is on disk, with the keeper that will be
// asked. To run after the save, it adds a job without work to the queue.
func (s *starting) spawnNow(p *proc, before Predecessor) {
	p.rec.Asked = s.keeper()
	s.reg.setState(p, api.StateStarting)
	s.reg.effects.addJob(&p.work, &s.reg.effects.writes, func() {
		s.reg.box.Post(func() {
			if !s.reg.frozen {
				s.spawnAfter(p, before)
			}
		})
	})
}

// releaseRun releases the timers and the session of a run that has ended.
func (p *proc) releaseRun() Predecessor {
	p.disarm()
	before := Predecessor{Live: p.live}
	p.closeSession()
	if p.rec.Identity != nil {
		p.rec.Former = p.rec.Identity
		if !p.treeGone {
			before.Identity, before.AliveUntil = *p.rec.Identity, p.aliveUntil
		}
	}
	p.rec.Identity, p.aliveUntil = nil, 0
	return before
}

// adoptChild handles a child that is now known to exist, because it was started or found. If a stop
// was requested meanwhile, it stops the child at once.
func (s *starting) adoptChild(p *proc, e event) {
	id := IdentityOf(e.Child)
	// An earlier engine recorded a known child, so its start is not a new run.
	known := p.rec.Identity != nil && *p.rec.Identity == id
	p.disarm()
	if p.live = e.Live; p.live != nil {
		p.live.Admit(p.rec.Keyboard != "", p.rec.AdmitsSandboxed)
	}
	p.rec.Identity, p.rec.Former = &id, nil
	p.rec.Asked, p.rec.Unsure, p.rec.NeverStarted, p.rec.Interrupted = nil, false, false, nil
	if p.state() != api.StateStopping { // a run that an earlier engine was stopping keeps its error
		p.rec.Error = ""
	}
	if e.kind == evSpawned {
		p.rec.LogStart, p.rec.ErrorLogStart, p.rec.ProxyURL = e.LogStart, e.ErrorLogStart, e.ProxyURL
		p.rec.Typed, p.rec.Typing = e.Typed, e.Typing
	}
	p.rec.NextStart = time.Time{}
	p.drained = p.drained || e.Live == nil
	p.runs++
	if !p.rec.TTY && p.stopBound == nil {
		p.stopBound = s.reg.observer.BoundLog(p.rec)
	}
	if p.rec.StartedAt.IsZero() || !known {
		switch {
		case !e.Began.IsZero():
			p.rec.StartedAt = e.Began
		case e.kind == evSpawned:
			p.rec.StartedAt = time.Now()
		default:
			p.rec.StartedAt = proctree.BornAt(id)
		}
		beginRun(&p.rec)
		p.noteStart(s.reg.history(), e)
	}
	switch {
	case p.rec.Desired == desiredStopped, known && p.state() == api.StateStopping:
		if p.stop.restart = p.wasRestarting(); !p.stop.restart {
			p.stop.fault = p.rec.Error
		}
		s.reg.setState(p, api.StateStopping)
		s.runs.stopTree(p)
	case known && p.state() == api.StateRunning:
		s.reg.announce(p)
	// Nobody waits for the running state, and the command may exit in a moment.
	case p.rec.Transient && !p.isExpected(api.StateRunning):
		s.reg.setStateSoon(p, api.StateRunning)
	default:
		s.reg.setState(p, api.StateRunning)
	}
	if p.rec.Typing != "" && p.live != nil {
		s.reg.executor.TypeCommand(p.rec, p.live, s.reg.noteTyping(p))
	}
	if p.ending != nil { // the exit was reported before the start
		notifyChildEnded(p)
		s.runs.settleRun(p)
	} else if p.state() == api.StateRunning {
		s.probeReadiness(p, e.Child)
	}
}

// wasRestarting reports whether an earlier engine was stopping the run in order to restart it. If
// the run has an error, the engine stopped it because of that, and the restart policy decides.
func (p *proc) wasRestarting() bool {
	return p.state() == api.StateStopping && p.rec.Desired == desiredRunning && p.rec.Error == ""
}

// giveUp removes a process whose first start failed. Clients waiting for the start get an error;
// clients waiting for a stop succeed.
func (s *starting) giveUp(p *proc, e event) {
	s.reg.log.Warn("start failed", "id", p.rec.ID, "name", p.rec.Name, "error", p.loggedError(e.err))
	// While removing is set, a restart of the process is rejected.
	p.rec.State, p.rec.Error, p.removing = string(api.StateStopped), e.err.Error(), true
	p.failStart(e.err)
	if p.rec.Desired == desiredStopped {
		view := describeProcess(p)
		p.answerWaiters(func(waiter) bool { return true }, outcome{process: view})
	}
	p.failWaiters(e.err)
	for _, reply := range p.removals {
		p.addWaiter(reply, noState)
	}
	p.removals = nil
	s.runs.deleteProcess(p)
}

// answerUnsure answers clients waiting for a start not confirmed by the keeper. The executor goes
// on trying. The record is on disk already.
func (s *starting) answerUnsure(p *proc, e event) {
	p.failWaiters(e.err)
	s.reg.announce(p)
}

// failStart sends an error to every client that waits for a process to run.
func (p *proc) failStart(err error) {
	p.answerWaiters(func(w waiter) bool { return w.until(api.StateRunning) }, outcome{err: err})
}

// handleStartFailure handles a failed start. A new process is removed. An older one fails or is
// started again, as its restart policy says.
func (s *starting) handleStartFailure(p *proc, e event) {
	if p.view.ID == "" && !errors.Is(e.err, api.CodeUnsure) {
		s.giveUp(p, e)
		return
	}
	s.reg.log.Warn("restart failed", "id", p.rec.ID, "name", p.rec.Name, "error", p.loggedError(e.err))
	if p.rec.Desired == desiredStopped {
		p.failStart(e.err)
		s.reg.setState(p, api.StateStopped)
		s.runs.removeStopped(p)
		return
	}
	p.failWaiters(e.err)
	p.rec.Unsure = errors.Is(e.err, api.CodeUnsure)
	v := applyPolicy(p.rec, runResult{fault: e.err.Error()}, rand.Float64())
	s.applyVerdict(p, v)
}

// ErrUnsure returns the error for a start that may have been carried out or not.
func ErrUnsure(r store.Record) error {
	return api.Errorf(api.CodeUnsure, "start %s: it may have been started as %s: the keeper exited before it answered", r.Name, r.ID).
		WithHint("Run `tandem ps` to see whether it is running, and `tandem logs " + r.ID + "` to see its output.")
}

// applyVerdict carries out the verdict of a policy.
func (s *starting) applyVerdict(p *proc, v verdict) {
	if invariants.Enabled {
		v.check(p.rec.Restart)
	}
	p.rec.Failures = v.failures
	if v.reason != "" {
		p.rec.Error = v.reason
	}
	switch {
	case v.state == api.StateStarting && !s.reg.closing:
		s.restartByPolicy(p, event{})
	case v.state == api.StateBackoff && !s.reg.closing:
		p.rec.NextStart = time.Now().Add(v.delay)
		s.armBackoff(p)
		s.reg.setState(p, api.StateBackoff)
	default:
		if v.state != api.StateFailed {
			v.state = api.StateExited
		}
		if p.rec.Transient { // its only client waits for the end
			s.reg.effects.prioritize(&p.work)
		}
		s.reg.setState(p, v.state)
		if p.runs > 0 { // otherwise the keeper never had it
			s.runs.forgetChild(p)
		}
	}
}

// armBackoff sets the timer of a process in backoff.
func (s *starting) armBackoff(p *proc) {
	s.reg.armTimer(p, min(time.Until(p.rec.NextStart), longestDelay(p.rec.Restart)))
}

// stopBounding stops limiting the log of a process that has exited.
func (p *proc) stopBounding() {
	if p.stopBound != nil {
		p.stopBound()
		p.stopBound = nil
	}
}

// disarm stops the timer and the readiness check of a process.
func (p *proc) disarm() {
	if p.retryTimer != nil {
		p.retryTimer.Stop()
		p.retryTimer = nil
	}
	if p.cancelProbe != nil {
		p.cancelProbe()
		p.cancelProbe = nil
	}
}

func (s *starting) startDue(p *proc, e event) {
	p.retryTimer = nil
	s.restartByPolicy(p, e)
}

// awaitStart answers a request to restart a process that is already starting, once it has started.
func (s *starting) awaitStart(p *proc, e event) {
	if p.rec.Desired == desiredStopped {
		e.answer(outcome{err: errStopping(p)})
		return
	}
	p.rec.RestartID = e.restartID
	if p.view.ID != "" {
		s.reg.saveChange(p)
	}
	p.addWaiter(e.reply, HasStarted)
}

func errStopping(p *proc) error {
	return api.Errorf(api.CodeConflict, "restart %s: it is being stopped", p.rec.Name).WithHint("try again in a moment")
}

// restartRunning stops a process. When it has stopped, settleRun starts it again.
func (s *starting) restartRunning(p *proc, e event) {
	if s.reg.closing {
		e.answer(outcome{err: api.ErrEnding()})
		return
	}
	if err := p.cannotRestart(); err != nil {
		e.answer(outcome{err: err})
		return
	}
	p.acceptRestart(e)
	p.rec.Error, p.stop.restart = "", true
	s.reg.setState(p, api.StateStopping)
	s.runs.stopTree(p)
}

// restartStopping turns a stop into a restart. Clients waiting for the stop get a conflict.
func (s *starting) restartStopping(p *proc, e event) {
	if s.reg.closing || p.removals != nil || p.cannotRestart() != nil {
		e.answer(outcome{err: errStopping(p)})
		return
	}
	if p.rec.Desired == desiredStopped {
		p.failWaiters(api.Errorf(api.CodeConflict, "stop %s: it is being started again", p.rec.Name))
	}
	if p.rec.Desired == desiredStopped || p.rec.Error != "" {
		p.rec.Desired, p.rec.EndedBy, p.rec.Error = desiredRunning, "", ""
	}
	p.stop.restart = true
	p.acceptRestart(e)
	s.reg.saveChange(p)
	if !p.killing { // the last attempt to stop it failed
		s.runs.stopTree(p)
	}
}

// acceptRestart records a restart in the record, which is saved before the restart begins. If a
// later engine finds the process stopping, it completes the restart.
func (p *proc) acceptRestart(e event) {
	p.rec.Failures, p.rec.RestartID = 0, e.restartID
	p.addWaiter(e.reply, isUp)
}

// wasRestartedAs reports whether the last restart was requested under this id, and has begun or
// will begin.
func (p *proc) wasRestartedAs(id string) bool {
	return id != "" && p.rec.RestartID == id && !p.neverStarted()
}

func isUp(s api.State) bool { return s != api.StateStarting && s != api.StateStopping }

// restartEnded starts a process with no running child.
func (s *starting) restartEnded(p *proc, e event) {
	switch {
	case s.reg.closing:
		e.answer(outcome{err: api.ErrEnding()})
		return
	case p.removing:
		e.answer(outcome{err: api.Errorf(api.CodeConflict, "restart %s: it is being removed", p.rec.Name)})
		return
	case p.cannotRestart() != nil:
		e.answer(outcome{err: p.cannotRestart()})
		return
	case p.state().Ended():
		p.rec.Name = s.reg.procs.freeName(p.rec.Name)
	}
	p.acceptRestart(e)
	if len(e.after) > 0 {
		s.waitForNextRun(p, e)
		return
	}
	s.startNextRun(p, e)
}

// concludeMissing decides what happens to a process whose child is missing when an engine starts.
func (s *starting) concludeMissing(p *proc, e event) {
	p.ending, p.drained, p.treeGone = &e.ending, true, true
	p.stop.restart = p.wasRestarting()
	if p.rec.Identity == nil {
		p.ending = nil
	} else {
		p.noteEnd(s.reg.history())
		// A reboot takes the PID out of the record, and exit.json cannot be found without it. So
		// save the exit in the record.
		if e.rebooted && !e.ending.Exit.Unknown {
			endRun(&p.rec, e.ending, p.lastFacts.Typed)
		}
	}
	supervised := p.rec.Restart.Policy != "" && p.rec.Restart.Policy != string(api.PolicyNo)
	switch {
	case p.rec.Desired == desiredStopped:
		s.reg.setState(p, api.StateStopped)
	case e.rebooted && StartsAtBoot(p.rec.Restart):
		p.rec.Failures = 0
		s.startNextRun(p, e)
	case e.rebooted:
		s.reg.setState(p, api.StateExited)
	case p.state() == api.StateBackoff:
		s.armBackoff(p)
		s.reg.announce(p)
	case p.rec.Identity != nil:
		s.runs.settleRun(p)
	case e.unsure: // only its restart policy may start it again
		s.handleStartFailure(p, event{err: ErrUnsure(p.rec)})
	case supervised:
		s.startPending(p, e) // the previous engine had counted this start, and got no further
	default:
		p.rec.NeverStarted, p.rec.Error = true, "the engine exited before the process was started"
		s.reg.setState(p, api.StateFailed)
	}
}

// stopLost stops a child whose terminal is lost.
func (s *starting) stopLost(p *proc, _ event) {
	p.disarm()
	p.drained = true
	p.ending = &Ending{Exit: keeper.Exit{Unknown: true}} // the keeper that could have reported it is gone
	p.aliveUntil = proctree.BootTicks()                  // it was seen running a moment ago
	p.rec.Error = "its terminal was lost: engine and keeper exited at the same time"
	s.reg.setState(p, api.StateStopping)
	s.runs.stopTree(p)
}
