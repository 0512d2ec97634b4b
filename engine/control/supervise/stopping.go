package supervise

import (
	"fmt"
	"math/rand/v2"
	"time"

	"tandem/engine/api"
	"tandem/engine/system/keeper"
	"tandem/engine/system/proctree"
	"tandem/persist/store"
)

const (
	// recentExit is how old an exit may be to count as just observed.
	recentExit = time.Second
	// defaultStopTimeout is the time from the stop signal to SIGKILL.
	defaultStopTimeout = 8 * time.Second
)

// stopping stops processes, completes runs whose child has exited, and removes processes.
type stopping struct {
	reg         *registry
	next        restarter
	wakeWaiting func() // queues a check of all waiting processes
}

// A restarter decides what follows a run.
type restarter interface {
	applyVerdict(p *proc, v verdict)
	startNextRun(p *proc, e event)
}

// StopTimeout returns the time from a record's stop signal to SIGKILL.
func StopTimeout(r store.Record) time.Duration {
	if r.StopTimeoutMS > 0 {
		return time.Duration(r.StopTimeoutMS) * time.Millisecond
	}
	return defaultStopTimeout
}

// noteExit records how the child exited. The exit is announced after all of its output has been
// read.
func (s *stopping) noteExit(p *proc, e event) {
	if p.ending != nil || !p.isChild(e.Child) {
		return
	}
	p.ending = &e.ending
	// If the report is late, the PID may have been reused already.
	if since := time.Since(e.ending.At); 0 <= since && since < recentExit {
		p.aliveUntil = proctree.BootTicks()
	}
	if p.rec.Identity == nil { // the start has not been reported yet
		return
	}
	notifyChildEnded(p)
	s.settleRun(p)
}

// isChild reports whether an event is about the child that is running or being started. Otherwise
// it is about a previous child.
func (p *proc) isChild(child keeper.Child) bool {
	if p.rec.Identity == nil && p.rec.Former != nil && isSameChild(p.rec.Former, child) {
		return false
	}
	return isSameChild(p.rec.Identity, child)
}

// isSameChild reports whether an event about child may be about the child with identity id. It may
// be if the event has no PID, or if id is nil.
func isSameChild(id *store.Identity, child keeper.Child) bool {
	return id == nil || child.PID == 0 || (child.PID == id.PID && child.StartTime == id.StartTime)
}

func notifyChildEnded(p *proc) {
	if p.live != nil {
		p.live.ChildEnded()
	}
}

func (s *stopping) noteDrained(p *proc, _ event) {
	p.drained = true
	s.settleRun(p)
}

// noteTreeGone records that no process of the tree is left. If the exit is unknown, it is first
// searched for in the keeper's reports.
func (s *stopping) noteTreeGone(p *proc, _ event) {
	p.treeGone, p.killing = true, false
	p.stop.tries, p.stop.reported = 0, false
	if p.ending == nil {
		rec := p.rec
		s.reg.effects.runBlocking(func() {
			late := s.reg.observer.FindLateExit(s.reg.ctx, rec)
			// The keeper's own report may arrive first, and the next child start.
			s.reg.post(rec.ID, event{kind: evExited, Launch: Launch{Child: childOf(rec)}, ending: late})
		})
		return
	}
	s.settleRun(p)
}

// IdentityOf returns the identity of a keeper's child.
func IdentityOf(c keeper.Child) store.Identity {
	return store.Identity{BootID: c.BootID, PID: c.PID, StartTime: c.StartTime}
}

// childOf returns the child of a record in the form that events use.
func childOf(r store.Record) keeper.Child {
	if r.Identity == nil {
		return keeper.Child{ID: r.ID}
	}
	return keeper.Child{ID: r.ID, PID: r.Identity.PID, StartTime: r.Identity.StartTime, BootID: r.Identity.BootID}
}

// settleRun ends a run once its child has exited and its output has been read. If another run is
// wanted, it begins that.
func (s *stopping) settleRun(p *proc) {
	if p.ending == nil || !p.drained || p.killing {
		return
	}
	stopping := p.state() == api.StateStopping
	// The child has exited, but not all the programs that it started.
	if stopping && !p.treeGone {
		s.stopTree(p)
		return
	}
	p.disarm()
	p.stopBounding()
	if p.live != nil {
		p.lastFacts = p.live.Facts()
		p.rec.Title, p.rec.Cols, p.rec.Rows = p.lastFacts.Title, p.lastFacts.Cols, p.lastFacts.Rows
	}
	endRun(&p.rec, *p.ending, p.lastFacts.Typed)
	p.noteEnd(s.reg.history())
	switch {
	case p.rec.Desired == desiredStopped:
		s.reg.setState(p, api.StateStopped)
		s.forgetChild(p)
		s.removeStopped(p)
	case stopping && p.stop.restart && !s.reg.closing:
		s.next.startNextRun(p, event{})
	default:
		s.next.applyVerdict(p, applyPolicy(p.rec, p.lastRunResult(), rand.Float64()))
	}
}

// lastRunResult describes the last run for the restart policy. Of a failed start, only the error is
// known.
func (p *proc) lastRunResult() runResult {
	if p.ending == nil {
		return runResult{exit: keeper.Exit{Unknown: true}, fault: p.rec.Error}
	}
	at := p.ending.At
	if at.IsZero() {
		at = time.Now()
	}
	return runResult{exit: p.ending.Exit, lasted: at.Sub(p.rec.StartedAt), fault: p.stop.fault}
}

// forgetChild lets the keeper drop an exited child.
func (s *stopping) forgetChild(p *proc) {
	id := p.rec.ID
	s.reg.effects.addJob(&p.work, &s.reg.effects.forgets, func() { s.reg.executor.ForgetChild(id) })
}

