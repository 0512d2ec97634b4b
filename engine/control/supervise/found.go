package supervise

import (
	"context"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/session/terminal"
	"tandem/engine/system/keeper"
	"tandem/engine/system/proctree"
	"tandem/persist/store"
)

// A new engine needs no rules of its own for what it finds. It puts every record into the table in
// its saved state. Then it feeds the events that lead from there to the present: the child was
// found, or is missing, or has exited. From then on the table of state × event decides, as it does
// for a process started by this engine. Deciding the outcome here instead would duplicate the
// table, once for each combination of saved state, child and exit.
//
// There are three sources of evidence, the most trusted first: the keeper's children, the exit
// files, and the marks of processes in the system, in case a keeper exited too.

// A Found is a record, and the events that a new engine feeds to the table for it.
type Found struct {
	Rec    store.Record
	Orphan bool    // the keeper has yet to adopt its child
	Live   Session // session of a child in a terminal; nil if the terminal is lost
	Bytes  int64   // printed by a terminal without a child

	Changed bool // the record has been changed, but not saved yet

	ending *Ending  // nil unless it ended earlier
	lines  []string // the end of its log, if shown
	events []event
}

// Child returns the child that was found. It is running, or its exit is known. ok is false if there
// is no child.
func (f *Found) Child() (keeper.Child, bool) {
	i := slices.IndexFunc(f.events, func(e event) bool { return e.kind == evFound })
	if i < 0 {
		return keeper.Child{}, false
	}
	return f.events[i].Child, true
}

// A Survey is all the evidence that a new engine has when it starts.
type Survey struct {
	BootID   string
	Unread   func(id string) bool // reports whether a record may exist, but could not be read
	Keeper   *store.Identity      // the keeper of the children; nil if unknown
	Records  []store.Record
	Children []keeper.Child
	Exit     func(id string) (store.Exit, bool)
	Alive    func(store.Identity) bool
	Orphan   func(store.Record) (store.Identity, bool) // finds a child started too late to be recorded
	Guess    func(keeper.Child) store.Record           // makes a record for a child without one
	Logged   func(store.Record) bool                   // reports whether a record may have a log, which is created before its child
}

// Plan decides what to do with each record. The keeper should drop the children whose ids are in
// forget.
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
		case r.State == string(api.StateWaiting): // its child, if any, is the previous one
			all = append(all, Found{Rec: r, events: []event{{kind: evMissing}}})
		case held && r.State == string(api.StateBackoff) && isChildExitOf(r, c), held && isFormer(r, c):
			all = append(all, s.recoverUnheld(r))
		case held && !(ended && isChildExitOf(r, c)):
			all = append(all, s.recoverHeld(r, c))
		case ended && !s.mayBeAlive(r):
			all = append(all, s.recoverEnded(r))
			if held {
				forget = append(forget, r.ID)
			}
		default:
			all = append(all, s.recoverUnheld(r))
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
		all = append(all, s.recoverHeld(s.Guess(c), c))
	}
	return all, forget
}

// mayBeAlive reports whether an ended record has a running child nevertheless. That happens if an
// engine gave up a start before it saw the child.
func (s Survey) mayBeAlive(r store.Record) bool {
	if r.Identity != nil {
		return false
	}
	_, ok := s.Orphan(r)
	return ok
}

// FindUnrecorded returns those of the marked children without a record and unknown to the keeper.
// marked are the children with a mark of this data directory.
func (s Survey) FindUnrecorded(marked []keeper.Child) (all []Found) {
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
		all = append(all, Found{Rec: s.Guess(c), events: []event{{kind: evFound, Launch: Launch{Child: c}}}, Orphan: true})
	}
	return all
}

// isFormer reports whether c is the previous child of a record that was about to get a new one.
func isFormer(r store.Record, c keeper.Child) bool {
	return r.Identity == nil && r.Former != nil && *r.Former == IdentityOf(c)
}

func isChildExitOf(r store.Record, c keeper.Child) bool {
	return c.Exit != nil && r.Identity != nil && r.Identity.PID == c.PID && r.Identity.StartTime == c.StartTime
}

// recoverHeld handles a record whose child the keeper still has, running or exited.
func (s Survey) recoverHeld(r store.Record, c keeper.Child) Found {
	if api.State(r.State).Ended() { // saved before its child was seen running
		r.State = string(api.StateRunning)
	}
	f := Found{Rec: r, events: []event{{kind: evFound, Launch: Launch{Child: c}}}}
	if c.Exit != nil {
		end := Ending{Exit: *c.Exit}
		if e, ok := s.Exit(r.ID); ok {
			end.At = e.ExitedAt
		}
		f.events = append(f.events, event{kind: evExited, Launch: Launch{Child: c}, ending: end})
	}
	return f
}

