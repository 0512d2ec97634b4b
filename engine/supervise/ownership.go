package supervise

import (
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/persist/store"
)

const (
	// leaveGrace is how long an agent's client may be away before what it
	// started counts as left behind: connections break and come back.
	leaveGrace = 10 * time.Second
	// returnGrace is the same after a start of the engine.
	returnGrace = 30 * time.Second
)

// ownership is what clients are told of a record's owner.
func ownership(r store.Record) *api.Ownership {
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

// leases end what agents' clients leave behind. A client is present while it watches
// events. The control goroutine owns them.
type leases struct {
	c       *Control
	watches map[string]int // by owner
	leaving map[string]*time.Timer
	sweeps  map[string]*time.Timer // of those that have gone
	reap    time.Duration          // what is left behind is ended after this; 0: never
}

// arrive counts one more watch of a client; nothing of its own is left behind
// any more.
func (l *leases) arrive(owner string) {
	if owner == "" {
		return
	}
	if l.watches == nil {
		l.watches = make(map[string]int)
	}
	l.watches[owner]++
	l.stay(owner)
	l.spare(owner)
	for _, p := range l.c.procs.owned(owner) {
		if !p.rec.LeftAt.IsZero() {
			p.rec.LeftAt = time.Time{}
			l.c.save(p)
		}
	}
}

// claim takes a run that begins as its client's own, not as left behind before it came back.
func (l *leases) claim(p *proc) {
	if l.watches[p.rec.Owner] > 0 {
		p.rec.LeftAt = time.Time{}
	}
}

// stay stops the clock that runs against a client.
func (l *leases) stay(owner string) {
	if t := l.leaving[owner]; t != nil {
		t.Stop()
		delete(l.leaving, owner)
	}
}

// spare stops the clock that runs against what commands of a client that have
// ended left behind.
func (l *leases) spare(owner string) {
	if t := l.sweeps[owner]; t != nil {
		t.Stop()
		delete(l.sweeps, owner)
	}
}

// depart ends a watch of a client.
func (l *leases) depart(owner string) {
	if owner == "" {
		return
	}
	if l.watches[owner]--; l.watches[owner] > 0 {
		return
	}
	delete(l.watches, owner)
	l.expect(owner, leaveGrace)
}

// expect gives a client some time to come back.
func (l *leases) expect(owner string, grace time.Duration) {
	if l.leaving == nil {
		l.leaving = make(map[string]*time.Timer)
	}
	l.stay(owner)
	var timer *time.Timer
	timer = time.AfterFunc(grace, func() {
		l.c.box.Post(func() {
			if l.leaving[owner] == timer && !l.c.frozen {
				delete(l.leaving, owner)
				l.gone(owner)
			}
		})
	})
	l.leaving[owner] = timer
}

// gone handles what a client that has left leaves behind.
func (l *leases) gone(owner string) {
	l.c.log.Info("agent has gone", "owner", owner)
	if l.c.Left != nil {
		l.c.effects.wait(func() { l.c.Left(owner) })
	}
	for _, p := range l.c.procs.owned(owner) {
		if p.rec.LeftAt.IsZero() {
			p.rec.LeftAt = time.Now()
			l.c.save(p)
		}
		l.expire(p)
	}
	l.sweep(owner, api.LeaseSession)
	if l.reap > 0 {
		l.sweepLater(owner)
	}
}

// sweepLater ends, when a client's time is up, what its ended commands have left
// running.
func (l *leases) sweepLater(owner string) {
	if l.sweeps == nil {
		l.sweeps = make(map[string]*time.Timer)
	}
	l.spare(owner)
	var timer *time.Timer
	timer = time.AfterFunc(l.reap, func() {
		l.c.box.Post(func() {
			if l.sweeps[owner] == timer && !l.c.frozen {
				delete(l.sweeps, owner)
				l.sweep(owner, api.LeaseDetached)
			}
		})
	})
	l.sweeps[owner] = timer
}

// sweep ends what commands that have ended left behind, jobs in the background
// for instance.
func (l *leases) sweep(owner string, lease api.Lease) {
	records := l.c.procs.endedRecords(func(r store.Record) bool { return r.Owner == owner && r.Lease == string(lease) })
	if len(records) == 0 {
		return
	}
	l.c.effects.wait(func() {
		if _, err := l.c.world.EndRemains(l.c.ctx, records, ""); err != nil {
			l.c.log.Warn("end what was left behind", "owner", owner, "error", err)
		}
	})
}

// expire ends what was left behind, at once or when its time is up. If a person has
// taken the keyboard by then, it is theirs to end.
func (l *leases) expire(p *proc) {
	id, owner, leftAt := p.rec.ID, p.rec.Owner, p.rec.LeftAt
	end := func() {
		if p := l.c.procs[id]; p != nil && p.rec.LeftAt.Equal(leftAt) && p.rec.Keyboard == "" && !p.state().Ended() {
			l.c.log.Info("end what was left behind", "id", id, "owner", owner, "lease", p.rec.Lease)
			l.c.handle(id, event{kind: evStop, reply: make(chan outcome, 1)})
		}
	}
	switch {
	case p.rec.Lease == string(api.LeaseSession):
		end()
	case p.rec.Lease == string(api.LeaseDetached) && l.reap > 0:
		p.stopReaping()
		p.reaping = time.AfterFunc(time.Until(leftAt.Add(l.reap)), func() { l.c.box.Post(end) })
	}
}

// stopReaping stops the clock that runs against what was left behind.
func (p *proc) stopReaping() {
	if p.reaping != nil {
		p.reaping.Stop()
		p.reaping = nil
	}
}

// AwaitOwners gives the clients of everything that was adopted, and others, some
// time to come back.
func (c *Control) AwaitOwners(others []string) {
	c.box.Post(func() { c.leases.await(others) })
}

func (l *leases) await(others []string) {
	for _, owner := range others {
		l.expect(owner, returnGrace)
	}
	for _, p := range l.c.procs {
		owner := p.rec.Owner
		switch {
		case owner == "" || p.state().Ended():
		case !p.rec.LeftAt.IsZero():
			l.expire(p)
		case l.leaving[owner] == nil:
			l.expect(owner, returnGrace)
		}
	}
}

// stop stops all clocks.
func (l *leases) stop() {
	for owner := range l.leaving {
		l.stay(owner)
	}
	for owner := range l.sweeps {
		l.spare(owner)
	}
	for _, p := range l.c.procs {
		p.stopReaping()
	}
}

// OfAgent reports whether an agent has started what a record is of.
func OfAgent(r store.Record) bool {
	return r.Owner != "" || strings.HasPrefix(r.Actor, "agent:")
}

// EndIdle ends agents' sessions that have not been used since a time, that nobody
// watches and whose keyboard no person has. Those with a restart policy stay, and those
// that their agent asked to keep forever.
func (c *Control) EndIdle(since time.Time) {
	c.box.Post(func() { c.leases.endIdle(since) })
}

func (l *leases) endIdle(since time.Time) {
	for _, p := range l.c.procs {
		if !p.rec.TTY || !OfAgent(p.rec) || p.rec.Lease == string(api.LeaseForever) ||
			p.rec.Restart.Policy != "" || p.state() != api.StateRunning || p.live == nil {
			continue
		}
		f := p.live.Facts()
		if f.Viewers > 0 || p.rec.Keyboard != "" || f.Active.After(since) {
			continue
		}
		l.c.log.Info("end idle session", "id", p.rec.ID, "since", f.Active)
		l.c.notice(p.rec.Name + ": ended, as its agent had not used it for a while")
		l.c.handle(p.rec.ID, event{kind: evStop})
	}
}
