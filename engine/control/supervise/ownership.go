package supervise

import (
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/persist/store"
)

const (
	// leaveGrace is how long an agent's client may be disconnected before its processes count as
	// left behind. Connections may break and be restored.
	leaveGrace = 10 * time.Second
	// returnGrace replaces leaveGrace after a start of the engine.
	returnGrace = 30 * time.Second
)

// describeOwnership returns the owner of a record for clients, or nil if it has none.
func describeOwnership(r store.Record) *api.Ownership {
	if r.Owner == "" {
		return nil
	}
	o := &api.Ownership{Client: r.Owner, Lease: api.Lease(r.Lease), Left: !r.LeftAt.IsZero()}
	if o.Left {
		since := r.LeftAt
		o.Since = &since
	}
	return o
}

// leases stops what agents' clients leave behind when they disconnect. A client is present while it
// watches events. The control goroutine owns leases.
type leases struct {
	reg         *registry
	onLeft      func() func(owner string) // returns Control.OnLeft
	watches     map[string]int            // number of watches by owner
	leaveTimers map[string]*time.Timer
	sweepTimers map[string]*time.Timer // by owner that has left
	reapAfter   time.Duration          // delay before what is left behind is stopped; 0: never
}

// addWatch counts one more watch of a client. Its processes no longer count as left behind.
func (l *leases) addWatch(owner string) {
	if owner == "" {
		return
	}
	if l.watches == nil {
		l.watches = make(map[string]int)
	}
	l.watches[owner]++
	l.cancelLeaving(owner)
	l.cancelSweep(owner)
	for _, p := range l.reg.procs.listOwned(owner) {
		if !p.rec.LeftAt.IsZero() {
			p.rec.LeftAt = time.Time{}
			l.reg.saveChange(p)
		}
	}
}

// claimRun makes a new run belong to its client, even if the previous run was left behind.
func (l *leases) claimRun(p *proc) {
	if l.watches[p.rec.Owner] > 0 {
		p.rec.LeftAt = time.Time{}
	}
}

// cancelLeaving stops the timer that waits for a client to return.
func (l *leases) cancelLeaving(owner string) {
	if t := l.leaveTimers[owner]; t != nil {
		t.Stop()
		delete(l.leaveTimers, owner)
	}
}

// cancelSweep stops the timer after which programs left running by a client's commands are stopped.
func (l *leases) cancelSweep(owner string) {
	if t := l.sweepTimers[owner]; t != nil {
		t.Stop()
		delete(l.sweepTimers, owner)
	}
}

// removeWatch counts one watch of a client less. After the last one, it starts the timer that waits
// for the client to return.
func (l *leases) removeWatch(owner string) {
	if owner == "" {
		return
	}
	if l.watches[owner]--; l.watches[owner] > 0 {
		return
	}
	delete(l.watches, owner)
	l.expectReturn(owner, leaveGrace)
}

// expectReturn starts the timer that waits for a client to return.
func (l *leases) expectReturn(owner string, grace time.Duration) {
	if l.leaveTimers == nil {
		l.leaveTimers = make(map[string]*time.Timer)
	}
	l.cancelLeaving(owner)
	var timer *time.Timer
	timer = time.AfterFunc(grace, func() {
		l.reg.box.Post(func() {
			// The timer may have been replaced after it fired.
			if l.leaveTimers[owner] == timer && !l.reg.frozen {
				delete(l.leaveTimers, owner)
				l.handleLeft(owner)
			}
		})
	})
	l.leaveTimers[owner] = timer
}

// handleLeft handles the processes of a client that has not returned in time.
func (l *leases) handleLeft(owner string) {
	l.reg.log.Info("agent has gone", "owner", owner)
	if left := l.onLeft(); left != nil {
		l.reg.effects.runBlocking(func() { left(owner) })
	}
	for _, p := range l.reg.procs.listOwned(owner) {
		if p.rec.LeftAt.IsZero() {
			p.rec.LeftAt = time.Now()
			l.reg.saveChange(p)
		}
		l.expireProcess(p)
	}
	l.sweepRemains(owner, api.LeaseSession)
	if l.reapAfter > 0 {
		l.scheduleSweep(owner)
	}
}

// scheduleSweep stops the programs that a client's ended commands left running, after l.reapAfter.
func (l *leases) scheduleSweep(owner string) {
	if l.sweepTimers == nil {
		l.sweepTimers = make(map[string]*time.Timer)
	}
	l.cancelSweep(owner)
	var timer *time.Timer
	timer = time.AfterFunc(l.reapAfter, func() {
		l.reg.box.Post(func() {
			if l.sweepTimers[owner] == timer && !l.reg.frozen {
				delete(l.sweepTimers, owner)
				l.sweepRemains(owner, api.LeaseDetached)
			}
		})
	})
	l.sweepTimers[owner] = timer
}

