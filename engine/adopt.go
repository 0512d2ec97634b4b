package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/engine/names"
	"tandem/engine/proctree"
	"tandem/engine/terminal"
	"tandem/persist/store"
)

// problemsTold is how many damaged records a person is told of; the log has all.
const problemsTold = 20

// What a new engine finds is not a case of its own: it puts every record into
// the table in the state that was written down, and then feeds the events that
// lead from there to what is.

// A found is one record with the event that a new engine feeds for it.
type found struct {
	rec    store.Record
	ending *ending // of one that had ended before
	events []event // their live is still to be filled in for evFound
	orphan bool    // the child of the evFound is none of the keeper's yet
	master *os.File
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

// takeStock gathers what there is and fills the control's table with it. It
// runs before the control goroutine does.
func (h *host) takeStock(ctx context.Context, c *control, client keeperClient) error {
	children, err := client.List(ctx)
	if err != nil {
		return fmt.Errorf("list children: %w", err)
	}
	records, problems := h.store.Load()
	for _, p := range problems {
		h.log.Error("load record", "error", p)
		h.problems = append(h.problems, p.Error())
	}
	h.problems = h.problems[:min(len(h.problems), problemsTold)]
	look := sync.OnceValue(func() *proctree.Snapshot { return h.lookForStarted(ctx) })
	s := survey{
		bootID:   h.bootID,
		records:  records,
		children: children,
		exit:     h.pastExit,
		alive:    store.Identity.Alive,
		orphan:   func(r store.Record) (store.Identity, bool) { return h.orphanOf(r, look()) },
		guess:    guessRecord,
	}
	all, forget := s.plan()
	all = append(all, s.unrecorded(h.markedFolders(look()))...)
	h.fetchMasters(ctx, client, all)
	for _, f := range all {
		if api.State(f.rec.State).Ended() {
			proctree.DropCgroup(f.rec.Cgroup) // an engine before may not have come to it
		}
		h.readmit(&f)
		if err := h.place(ctx, c, client, f); err != nil {
			return err
		}
	}
	for _, id := range forget {
		if err := client.Forget(ctx, id); err != nil {
			h.log.Warn("forget child", "id", id, "error", err)
		}
	}
	return nil
}

func (h *host) pastExit(id string) (store.Exit, bool) {
	e, ok, err := h.store.Exit(id)
	if err != nil {
		h.log.Warn("read exit", "id", id, "error", err)
	}
	return e, ok && err == nil
}

// place puts one record into the table and feeds its events.
func (h *host) place(ctx context.Context, c *control, client keeperClient, f found) error {
	p := c.insert(f.rec, h.logPath(f.rec))
	p.ending = f.ending
	p.last = terminal.Facts{Cols: f.rec.Cols, Rows: f.rec.Rows, Title: f.rec.Title}
	if p.showsLines() {
		p.lines = h.lastLines(f.rec)
	}
	p.view = describe(p) // as it was announced last
	if f.rec.TTY && (len(f.events) == 0 || f.events[0].kind != evFound) {
		p.last.Bytes = h.logSize(f.rec)
	}
	if f.orphan {
		if err := client.Adopt(ctx, f.events[0].child, h.store.Dir(f.rec.ID), h.logsOf(f.rec), nil); err != nil {
			return fmt.Errorf("hand %s to the keeper: %w", f.rec.ID, err)
		}
	}
	for _, e := range f.events {
		if e.kind == evFound && f.rec.TTY {
			if f.master == nil {
				e.kind = evLost
			} else {
				e.live = h.adoptSession(f.rec, e.child, f.master)
			}
		}
		c.handle(f.rec.ID, e)
	}
	return nil
}

// mastersAtOnce bounds how many terminals the keeper is asked for at a time.
const mastersAtOnce = 16

// fetchMasters gets the terminals of the sessions that live: one after the other
// would cost a wait for the keeper each.
func (h *host) fetchMasters(ctx context.Context, client keeperClient, all []found) {
	var fetching sync.WaitGroup
	slots := make(chan struct{}, mastersAtOnce)
	for i := range all {
		f := &all[i]
		if !f.rec.TTY || !slices.ContainsFunc(f.events, func(e event) bool { return e.kind == evFound }) {
			continue
		}
		slots <- struct{}{}
		fetching.Go(func() {
			defer func() { <-slots }()
			master, err := client.Master(ctx, f.rec.ID)
			if err != nil {
				h.log.Error("get terminal", "id", f.rec.ID, "error", err)
				return
			}
			f.master = master
		})
	}
	fetching.Wait()
}

// guessRecord makes a record for a child whose own was lost.
func guessRecord(c keeper.Child) store.Record {
	r := newRecord(c.ID, api.KindProcess)
	if c.TTY {
		r.Kind = string(api.KindSession)
	}
	r.TTY = c.TTY
	proc := "/proc/" + strconv.Itoa(c.PID)
	if line, err := os.ReadFile(filepath.Join(proc, "cmdline")); err == nil {
		r.Argv = strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	}
	if len(r.Argv) == 0 || r.Argv[0] == "" {
		r.Argv = []string{"unknown"}
	}
	if cwd, err := os.Readlink(filepath.Join(proc, "cwd")); err == nil {
		r.CWD = cwd
	}
	r.Name = names.OfProgram(r.Argv)
	return r
}

// logSize is the length of the log of something that has ended. After a crash
// the file is longer, by what was set aside for output that never came; opening
// and closing it cuts that off.
func (h *host) logSize(r store.Record) int64 {
	path := h.logPath(r)
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	if info.Size() == 0 || info.Size()%int64(os.Getpagesize()) != 0 {
		return info.Size()
	}
	log, err := h.openLog(r)
	if err != nil {
		return info.Size()
	}
	end := log.End()
	if err := log.Close(); err != nil {
		h.log.Warn("close log", "path", path, "error", err)
	}
	return end
}