// forgetLate tells the keeper to drop a child. The engine learned of its exit before the keeper
// did.
func (s *stopping) forgetLate(p *proc, _ event) { s.forgetChild(p) }

// stopRunning saves that the process is to be stopped, and then stops it.
func (s *stopping) stopRunning(p *proc, e event) {
	p.addWaiter(e.reply, api.State.Ended)
	// A worker is stopping the process already, and will answer this request too.
	if p.killing && p.rec.Desired == desiredStopped {
		return
	}
	p.stop.signal, p.stop.timeoutMS, p.stop.restart = e.signal, e.timeoutMS, false
	p.rec.Desired, p.rec.EndedBy = desiredStopped, e.by
	s.reg.setState(p, api.StateStopping)
	if !p.killing {
		s.stopTree(p)
	}
}

// stopBackoff stops a process waiting for its next start. Its last child has exited, but
// descendants of the child may still be running.
func (s *stopping) stopBackoff(p *proc, e event) {
	p.rec.NextStart = time.Time{}
	if p.rec.Identity != nil {
		p.treeGone = false
		s.stopRunning(p, e)
		return
	}
	p.disarm()
	p.addWaiter(e.reply, api.State.Ended)
	p.rec.Desired, p.rec.EndedBy = desiredStopped, e.by
	s.reg.setState(p, api.StateStopped)
	s.forgetChild(p)
}

// stopOnceStarted saves the stop and cancels the start. If the child exists already, adoptChild
// will stop it.
func (s *stopping) stopOnceStarted(p *proc, e event) {
	p.addWaiter(e.reply, api.State.Ended)
	if p.cancelStart != nil {
		p.cancelStart()
	}
	s.reg.effects.prioritize(&p.work)
	p.stop.signal, p.stop.timeoutMS = e.signal, e.timeoutMS
	p.rec.Desired, p.rec.EndedBy = desiredStopped, e.by
	if p.view.ID != "" {
		s.reg.saveChange(p)
	}
}

// stopEnded keeps a reboot from starting a process that has ended.
func (s *stopping) stopEnded(p *proc, e event) {
	if !StartsAtBoot(p.rec.Restart) || p.rec.Desired == desiredStopped || p.removing {
		e.answer(outcome{err: ErrEnded(p.rec)})
		return
	}
	p.addWaiter(e.reply, api.State.Ended)
	p.rec.Desired = desiredStopped
	s.reg.setState(p, api.StateStopped)
}

func ErrEnded(r store.Record) error {
	return api.Errorf(api.CodeEnded, "%s %s has exited", r.Kind, r.Name)
}

// stopTree stops the process tree. It waits until the record has been saved, so that the stop is on
// disk before the first signal is sent.
func (s *stopping) stopTree(p *proc) {
	p.disarm()
	p.killing = true
	if p.stop.tries == 0 {
		p.stop.since = time.Now()
	}
	if p.live != nil && p.ending == nil && p.stop.fault == "" {
		p.live.Stopping()
	}
	rec, held, signal := p.rec, p.aliveUntil, p.stop.signal
	if p.ending == nil { // its exit has not been reported
		held = proctree.BootTicks()
	}
	if p.stop.timeoutMS > 0 {
		rec.StopTimeoutMS = p.stop.timeoutMS
	}
	s.reg.effects.prioritize(&p.work)
	s.reg.effects.addJob(&p.work, &s.reg.effects.writes, func() {
		s.reg.effects.runBlocking(func() {
			if err := s.reg.executor.StopTree(s.reg.ctx, rec, held, signal); err != nil {
				s.reg.post(rec.ID, event{kind: evStuck, err: err})
				return
			}
			s.reg.post(rec.ID, event{kind: evGone})
		})
	})
}

const (
	// A failed stop is retried after firstStopDelay, doubled with each retry up to
	// maxStopDelay. Failures within stopReportDelay of the first attempt are not reported.
	firstStopDelay  = 50 * time.Millisecond
	maxStopDelay    = 10 * time.Second
	stopReportDelay = time.Second
)

// retryFailedStop schedules another attempt to stop a process tree. If attempts keep failing, it
// reports the error to waiting clients and goes on.
func (s *stopping) retryFailedStop(p *proc, e event) {
	p.killing = false
	delay := min(firstStopDelay<<min(p.stop.tries, 16), maxStopDelay)
	p.stop.tries++
	s.reg.log.Warn("stop failed", "id", p.rec.ID, "name", p.rec.Name, "error", e.err, "tries", p.stop.tries)
	if time.Since(p.stop.since) >= stopReportDelay && (!p.stop.reported || p.isAwaited()) {
		p.stop.reported = true
		p.failWaiters(e.err)
		p.failRemovals(e.err)
		s.reg.publishNotice(fmt.Sprintf("stop %s: %v; still retrying", p.rec.Name, e.err))
	}
	s.reg.armTimer(p, delay)
}

// isAwaited reports whether a client is waiting for the process to change or be removed.
func (p *proc) isAwaited() bool { return len(p.waiters) > 0 || len(p.removals) > 0 }

// retryStop makes the next attempt at a stop.
func (s *stopping) retryStop(p *proc, _ event) {
	p.retryTimer = nil
	if !p.killing {
		s.stopTree(p)
	}
}

// addWaiter answers reply once until(state) is true for an announced state. A nil reply is ignored.
func (p *proc) addWaiter(reply chan<- outcome, until func(api.State) bool) {
	if reply != nil {
		p.waiters = append(p.waiters, waiter{until: until, reply: reply})
	}
}

// answer sends o to the sender of an event, if the sender waits for an answer.
func (e event) answer(o outcome) {
	if e.reply != nil {
		e.reply <- o
	}
}
