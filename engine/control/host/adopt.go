package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/base/sleep"
	"tandem/engine/control/launch"
	"tandem/engine/control/supervise"
	"tandem/engine/system/keeper"
	"tandem/engine/system/proctree"
	"tandem/persist/store"
)

// maxProblems is how many damaged records are reported to the user. The log lists all of them.
const maxProblems = 20

// unread maps the ids of records that could not be read to the errors. If the list of records
// itself could not be read, the error is under "".
type unread map[string]error

func (u unread) has(id string) bool { return u[id] != nil || u[""] != nil }

// Unread returns, sorted, the reasons why records or terminals are unreachable.
func (h *Host) Unread() (why []string) {
	u := h.unread.Load()
	if u == nil {
		return nil
	}
	for _, err := range *u {
		why = append(why, err.Error())
	}
	slices.Sort(why)
	return why
}

// An adoption takes over the records and children of an earlier engine.
type adoption struct{ h *Host }

const (
	// maxReadRetries is how often a starting engine tries again to read a file.
	maxReadRetries = 5
	// readRetryPause is the time before the first retry. It doubles with each further one.
	readRetryPause = 10 * time.Millisecond
	// maxReadPause is the longest time between two retries while the engine runs.
	maxReadPause = 10 * time.Second
)

// loadRecords reads all records. Records that are still unreadable after some retries are returned
// in missing.
func (a adoption) loadRecords(ctx context.Context) (records []store.Record, missing unread) {
	records, problems := a.h.store.Load()
	missing = a.splitProblems(problems)
	for i := range maxReadRetries {
		if len(missing) == 0 || ctx.Err() != nil {
			return records, missing
		}
		// Some errors pass, for example too many open files.
		time.Sleep(readRetryPause << i)
		records = append(records, a.readMissing(missing)...)
	}
	for _, err := range missing {
		a.h.log.Error("load record", "error", err)
		a.h.Problems = append(a.h.Problems, err.Error()+"; the file is kept and will be read later")
	}
	return records, missing
}

// splitProblems returns the problems of unreadable records, and reports the others to the user.
func (a adoption) splitProblems(problems []error) unread {
	missing := unread{}
	for _, p := range problems {
		var u *store.Unread
		if errors.As(p, &u) {
			missing[u.ID] = p
			continue
		}
		a.h.log.Error("load record", "error", p)
		a.h.Problems = append(a.h.Problems, p.Error())
	}
	return missing
}

// readMissing tries again to read the missing records. It returns the records that it could read,
// and removes them from missing, as well as deleted ones.
func (a adoption) readMissing(missing unread) (records []store.Record) {
	if missing[""] != nil {
		records, problems := a.h.store.Load()
		clear(missing)
		maps.Copy(missing, a.splitProblems(problems))
		return records
	}
	for id := range missing {
		r, err := a.h.store.LoadRecord(id)
		var u *store.Unread
		if errors.As(err, &u) {
			continue
		}
		delete(missing, id)
		if err != nil {
			a.h.log.Error("load record", "error", err)
		}
		if r != nil {
			records = append(records, *r)
		}
	}
	return records
}

