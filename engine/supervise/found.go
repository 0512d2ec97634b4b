package supervise

import (
	"context"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/engine/proctree"
	"tandem/engine/terminal"
	"tandem/persist/store"
)

// What a new engine finds needs no rules of its own: every record goes into the table
// in its saved state, and is then fed the events that lead from there to the present.

// A Found is one record and the events that a new engine feeds it.
type Found struct {
	Rec    store.Record
	Orphan bool    // its child is none of the keeper's yet
	Live   Session // of a child with a terminal; nil if the terminal is lost or cannot be fetched now
	Fault  error   // why the terminal cannot be fetched now; nil if it is lost
	Bytes  int64   // that a terminal without a child has printed

	ending *Ending // of one that had ended before
	events []event
}

// Child is the child that lives, or that the keeper knows how it ended.
func (f *Found) Child() (keeper.Child, bool) {
	i := slices.IndexFunc(f.events, func(e event) bool { return e.kind == evFound })
	if i < 0 {
		return keeper.Child{}, false
	}
	return f.events[i].Child, true
}

// A Survey is everything a new engine can know when it starts.
type Survey struct {
	BootID   string
	Unread   func(id string) bool // reports whether a record exists, or may exist, but could not be read
	Keeper   *store.Identity      // the keeper of the children; nil if unknown
	Records  []store.Record
	Children []keeper.Child
	Exit     func(id string) (store.Exit, bool)
	Alive    func(store.Identity) bool
	Orphan   func(store.Record) (store.Identity, bool) // a child that nobody could write down
	Guess    func(keeper.Child) store.Record           // a record for a child that has none
	Logged   func(store.Record) bool                   // reports whether a record may have a log, which is created before its child
}

// Plan says what each record leads to, and which children of the keeper are
// only to be forgotten.
func (s Survey) Plan() (all []Found, forget []string) {
	children := make(map[string]keeper.Child, len(s.Children))
	for _, c := range s.Children {
		children[c.ID] = c
	}
	for _, r := range s.Records {
		c, held := children[r.ID]
		delete(children, r.ID)
		ended := api.State(r.State).Ended()
		switch {
		case r.State == string(api.StateWaiting): // its child, if any, is the one before
			all = append(all, Found{Rec: r, events: []event{{kind: evMissing}}})
		case held && r.State == string(api.StateBackoff) && isOf(r, c), held && isFormer(r, c):
			all = append(all, s.unheld(r))
		case held && !(ended && isOf(r, c)):
			all = append(all, s.held(r, c))
		case ended && !s.mayLive(r):
			all = append(all, s.ended(r))
			if held {
				forget = append(forget, r.ID)
			}
		default:
			all = append(all, s.unheld(r))
		}
	}
	for _, c := range s.Children {
		if _, orphan := children[c.ID]; !orphan || s.Unread(c.ID) {
			continue
		}
		if c.Exit != nil {
			forget = append(forget, c.ID)
			continue
		}
		all = append(all, s.held(s.Guess(c), c))
	}
	return all, forget
}

// mayLive reports whether something that was given up is alive after all: nobody saw it
// start, and its child exists.
func (s Survey) mayLive(r store.Record) bool {
	if r.Identity != nil {
		return false
	}
	_, ok := s.Orphan(r)
	return ok
}

// Unrecorded are the children that carry a mark of ours, that the keeper does not
// know, and whose record was lost.
func (s Survey) Unrecorded(marked []keeper.Child) (all []Found) {
	known := make(map[string]bool, len(s.Records)+len(s.Children))
	for i := range s.Records {
		known[s.Records[i].ID] = true
	}
	for i := range s.Children {
		known[s.Children[i].ID] = true
	}
	for _, c := range marked {
		if known[c.ID] || s.Unread(c.ID) {
			continue
		}
		all = append(all, Found{Rec: s.Guess(c), events: []event{{kind: evFound, Started: Started{Child: c}}}, Orphan: true})
	}
	return all
}

// isFormer reports whether a child is the one before that which a record is about
// to get.
func isFormer(r store.Record, c keeper.Child) bool {
	return r.Identity == nil && r.Former != nil && *r.Former == IdentityOf(c)
}

func isOf(r store.Record, c keeper.Child) bool {
	return c.Exit != nil && r.Identity != nil && r.Identity.PID == c.PID && r.Identity.StartTime == c.StartTime
}

// held is a record whose child the keeper has, dead or alive.
func (s Survey) held(r store.Record, c keeper.Child) Found {
	if api.State(r.State).Ended() { // written before its child was seen to live
		r.State = string(api.StateRunning)
	}
	f := Found{Rec: r, events: []event{{kind: evFound, Started: Started{Child: c}}}}
	if c.Exit != nil {
		end := Ending{Exit: *c.Exit}
		if e, ok := s.Exit(r.ID); ok {
			end.At = e.ExitedAt
		}
		f.events = append(f.events, event{kind: evExited, Started: Started{Child: c}, ending: end})
	}
	return f
}

// ended is a record of something that has ended. What a reboot should have
// started again, and which failed before it, is tried once more.
func (s Survey) ended(r store.Record) Found {
	f := Found{Rec: r, ending: s.pastEnding(r)}
	if s.rebooted(r) && r.Desired == desiredRunning && StartsAtBoot(r.Restart) {
		f.events = []event{{kind: evBooted}}
	}
	return f
}

func (s Survey) rebooted(r store.Record) bool {
	return r.Identity != nil && r.Identity.BootID != s.BootID
}