// recoverEnded handles the record of a process that had ended when the last engine saved it. After a
// reboot it asks for a start if the process is to be started at boot.
func (s Survey) recoverEnded(r store.Record) Found {
	f := Found{Rec: r, ending: s.pastEnding(r)}
	if s.hasRebooted(r) && WillStartAtBoot(r) {
		f.events = []event{{kind: evBooted}}
	}
	// After a reboot the PID may belong to another process, so remove it. But it also identifies
	// the exit.json of the run: keep it if the exit is known from there alone.
	if s.hasRebooted(r) && r.Identity.PID != 0 && (f.ending == nil || lastRun(r) != nil) {
		f.Rec.Identity, f.Changed = r.Identity.WithoutPID(), true
	}
	return f
}

func (s Survey) hasRebooted(r store.Record) bool {
	return r.Identity != nil && r.Identity.BootID != s.BootID
}

// recoverUnheld handles a record whose process should be running, although the keeper does not have
// it. Either the keeper is new, or the process has exited.
func (s Survey) recoverUnheld(r store.Record) Found {
	if s.hasRebooted(r) {
		ending := s.endingOf(r)
		r.Identity = r.Identity.WithoutPID()
		return Found{Rec: r, events: []event{{kind: evMissing, ending: ending, rebooted: true}}}
	}
	if api.State(r.State).Ended() {
		r.State = string(api.StateStarting)
	}
	alive := r.Identity != nil && s.Alive(*r.Identity)
	if r.Identity == nil {
		// The engine may have exited after the start and before it saved the record. The child may
		// have exited since.
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
	return Found{Rec: r, events: []event{{kind: evFound, Launch: Launch{Child: child}}}, Orphan: true}
}

// mayHaveRun reports whether a missing child may have existed. If the keeper that was asked for the
// start is still running, it would have the child. If it has exited, the child may have started and
// exited.
func (s Survey) mayHaveRun(r store.Record) bool {
	if r.Identity != nil || r.Asked != nil && s.Keeper != nil && *r.Asked == *s.Keeper {
		return false
	}
	first := r.Former == nil && r.Restarts == 0
	return !first || s.Logged(r)
}

// isPending reports whether an exit belongs to the child whose start was never saved. Otherwise it
// belongs to the previous child.
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

// pastEnding returns how a record's child exited, according to exit.json or else to the record. It
// returns nil if neither says so.
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

// lastRun returns the last run of a record, or nil if its exit is not known.
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

// RestoreLate restores a record found late: it could not be read at first, or its terminal could
// not be reached. Unlike Restore, it works while the control goroutine runs. If the record is in
// the table already, it closes the session of f.
func (f Found) RestoreLate(ctx context.Context, c *Control, logPath string) error {
	f.readLines(c)
	return c.runOnLoop(ctx, func() error {
		// A start may have reused the id, or an earlier attempt may have restored the record.
		if c.reg.procs[f.Rec.ID] != nil || c.reg.frozen {
			if f.Live != nil {
				f.Live.Close()
			}
			return nil
		}
		if !api.State(f.Rec.State).Ended() {
			f.Rec.Name = c.reg.procs.freeName(f.Rec.Name) // another process may have taken the name meanwhile
		}
		c.reg.restore(f, logPath)
		p := c.reg.procs[f.Rec.ID]
		c.reg.publishView(p)
		if owner := p.rec.Owner; owner != "" && c.leases.watches[owner] == 0 && c.leases.leaveTimers[owner] == nil {
			c.leases.expectReturn(owner, returnGrace)
		}
		c.reg.publishNotice(p.rec.Name + " is reachable again")
		return nil
	})
}

// Restore inserts a record into the table as it was last announced, and then feeds the events since
// then. It must be called before the control goroutine runs.
func (c *Control) Restore(f Found, logPath string) {
	f.readLines(c)
	c.reg.restore(f, logPath)
}

// readLines reads the end of the log, for a process that shows it. It must not run on the control
// goroutine.
func (f *Found) readLines(c *Control) {
	if p := (proc{rec: f.Rec}); p.showsLines() {
		f.lines = c.reg.observer.LastLines(f.Rec)
	}
}

func (g *registry) restore(f Found, logPath string) {
	p := g.insert(f.Rec, logPath)
	p.ending = f.ending
	p.lastFacts = terminal.Facts{Cols: f.Rec.Cols, Rows: f.Rec.Rows, Title: f.Rec.Title}
	p.lines = f.lines
	p.view = describeProcess(p)
	p.lastFacts.Bytes = f.Bytes
	if f.Changed {
		g.saveChange(p)
	}
	for _, e := range f.events {
		switch {
		case e.kind != evFound || !f.Rec.TTY:
		case f.Live == nil:
			e.kind = evLost
		default:
			e.Live = f.Live
		}
		g.handle(f.Rec.ID, e)
	}
}