// RestoreTable fills the control's table with all records and children. It must run before the
// control goroutine.
func (h *Host) RestoreTable(ctx context.Context, client launch.Keeper) error {
	if err := h.o.Inherited.offerTo(ctx, client, h); err != nil {
		return err
	}
	a := adoption{h}
	children, err := client.List(ctx)
	if err != nil {
		return fmt.Errorf("list children: %w", err)
	}
	records, missing := a.loadRecords(ctx)
	h.Problems = h.Problems[:min(len(h.Problems), maxProblems)]
	all, forget, s := a.plan(ctx, records, children, missing.has)
	h.previous.Aftermath = s.FindAftermath(all, h.previous.LastEngine, h.lastWrite)
	err = a.adopt(ctx, client, all, missing, func(f supervise.Found) error {
		h.Control.Restore(f, h.store.LogPath(f.Rec))
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range forget {
		if err := client.Forget(ctx, id); err != nil {
			h.log.Warn("forget child", "id", id, "error", err)
		}
	}
	h.unread.Store(&missing)
	if len(missing) == 0 { // otherwise AdoptLater may need them
		h.o.Inherited.close()
	}
	return nil
}

// adopt gives each process found its terminal and inserts it into the table. If a terminal is
// unreachable, it adds the process to missing instead. If the keeper exits meanwhile, it inserts
// nothing, and keeps the inherited terminals for the next attempt.
func (a adoption) adopt(ctx context.Context, client launch.Keeper, all []supervise.Found, missing unread, insert func(supervise.Found) error) error {
	masters, faults := a.h.fetchMasters(ctx, client, all)
	if at := slices.IndexFunc(faults, func(err error) bool { return errors.Is(err, keeper.ErrLost) }); at >= 0 {
		for i, f := range all {
			child, _ := f.Child()
			a.h.o.Inherited.keep(child, masters[i])
		}
		return faults[at]
	}
	for i, f := range all {
		if faults[i] != nil {
			missing[f.Rec.ID] = fmt.Errorf("%s runs without a screen: %w", f.Rec.Name, faults[i])
			continue
		}
		a.h.restoreGrant(&f)
		a.equipTerminal(&f, masters[i])
		a.noteInterruption(&f)
		if err := insert(f); err != nil {
			return err
		}
		a.placeChild(ctx, client, f)
	}
	return nil
}

// plan decides what to do with each record and each child of the keeper. s is the evidence for
// that.
func (a adoption) plan(ctx context.Context, records []store.Record, children []keeper.Child, unread func(id string) bool) (all []supervise.Found, forget []string, s supervise.Survey) {
	for i, r := range records {
		records[i].Name = names.Escape(r.Name) // of an earlier release
		failLost(&records[i])
		// An earlier engine may have been killed before it removed the cgroup. The new cgroup may
		// be elsewhere, because it is below this engine's own, for example after a reboot.
		over := api.State(r.State).Ended() || r.Identity != nil && r.Identity.BootID != a.h.bootID
		if over && proctree.DropCgroup(r.Cgroup) {
			records[i].Cgroup = a.h.CgroupOf(r)
		}
	}
	// The process table is read only once for all records.
	look := sync.OnceValue(func() *proctree.Snapshot { return a.h.Launcher.AwaitStarts(ctx) })
	s = supervise.Survey{
		BootID:   a.h.bootID,
		Keeper:   a.h.Link.Identity(),
		Unread:   unread,
		Records:  records,
		Children: children,
		Exit:     a.h.Observer.Read,
		Alive:    store.Identity.Alive,
		Orphan:   func(r store.Record) (store.Identity, bool) { return a.h.Launcher.OrphanOf(r, look()) },
		Guess:    guessRecord,
		Logged:   a.h.store.MayHaveLog,
	}
	all, forget = s.Plan()
	return append(all, s.FindUnrecorded(a.h.Launcher.FindMarked(look()))...), forget, s
}

// AdoptLater tries again to read records and get terminals that were unreachable at the start. It
// adopts their children and returns when none is left.
func (h *Host) AdoptLater(ctx context.Context) {
	a := adoption{h}
	missing := maps.Clone(*a.h.unread.Load())
	for wait := time.Second; len(missing) > 0; wait = min(2*wait, maxReadPause) {
		if sleep.For(ctx, wait) != nil {
			return
		}
		was := maps.Clone(missing)
		records := a.readMissing(missing)
		if maps.EqualFunc(was, missing, func(error, error) bool { return true }) {
			continue
		}
		if err := a.adoptLate(ctx, records, was, missing); err != nil {
			a.h.log.Error("adopt what was unreachable", "error", err)
			missing = was // so that the next retry reads them
			continue
		}
		left := maps.Clone(missing)
		a.h.unread.Store(&left)
	}
	a.h.o.Inherited.close()
}

// adoptLate adopts the children whose records could not be read earlier, and now can. earlier and
// missing list the unread records of then and now.
func (a adoption) adoptLate(ctx context.Context, records []store.Record, earlier, missing unread) error {
	client, err := a.h.Link.Await(ctx)
	if err != nil {
		return err
	}
	children, err := client.List(ctx)
	if err != nil {
		return fmt.Errorf("list children: %w", err)
	}
	known := map[string]bool{}
	err = a.h.Control.Visit(ctx, func(e supervise.Entry) { known[e.Rec.ID] = true })
	if err != nil {
		return err
	}
	others := func(id string) bool { return known[id] || !earlier.has(id) || missing.has(id) }
	records = slices.DeleteFunc(records, func(r store.Record) bool { return known[r.ID] })
	children = slices.DeleteFunc(children, func(c keeper.Child) bool { return others(c.ID) })
	all, forget, _ := a.plan(ctx, records, children, others)
	err = a.adopt(ctx, client, all, missing, func(f supervise.Found) error {
		return f.RestoreLate(ctx, a.h.Control, a.h.store.LogPath(f.Rec))
	})
	if err != nil {
		return err
	}
	for _, id := range forget {
		a.h.ForgetChild(id)
	}
	// If a child exited while its record was missing, the report of its exit found no process in
	// the table.
	children, err = client.List(ctx)
	for _, c := range children {
		if c.Exit != nil && !others(c.ID) {
			a.h.Observer.Report(c)
		}
	}
	return err
}

func (h *Host) restoreGrant(f *supervise.Found) {
	if err := h.Launcher.RestoreGrant(f); err != nil {
		h.Problems = append(h.Problems, err.Error())
	}
}

// placeChild hands a child over to a keeper that does not have it. If the keeper refuses, it is
// tried again later.
func (a adoption) placeChild(ctx context.Context, client launch.Keeper, f supervise.Found) {
	if !f.Orphan {
		return
	}
	child, _ := f.Child()
	if err := client.Adopt(ctx, child, a.h.store.Dir(f.Rec.ID), a.h.Observer.LogsOf(f.Rec), nil); err != nil {
		a.h.log.Error("offer child to keeper", "id", f.Rec.ID, "error", err)
		a.h.Link.OfferAgain(f.Rec.ID)
	}
}

// equipTerminal adds what the table needs to know about the terminal of a process.
func (a adoption) equipTerminal(f *supervise.Found, master *os.File) {
	child, found := f.Child()
	switch {
	case !f.Rec.TTY:
	case !found:
		f.Bytes = a.h.logSize(f.Rec)
	case master != nil:
		if f.Rec.Identity == nil { // the engine that started it did not record what to type
			former := store.Identity{}
			if f.Rec.Former != nil {
				former = *f.Rec.Former
			}
			resume := a.h.planResumption(f.Rec, former)
			f.Rec.Typed, f.Rec.Typing, f.Changed = resume.typed, resume.typing(), true
		}
		f.Live = a.h.adoptSession(f.Rec, child, master)
	}
}

// guessRecord makes a record for a child without one.
func guessRecord(c keeper.Child) store.Record {
	r := supervise.NewRecord(c.ID, api.KindProcess)
	if c.TTY {
		r.Kind = string(api.KindSession)
	}
	r.TTY = c.TTY
	proc := "/proc/" + strconv.Itoa(c.PID)
	if r.Argv = commandLineOf(c.PID); r.Argv == nil {
		r.Argv = []string{"unknown"}
	}
	if isMarkedPrivate(c.PID) {
		r.Private, r.Name, r.Argv = true, supervise.PrivateName, nil
		return r
	}
	if cwd, err := os.Readlink(filepath.Join(proc, "cwd")); err == nil {
		r.CWD = cwd
	}
	r.Name = names.OfProgram(r.Argv)
	return r
}

// logSize returns the length of the log of an exited process. After a crash the file is longer than
// its content, because space is allocated ahead. Opening and closing the log truncates it.
func (h *Host) logSize(r store.Record) int64 {
	if r.Private {
		return 0 // it was in the memory of an earlier engine
	}
	path := h.store.LogPath(r)
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	// Allocated space ends at a page boundary. If the file does not, it has no such space.
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