// unheld is a record of something that should run and that the keeper does not
// know: the keeper is a new one, or the process has ended for good.
func (s Survey) unheld(r store.Record) Found {
	if s.rebooted(r) {
		return Found{Rec: r, events: []event{{kind: evMissing, ending: s.endingOf(r), rebooted: true}}}
	}
	if api.State(r.State).Ended() {
		r.State = string(api.StateStarting)
	}
	alive := r.Identity != nil && s.Alive(*r.Identity)
	if r.Identity == nil {
		// It may have been started at the moment when nobody could write it down,
		// or have come and gone since.
		if id, ok := s.Orphan(r); ok {
			r.Identity, alive = &id, true
			r.StartedAt = time.Time{}
		} else if e, ok := s.Exit(r.ID); ok && s.isPending(r, e) {
			r.Identity, r.StartedAt = &e.Identity, proctree.BornAt(e.Identity)
			beginRun(&r)
		}
	}
	switch {
	case !alive:
		return Found{Rec: r, events: []event{{kind: evMissing, ending: s.endingOf(r), unsure: s.mayHaveRun(r)}}}
	case r.TTY:
		return Found{Rec: r, events: []event{{kind: evLost}}}
	}
	child := keeper.Child{ID: r.ID, PID: r.Identity.PID, StartTime: r.Identity.StartTime, BootID: r.Identity.BootID}
	return Found{Rec: r, events: []event{{kind: evFound, Started: Started{Child: child}}}, Orphan: true}
}

// mayHaveRun reports whether a child that was not found may have existed. If the keeper that
// was asked to start it is still running, it would still have the child. If that keeper has
// exited, the child may have started and exited.
func (s Survey) mayHaveRun(r store.Record) bool {
	if r.Identity != nil || r.Asked != nil && s.Keeper != nil && *r.Asked == *s.Keeper {
		return false
	}
	first := r.Former == nil && r.Restarts == 0
	return !first || s.Logged(r)
}

// isPending reports whether an exit is that of the child whose start nobody has
// written down, and not of the one before.
func (s Survey) isPending(r store.Record, e store.Exit) bool {
	first := r.Former == nil && r.Restarts == 0
	return e.Identity.BootID == s.BootID && (first || r.Former != nil && e.Identity != *r.Former)
}

func (s Survey) endingOf(r store.Record) Ending {
	if e := s.pastEnding(r); e != nil {
		return *e
	}
	return Ending{Exit: keeper.Exit{Unknown: true}}
}

// pastEnding is what exit.json says of a record's child or, where that does not
// know, the record itself; nil when neither says anything.
func (s Survey) pastEnding(r store.Record) *Ending {
	e, ok := s.Exit(r.ID)
	ok = ok && r.Identity != nil && e.Identity == *r.Identity
	if run := lastRun(r); run != nil && (!ok || e.Unknown) {
		return &Ending{Exit: keeper.Exit{Code: run.ExitCode, Signal: run.ExitSignal}, At: run.EndedAt}
	}
	if !ok {
		return nil
	}
	end := EndingFrom(e)
	return &end
}

// lastRun is the run of a record's child if the record knows how that ended.
func lastRun(r store.Record) *store.Run {
	if len(r.Runs) == 0 || r.Identity == nil {
		return nil
	}
	run := &r.Runs[len(r.Runs)-1]
	if run.EndedAt.IsZero() || run.ExitCode == nil && run.ExitSignal == "" {
		return nil
	}
	return run
}

func EndingFrom(e store.Exit) Ending {
	return Ending{Exit: keeper.Exit{Code: e.Code, Signal: e.Signal, Unknown: e.Unknown}, At: e.ExitedAt}
}

// RestoreLate is like Restore, but for a record that could not be read at first, while the
// control goroutine runs. It calls make on the control goroutine to complete f, unless the
// record is in the table already.
func (f Found) RestoreLate(ctx context.Context, c *Control, logPath string, make func(*Found)) error {
	return c.on(ctx, func() error {
		if c.procs[f.Rec.ID] != nil || c.frozen {
			return nil
		}
		make(&f)
		if !api.State(f.Rec.State).Ended() {
			f.Rec.Name = c.procs.freeName(f.Rec.Name) // another process may have taken the name meanwhile
		}
		c.Restore(f, logPath)
		p := c.procs[f.Rec.ID]
		c.publish(p)
		if owner := p.rec.Owner; owner != "" && c.leases.watches[owner] == 0 && c.leases.leaving[owner] == nil {
			c.leases.expect(owner, returnGrace)
		}
		c.notice(p.rec.Name + ": record is readable again")
		return nil
	})
}

// Restore puts a record into the table, as it was announced last, and feeds what
// has come of it since. It is called before the control goroutine runs.
func (c *Control) Restore(f Found, logPath string) {
	p := c.insert(f.Rec, logPath)
	p.ending = f.ending
	p.last = terminal.Facts{Cols: f.Rec.Cols, Rows: f.Rec.Rows, Title: f.Rec.Title}
	if p.showsLines() {
		p.lines = c.world.LastLines(f.Rec)
	}
	p.view = describe(p)
	p.last.Bytes = f.Bytes
	for _, e := range f.events {
		switch {
		case e.kind != evFound || !f.Rec.TTY:
		case f.Live == nil && f.Fault == nil:
			e.kind = evLost
		case f.Live == nil:
			e.err = f.Fault
		default:
			e.Live = f.Live
		}
		c.handle(f.Rec.ID, e)
	}
}
