package supervise

import (
	"tandem/engine/api"
	"tandem/engine/base/invariants"
	"tandem/persist/store"
)

// If there are at most maxCheckedProcs processes, all are checked after each step of the control
// loop. A larger table is checked only after random steps. The process that a step was about is
// always checked.
const maxCheckedProcs = 32

// checkTable panics if the state of a process, or of the table, is impossible.
func (c *Control) checkTable() {
	if n := len(c.reg.procs); c.reg.frozen || n > maxCheckedProcs && !invariants.Sometimes("check of many processes", n/maxCheckedProcs) {
		return
	}
	named := map[string]*proc{}
	for id, p := range c.reg.procs {
		if p.rec.ID != id {
			invariants.Failf("process %s is under id %s", p.rec.ID, id)
		}
		p.check()
		if p.state().Ended() {
			continue
		}
		if other := named[p.rec.Name]; other != nil {
			invariants.Failf("live processes %s and %s have the same name, %q", id, other.rec.ID, p.rec.Name)
		}
		named[p.rec.Name] = p
		if l := &c.leases; p.rec.Owner != "" && l.watches[p.rec.Owner] > 0 && !p.rec.LeftAt.IsZero() {
			invariants.Failf("process %s is marked as left by %s, which is connected", id, p.rec.Owner)
		}
	}
	c.leases.check()
}

// check panics unless each client either watches events, or has at most one timer running.
func (l *leases) check() {
	for owner, n := range l.watches {
		if n <= 0 || owner == "" || l.leaveTimers[owner] != nil || l.sweepTimers[owner] != nil {
			invariants.Failf("client %q has %d watches; leave timer: %v, sweep timer: %v", owner, n, l.leaveTimers[owner] != nil, l.sweepTimers[owner] != nil)
		}
	}
	for owner, timer := range l.leaveTimers {
		if timer == nil || l.sweepTimers[owner] != nil {
			invariants.Failf("client %q has no leave timer, or a sweep timer too", owner)
		}
	}
}

// check panics if the fields of a process contradict each other.
func (p *proc) check() {
	p.checkRecord()
	p.checkRun()
	p.checkWaits()
	want := p.state()
	// Other goroutines learn of the end of a run only once it is announced.
	if want.Ended() && p.view.ID != "" && !p.view.State.Ended() {
		want = p.view.State
	}
	if got := p.shared.state.Load(); got != want {
		p.failf("the shared state is %v, the actual one %s", got, want)
	}
	if live := p.shared.live.Load(); (live != nil) != (p.live != nil) || live != nil && live.Session != p.live {
		p.failf("the shared session is not the live one")
	}
}

// failf panics with a description of the fault and the fields of the process.
func (p *proc) failf(format string, args ...any) {
	invariants.Failf("process %s (%s), %s and %s: "+format+"; identity %+v, after %+v, exit %+v, stop %+v, killing %v, removing %v, next start %v",
		append(append([]any{p.rec.ID, p.rec.Name, p.rec.State, p.rec.Desired}, args...),
			p.rec.Identity, p.rec.After, p.exit, p.stop, p.killing, p.removing, p.rec.NextStart)...)
}

// checkRecord checks the fields that are saved to disk.
func (p *proc) checkRecord() {
	r, s := &p.rec, p.state()
	stopped := r.Desired == desiredStopped
	switch {
	case !stopped && r.Desired != desiredRunning:
		p.failf("invalid desired state")
	case stopped && (s == api.StateWaiting || s == api.StateRunning || s == api.StateBackoff):
		p.failf("still active although it should be stopped")
	case s == api.StateStopped && !stopped && !p.removing:
		p.failf("stopped without a request")
	case (s == api.StateRunning || s == api.StateStopping) && (r.Identity == nil || r.Identity.PID <= 0):
		p.failf("no child")
	case (s == api.StateStarting || s == api.StateWaiting) && r.Identity != nil:
		p.failf("a child before the start")
	case r.Identity != nil && r.Former != nil && *r.Identity == *r.Former:
		p.failf("the child is the previous one")
	case r.Failures < 0, r.Restarts < 0, p.runs < 0, r.Restart.Max < 0:
		p.failf("invalid counts: %d failures, %d restarts of at most %d, %d runs", r.Failures, r.Restarts, r.Restart.Max, p.runs)
	case p.announcedRev > p.rev:
		p.failf("revision %d was announced, but the last is %d", p.announcedRev, p.rev)
	}
}

// checkRun checks workers, timers and what is known about the child's exit.
func (p *proc) checkRun() {
	s := p.state()
	running := s == api.StateRunning || s == api.StateStopping
	switch {
	case p.retryTimer != nil && s != api.StateBackoff && (s != api.StateStopping || p.killing), s == api.StateBackoff && p.retryTimer == nil, s == api.StateBackoff && p.rec.NextStart.IsZero():
		p.failf("wrong state for a retry timer (set: %v)", p.retryTimer != nil)
	case p.cancelProbe != nil && (s != api.StateRunning || p.rec.Ready == nil):
		p.failf("readiness probe in the wrong state")
	case p.stopBound != nil && (!running || p.rec.TTY):
		p.failf("log bound in the wrong state")
	case p.killing && s != api.StateStopping:
		p.failf("killing in the wrong state")
	case p.removing && !s.Ended():
		p.failf("being removed before its exit")
	case p.live != nil && !p.rec.TTY:
		p.failf("a session without a terminal")
	case s == api.StateRunning && p.ending != nil && p.drained:
		p.failf("running although it exited and all output was read")
	case s == api.StateWaiting && p.ending != nil:
		p.failf("waiting although its run has ended")
	case !p.predecessor.isEmpty() && s != api.StateWaiting:
		p.failf("a predecessor in the wrong state")
	}
}

// checkWaits checks dependencies, waiting clients and pending removals.
func (p *proc) checkWaits() {
	s := p.state()
	switch {
	case s == api.StateWaiting && len(p.rec.After) == 0:
		p.failf("waiting without dependencies")
	case !s.Ended() && s != api.StateWaiting && len(p.rec.After) > 0:
		p.failf("started with dependencies left")
	case len(p.removals) > 0 && (s != api.StateStarting && s != api.StateStopping || p.rec.Desired != desiredStopped):
		p.failf("%d pending removals in the wrong state", len(p.removals))
	}
	for _, d := range p.rec.After {
		if d.ID == p.rec.ID || d.ID == "" || !isCondition(d) {
			p.failf("invalid dependency %+v", d)
		}
	}
	if p.announcedRev != p.rev || p.view.State != s {
		return // waiters are answered by the announcement
	}
	for _, w := range p.waiters {
		if w.until(s) {
			p.failf("a waiter remains for the announced state")
		}
	}
}

func isCondition(d store.Dependency) bool {
	switch api.Condition(d.Condition) {
	case "", api.ConditionStarted, api.ConditionReady, api.ConditionCompleted, api.ConditionSucceeded:
		return true
	}
	return false
}

// check panics if the verdict of a restart policy exceeds the limits in the record.
func (v verdict) check(r store.Restart) {
	bounded := r.Max == 0 || v.failures <= r.Max
	switch {
	case v.state == api.StateBackoff && bounded && v.failures > 0 && v.delay > 0 && v.delay <= longestDelay(r):
	case v.state == api.StateStarting && v.failures == 0, v.state == api.StateExited, v.state == api.StateFailed:
	default:
		invariants.Failf("policy %+v leads to %+v", r, v)
	}
}
