package supervise

import (
	"tandem/engine/api"
	"tandem/engine/invariants"
	"tandem/persist/store"
)

// maxCheckedProcs is how many processes are all checked after each step of the control loop. Larger
// tables are checked at random steps; the process an event was about is checked every time.
const maxCheckedProcs = 32

// checkTable panics if the processes are in an impossible state.
func checkTable(c *Control) {
	if n := len(c.procs); c.frozen || n > maxCheckedProcs && !invariants.Sometimes("check of many processes", n/maxCheckedProcs) {
		return
	}
	named := map[string]*proc{}
	for id, p := range c.procs {
		if p.rec.ID != id {
			invariants.Failf("process %s is under id %s", p.rec.ID, id)
		}
		p.check()
		if p.state().Ended() {
			continue
		}
		if other := named[p.rec.Name]; other != nil {
			invariants.Failf("%s and %s are both called %q, and live", id, other.rec.ID, p.rec.Name)
		}
		named[p.rec.Name] = p
		if l := &c.leases; p.rec.Owner != "" && l.watches[p.rec.Owner] > 0 && !p.rec.LeftAt.IsZero() {
			invariants.Failf("process %s was left by %s, which is here", id, p.rec.Owner)
		}
	}
	c.leases.check()
}

// check panics unless each client is either watching, or has at most one timer running.
func (l *leases) check() {
	for owner, n := range l.watches {
		if n <= 0 || owner == "" || l.leaveTimers[owner] != nil || l.sweepTimers[owner] != nil {
			invariants.Failf("client %q watches %d times; it is leaving: %v; its rest is swept: %v", owner, n, l.leaveTimers[owner] != nil, l.sweepTimers[owner] != nil)
		}
	}
	for owner, timer := range l.leaveTimers {
		if timer == nil || l.sweepTimers[owner] != nil {
			invariants.Failf("client %q is leaving without a clock, or its rest is swept already", owner)
		}
	}
}

// check panics if the fields of a process contradict each other.
func (p *proc) check() {
	p.checkRecord()
	p.checkRun()
	p.checkWaits()
	want := p.state()
	// The end of a run is shared only after it is announced.
	if want.Ended() && p.view.ID != "" && !p.view.State.Ended() {
		want = p.view.State
	}
	if got := p.shared.state.Load(); got != want {
		p.failf("others see %v, and it is %s", got, want)
	}
	if live := p.shared.live.Load(); (live != nil) != (p.live != nil) || live != nil && live.Session != p.live {
		p.failf("others see another session")
	}
}

// failf panics with a description of the fault and the process's fields.
func (p *proc) failf(format string, args ...any) {
	invariants.Failf("process %s (%s), %s and %s: "+format+"; identity %+v, after %+v, exit %+v, stop %+v, killing %v, removing %v, next start %v",
		append(append([]any{p.rec.ID, p.rec.Name, p.rec.State, p.rec.Desired}, args...),
			p.rec.Identity, p.rec.After, p.exit, p.stop, p.killing, p.removing, p.rec.NextStart)...)
}

// checkRecord checks the part of the process saved to disk.
func (p *proc) checkRecord() {
	r, s := &p.rec, p.state()
	stopped := r.Desired == desiredStopped
	switch {
	case !stopped && r.Desired != desiredRunning:
		p.failf("nobody can want that")
	case stopped && (s == api.StateWaiting || s == api.StateRunning || s == api.StateBackoff):
		p.failf("it goes on, and is to be stopped")
	case s == api.StateStopped && !stopped && !p.removing:
		p.failf("it is stopped, and nobody has asked for that")
	case (s == api.StateRunning || s == api.StateStopping) && (r.Identity == nil || r.Identity.PID <= 0):
		p.failf("it has no child")
	case (s == api.StateStarting || s == api.StateWaiting) && r.Identity != nil:
		p.failf("it has a child before it is started")
	case r.Identity != nil && r.Former != nil && *r.Identity == *r.Former:
		p.failf("its child is the one before")
	case r.Failures < 0, r.Restarts < 0, p.runs < 0, r.Restart.Max < 0:
		p.failf("%d failures, %d restarts of at most %d, %d runs", r.Failures, r.Restarts, r.Restart.Max, p.runs)
	case p.announcedRev > p.rev:
		p.failf("revision %d was announced, and the last is %d", p.announcedRev, p.rev)
	}
}

// checkRun checks workers, timers and the state of the child's exit.
func (p *proc) checkRun() {
	s := p.state()
	running := s == api.StateRunning || s == api.StateStopping
	switch {
	case p.retryTimer != nil && s != api.StateBackoff && (s != api.StateStopping || p.killing), s == api.StateBackoff && p.retryTimer == nil, s == api.StateBackoff && p.rec.NextStart.IsZero():
		p.failf("the timer of its next start is set: %v", p.retryTimer != nil)
	case p.cancelProbe != nil && (s != api.StateRunning || p.rec.Ready == nil):
		p.failf("its readiness is checked")
	case p.stopBound != nil && (!running || p.rec.TTY):
		p.failf("its log is bounded")
	case p.killing && s != api.StateStopping:
		p.failf("its tree is ended")
	case p.removing && !s.Ended():
		p.failf("it is removed and has not ended")
	case p.live != nil && !p.rec.TTY:
		p.failf("it has a session and no terminal")
	case s == api.StateRunning && p.ending != nil && p.drained:
		p.failf("it has ended, all of it was read, and it runs")
	case s == api.StateWaiting && p.ending != nil:
		p.failf("it waits, and its run has ended")
	case !p.predecessor.isEmpty() && s != api.StateWaiting:
		p.failf("what was before its run is awaited")
	}
}

// checkWaits checks dependencies, waiting clients and pending removals.
func (p *proc) checkWaits() {
	s := p.state()
	switch {
	case s == api.StateWaiting && len(p.rec.After) == 0:
		p.failf("it waits for nothing")
	case !s.Ended() && s != api.StateWaiting && len(p.rec.After) > 0:
		p.failf("it is started, and waits for others still")
	case len(p.removals) > 0 && (s != api.StateStarting && s != api.StateStopping || p.rec.Desired != desiredStopped):
		p.failf("%d want it removed once it is stopped", len(p.removals))
	}
	for _, d := range p.rec.After {
		if d.ID == p.rec.ID || d.ID == "" || !isCondition(d) {
			p.failf("it waits for %+v", d)
		}
	}
	if p.announcedRev != p.rev || p.view.State != s {
		return // waiters are answered by the announcement
	}
	for _, w := range p.waiters {
		if w.until(s) {
			p.failf("what it is was announced, and somebody waits for that still")
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

// check panics unless a policy's verdict is within the record's bounds.
func (v verdict) check(r store.Restart) {
	bounded := r.Max == 0 || v.failures <= r.Max
	switch {
	case v.state == api.StateBackoff && bounded && v.failures > 0 && v.delay > 0 && v.delay <= maxDelay:
	case v.state == api.StateStarting && v.failures == 0, v.state == api.StateExited, v.state == api.StateFailed:
	default:
		invariants.Failf("policy %+v leads to %+v", r, v)
	}
}
