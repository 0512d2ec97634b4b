package engine

import (
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/engine/proctree"
	"tandem/engine/terminal"
	"tandem/persist/store"
)

// What a new engine finds is not a case of its own: it puts every record into
// the table in the state that was written down, and then feeds the events that
// lead from there to what is.

// A found is one record with the events that a new engine feeds for it.
type found struct {
	rec    store.Record
	orphan bool        // its child is none of the keeper's yet
	live   liveSession // of a child with a terminal; nil if that is lost
	bytes  int64       // that a terminal without a child has printed

	ending *ending // of one that had ended before
	events []event
}

// child is the child that lives, or that the keeper knows how it ended.
func (f *found) child() (keeper.Child, bool) {
	i := slices.IndexFunc(f.events, func(e event) bool { return e.kind == evFound })
	if i < 0 {
		return keeper.Child{}, false
	}
	return f.events[i].child, true
}

// A survey is everything that a new engine can know when it starts.
type survey struct {
	bootID   string
	records  []store.Record
	children []keeper.Child
	exit     func(id string) (store.Exit, bool)
	alive    func(store.Identity) bool
	orphan   func(store.Record) (store.Identity, bool) // a child that nobody could write down
	guess    func(keeper.Child) store.Record           // a record for a child that has none
}

// plan says what each record leads to, and which children of the keeper are
// only to be forgotten.
func (s survey) plan() (all []found, forget []string) {
	children := make(map[string]keeper.Child, len(s.children))
	for _, c := range s.children {
		children[c.ID] = c
	}
	for _, r := range s.records {
		c, held := children[r.ID]
		delete(children, r.ID)
		ended := api.State(r.State).Ended()
		switch {
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
	for _, c := range s.children {
		if _, orphan := children[c.ID]; !orphan {
			continue
		}
		if c.Exit != nil {
			forget = append(forget, c.ID)
			continue
		}
		all = append(all, s.held(s.guess(c), c))
	}
	return all, forget
}

// mayLive reports whether something that was given up lives all the same: nobody
// saw its start, and there is its child.
func (s survey) mayLive(r store.Record) bool {
	if r.Identity != nil {
		return false
	}
	_, ok := s.orphan(r)
	return ok
}

// unrecorded are the children that carry a mark of ours, that the keeper does not
// know, and whose record was lost.
func (s survey) unrecorded(marked []keeper.Child) (all []found) {
	for _, c := range marked {
		known := slices.ContainsFunc(s.records, func(r store.Record) bool { return r.ID == c.ID }) ||
			slices.ContainsFunc(s.children, func(held keeper.Child) bool { return held.ID == c.ID })
		if known {
			continue
		}
		all = append(all, found{rec: s.guess(c), events: []event{{kind: evFound, started: started{child: c}}}, orphan: true})
	}
	return all
}

// isFormer reports whether a child is the one before that which a record is about
// to get.
func isFormer(r store.Record, c keeper.Child) bool {
	return r.Identity == nil && r.Former != nil && *r.Former == identityOf(c)
}

func isOf(r store.Record, c keeper.Child) bool {
	return c.Exit != nil && r.Identity != nil && r.Identity.PID == c.PID && r.Identity.StartTime == c.StartTime
}

// held is a record whose child the keeper has, dead or alive.
func (s survey) held(r store.Record, c keeper.Child) found {
	if api.State(r.State).Ended() { // written before its child was seen to live
		r.State = string(api.StateRunning)
	}
	f := found{rec: r, events: []event{{kind: evFound, started: started{child: c}}}}
	if c.Exit != nil {
		end := ending{exit: *c.Exit}
		if e, ok := s.exit(r.ID); ok {
			end.at = e.ExitedAt
		}
		f.events = append(f.events, event{kind: evExited, started: started{child: c}, ending: end})
	}
	return f
}

// ended is a record of something that has ended. What a reboot should have
// started again, and which failed before it, is tried once more.
func (s survey) ended(r store.Record) found {
	f := found{rec: r, ending: s.pastEnding(r)}
	if s.rebooted(r) && r.Desired == desiredRunning && startsAtBoot(r.Restart) {
		f.events = []event{{kind: evBooted}}
	}
	return f
}

func (s survey) rebooted(r store.Record) bool {
	return r.Identity != nil && r.Identity.BootID != s.bootID
}

// unheld is a record of something that should run and that the keeper does not
// know: the keeper is a new one, or the process has ended for good.
func (s survey) unheld(r store.Record) found {
	if s.rebooted(r) {
		return found{rec: r, events: []event{{kind: evMissing, ending: s.endingOf(r), rebooted: true}}}
	}
	if api.State(r.State).Ended() {
		r.State = string(api.StateStarting)
	}
	alive := r.Identity != nil && s.alive(*r.Identity)
	if r.Identity == nil {
		// It may have been started at the moment when nobody could write it down,
		// or have come and gone since.
		if id, ok := s.orphan(r); ok {
			r.Identity, alive = &id, true
			r.StartedAt = time.Time{}
		} else if e, ok := s.exit(r.ID); ok && s.isPending(r, e) {
			r.Identity, r.StartedAt = &e.Identity, proctree.BornAt(e.Identity)
			beginRun(&r)
		}
	}
	switch {
	case !alive:
		return found{rec: r, events: []event{{kind: evMissing, ending: s.endingOf(r)}}}
	case r.TTY:
		return found{rec: r, events: []event{{kind: evLost}}}
	}
	child := keeper.Child{ID: r.ID, PID: r.Identity.PID, StartTime: r.Identity.StartTime, BootID: r.Identity.BootID}
	return found{rec: r, events: []event{{kind: evFound, started: started{child: child}}}, orphan: true}
}

// isPending reports whether an exit is that of the child whose start nobody has
// written down, and not of the one before.
func (s survey) isPending(r store.Record, e store.Exit) bool {
	first := r.Former == nil && r.Restarts == 0
	return e.Identity.BootID == s.bootID && (first || r.Former != nil && e.Identity != *r.Former)
}

func (s survey) endingOf(r store.Record) ending {
	if e := s.pastEnding(r); e != nil {
		return *e
	}
	return ending{exit: keeper.Exit{Unknown: true}}
}

// pastEnding is what exit.json says of a record's child or, where that does not
// know, the record itself; nil when neither says anything.
func (s survey) pastEnding(r store.Record) *ending {
	e, ok := s.exit(r.ID)
	ok = ok && r.Identity != nil && e.Identity == *r.Identity
	if run := lastRun(r); run != nil && (!ok || e.Unknown) {
		return &ending{exit: keeper.Exit{Code: run.ExitCode, Signal: run.ExitSignal}, at: run.EndedAt}
	}
	if !ok {
		return nil
	}
	end := endingFrom(e)
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

func endingFrom(e store.Exit) ending {
	return ending{exit: keeper.Exit{Code: e.Code, Signal: e.Signal, Unknown: e.Unknown}, at: e.ExitedAt}
}

// restore puts a record into the table, as it was announced last, and feeds what
// has come of it since. It is called before the control goroutine runs.
func (c *control) restore(f found, logPath string) {
	p := c.insert(f.rec, logPath)
	p.ending = f.ending
	p.last = terminal.Facts{Cols: f.rec.Cols, Rows: f.rec.Rows, Title: f.rec.Title}
	if p.showsLines() {
		p.lines = c.world.lastLines(f.rec)
	}
	p.view = describe(p)
	p.last.Bytes = f.bytes
	for _, e := range f.events {
		switch {
		case e.kind != evFound || !f.rec.TTY:
		case f.live == nil:
			e.kind = evLost
		default:
			e.live = f.live
		}
		c.handle(f.rec.ID, e)
	}
}