// sweepRemains stops the programs that a client's ended commands left running, such as background
// jobs. Only commands with the given lease count.
func (l *leases) sweepRemains(owner string, lease api.Lease) {
	records := l.reg.procs.endedRecords(func(r store.Record) bool { return r.Owner == owner && r.Lease == string(lease) })
	if len(records) == 0 {
		return
	}
	l.reg.effects.runBlocking(func() {
		if _, err := l.reg.executor.StopRemains(l.reg.ctx, records, ""); err != nil {
			l.reg.log.Warn("kill programs left running by ended commands", "owner", owner, "error", err)
		}
	})
}

// expireProcess stops a process left behind: at once or after l.reapAfter, depending on its lease.
// It spares a session whose keyboard the user has locked by then.
func (l *leases) expireProcess(p *proc) {
	id, owner, leftAt := p.rec.ID, p.rec.Owner, p.rec.LeftAt
	end := func() {
		if p := l.reg.procs[id]; p != nil && p.rec.LeftAt.Equal(leftAt) && p.rec.Keyboard == "" && !p.state().Ended() {
			l.reg.log.Info("stop a process left behind by its agent", "id", id, "owner", owner, "lease", p.rec.Lease)
			l.reg.handle(id, event{kind: evStop, reply: make(chan outcome, 1)})
		}
	}
	switch {
	case p.rec.Lease == string(api.LeaseSession):
		end()
	case p.rec.Lease == string(api.LeaseDetached) && l.reapAfter > 0:
		p.stopReaping()
		p.reapTimer = time.AfterFunc(time.Until(leftAt.Add(l.reapAfter)), func() { l.reg.box.Post(end) })
	}
}

// stopReaping stops the timer that would stop a process left behind.
func (p *proc) stopReaping() {
	if p.reapTimer != nil {
		p.reapTimer.Stop()
		p.reapTimer = nil
	}
}

// AwaitOwners starts waiting for clients to return after a start of the engine. The owners of
// adopted processes, and others, have returnGrace for that. The callers of one-shot commands have
// their own grace.
func (c *Control) AwaitOwners(others []string) {
	c.reg.box.Post(func() { c.leases.awaitOwners(others) })
}

func (l *leases) awaitOwners(others []string) {
	for _, owner := range others {
		l.expectReturn(owner, returnGrace)
	}
	for _, p := range l.reg.procs {
		l.keepLimit(p)
		owner := p.rec.Owner
		switch {
		case owner == "" || p.state().Ended():
		case !p.rec.LeftAt.IsZero():
			l.expireProcess(p)
		case l.leaveTimers[owner] == nil:
			l.expectReturn(owner, returnGrace)
		}
	}
}

// stopTimers stops all timers.
func (l *leases) stopTimers() {
	for owner := range l.leaveTimers {
		l.cancelLeaving(owner)
	}
	for owner := range l.sweepTimers {
		l.cancelSweep(owner)
	}
	for _, p := range l.reg.procs {
		p.stopReaping()
		p.limit.stop()
	}
}

// IsFromAgent reports whether an agent started the process of a record.
func IsFromAgent(r store.Record) bool {
	return r.Owner != "" || strings.HasPrefix(r.Actor, "agent:")
}

// StopIdleSessions stops agents' sessions not used since the given time. It spares a session if
// somebody watches it, the user has locked its keyboard, it has a restart policy, or its agent
// asked to keep it forever.
func (c *Control) StopIdleSessions(since time.Time) {
	c.reg.box.Post(func() { c.leases.stopIdle(since) })
}

func (l *leases) stopIdle(since time.Time) {
	for _, p := range l.reg.procs {
		if !p.rec.TTY || !IsFromAgent(p.rec) || p.rec.Lease == string(api.LeaseForever) ||
			p.rec.Restart.Policy != "" || p.state() != api.StateRunning || p.live == nil {
			continue
		}
		f := p.live.Facts()
		if f.Viewers > 0 || p.rec.Keyboard != "" || f.Active.After(since) {
			continue
		}
		l.reg.log.Info("end idle session", "id", p.rec.ID, "since", f.Active)
		l.reg.publishNotice(p.rec.Name + ": stopped, because its agent had not used it for a while")
		l.reg.handle(p.rec.ID, event{kind: evStop})
	}
}
