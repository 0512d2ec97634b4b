package supervise

import (
	"slices"
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

// A roster knows which agents' clients are here: those that watch events. The
// control goroutine owns it.
type roster struct {
	watches map[string]int // by owner
	leaving map[string]*time.Timer
	sweeps  map[string]*time.Timer // of those that have gone
	reap    time.Duration          // what is left behind is ended after this; 0: never
}

// arrive counts one more watch of a client; nothing of its own is left behind
// any more.
func (c *Control) arrive(owner string) {
	if owner == "" {
		return
	}
	if c.roster.watches == nil {
		c.roster.watches = make(map[string]int)
	}
	c.roster.watches[owner]++
	c.roster.stay(owner)
	c.roster.spare(owner)
	for _, p := range c.owned(owner) {
		if !p.rec.LeftAt.IsZero() {
			p.rec.LeftAt = time.Time{}
			c.save(p)
		}
	}
}

// stay stops the clock that runs against a client.
func (r *roster) stay(owner string) {
	if t := r.leaving[owner]; t != nil {
		t.Stop()
		delete(r.leaving, owner)
	}
}

// spare stops the clock that runs against what commands of a client that have
// ended left behind.
func (r *roster) spare(owner string) {
	if t := r.sweeps[owner]; t != nil {
		t.Stop()
		delete(r.sweeps, owner)
	}
}

// depart ends a watch of a client.
func (c *Control) depart(owner string) {
	if owner == "" {
		return
	}
	if c.roster.watches[owner]--; c.roster.watches[owner] > 0 {
		return
	}
	delete(c.roster.watches, owner)
	c.expect(owner, leaveGrace)
}

// expect gives a client some time to come back.
func (c *Control) expect(owner string, grace time.Duration) {
	if c.roster.leaving == nil {
		c.roster.leaving = make(map[string]*time.Timer)
	}
	c.roster.stay(owner)
	var timer *time.Timer
	timer = time.AfterFunc(grace, func() {
		c.box.Post(func() {
			if c.roster.leaving[owner] == timer && !c.frozen {
				delete(c.roster.leaving, owner)
				c.settleLeft(owner)
			}
		})
	})
	c.roster.leaving[owner] = timer
}

// settleLeft deals with what a client that has gone has left behind.
func (c *Control) settleLeft(owner string) {
	c.log.Info("agent has gone", "owner", owner)
	if c.Left != nil {
		c.effects.wait(func() { c.Left(owner) })
	}
	for _, p := range c.owned(owner) {
		if p.rec.LeftAt.IsZero() {
			p.rec.LeftAt = time.Now()
			c.save(p)
		}
		c.expire(p)
	}
	c.sweep(owner, api.LeaseSession)
	if c.roster.reap > 0 {
		c.sweepLater(owner)
	}
}

// sweepLater has what ended commands of a client left behind ended when its time
// is up.
func (c *Control) sweepLater(owner string) {
	if c.roster.sweeps == nil {
		c.roster.sweeps = make(map[string]*time.Timer)
	}
	c.roster.spare(owner)
	var timer *time.Timer
	timer = time.AfterFunc(c.roster.reap, func() {
		c.box.Post(func() {
			if c.roster.sweeps[owner] == timer && !c.frozen {
				delete(c.roster.sweeps, owner)
				c.sweep(owner, api.LeaseDetached)
			}
		})
	})
	c.roster.sweeps[owner] = timer
}

// sweep ends what commands that have ended left behind, jobs in the background
// for instance.
func (c *Control) sweep(owner string, lease api.Lease) {
	records := c.endedRecords(func(r store.Record) bool { return r.Owner == owner && r.Lease == string(lease) })
	if len(records) == 0 {
		return
	}
	c.effects.wait(func() {
		if _, err := c.world.EndRemains(c.ctx, records, ""); err != nil {
			c.log.Warn("end what was left behind", "owner", owner, "error", err)
		}
	})
}

// endedRecords are the records of what has ended and is wanted.
func (c *Control) endedRecords(wanted func(store.Record) bool) (records []store.Record) {
	for _, p := range c.procs {
		if p.state().Ended() && p.rec.Identity != nil && wanted(p.rec) {
			records = append(records, p.rec)
		}
	}
	return records
}

// expire ends what was left behind, at once or when its time is up. What a person
// has the keyboard of by then is theirs to end.
func (c *Control) expire(p *proc) {
	id, owner, leftAt := p.rec.ID, p.rec.Owner, p.rec.LeftAt
	end := func() {
		if p := c.procs[id]; p != nil && p.rec.LeftAt.Equal(leftAt) && p.rec.Keyboard == "" && !p.state().Ended() {
			c.log.Info("end what was left behind", "id", id, "owner", owner, "lease", p.rec.Lease)
			c.handle(id, event{kind: evStop, reply: make(chan outcome, 1)})
		}
	}
	switch {
	case p.rec.Lease == string(api.LeaseSession):
		end()
	case p.rec.Lease == string(api.LeaseDetached) && c.roster.reap > 0:
		p.stopReaping()
		p.reaping = time.AfterFunc(time.Until(leftAt.Add(c.roster.reap)), func() { c.box.Post(end) })
	}
}

// stopReaping stops the clock that runs against what was left behind.
func (p *proc) stopReaping() {
	if p.reaping != nil {
		p.reaping.Stop()
		p.reaping = nil
	}
}

// owned lists what a client has started and has not ended, oldest first.
func (c *Control) owned(owner string) []*proc {
	var all []*proc
	for _, p := range c.procs {
		if p.rec.Owner == owner && !p.state().Ended() {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, byAge)
	return all
}

// AwaitOwners gives the clients of everything that was adopted, and others, some
// time to come back.
func (c *Control) AwaitOwners(others []string) {
	c.box.Post(func() { c.awaitOwnersNow(others) })
}

func (c *Control) awaitOwnersNow(others []string) {
	for _, owner := range others {
		c.expect(owner, returnGrace)
	}
	for _, p := range c.procs {
		owner := p.rec.Owner
		switch {
		case owner == "" || p.state().Ended():
		case !p.rec.LeftAt.IsZero():
			c.expire(p)
		case c.roster.leaving[owner] == nil:
			c.expect(owner, returnGrace)
		}
	}
}

// disperse stops all clocks.
func (c *Control) disperse() {
	for owner := range c.roster.leaving {
		c.roster.stay(owner)
	}
	for owner := range c.roster.sweeps {
		c.roster.spare(owner)
	}
	for _, p := range c.procs {
		p.stopReaping()
	}
}

// OfAgent reports whether an agent has started what a record is of.
func OfAgent(r store.Record) bool {
	return r.Owner != "" || strings.HasPrefix(r.Actor, "agent:")
}

// EndIdle ends the sessions of agents that were not used since a time and that
// nobody watches and no person has the keyboard of. One that is looked after goes on, and so does one that its
// agent has asked to be kept for ever.
func (c *Control) EndIdle(since time.Time) {
	c.box.Post(func() { c.endIdleNow(since) })
}

func (c *Control) endIdleNow(since time.Time) {
	for _, p := range c.procs {
		if !p.rec.TTY || !OfAgent(p.rec) || p.rec.Lease == string(api.LeaseForever) ||
			p.rec.Restart.Policy != "" || p.state() != api.StateRunning || p.live == nil {
			continue
		}
		f := p.live.Facts()
		if f.Viewers > 0 || p.rec.Keyboard != "" || f.Active.After(since) {
			continue
		}
		c.log.Info("end idle session", "id", p.rec.ID, "since", f.Active)
		c.notice(p.rec.Name + ": ended, as its agent had not used it for a while")
		c.handle(p.rec.ID, event{kind: evStop})
	}
}
