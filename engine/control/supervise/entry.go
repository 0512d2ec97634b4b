package supervise

import (
	"cmp"
	"context"
	"path/filepath"
	"sync/atomic"

	"tandem/engine/api"
	"tandem/engine/record/logs"
	"tandem/engine/session/terminal"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

// An Entry is a snapshot of one process in the table. Any goroutine may read it.
type Entry struct {
	Rec     store.Record
	View    api.Process       // as last announced, with what its session shows now
	State   api.State         // may not have been announced
	Child   store.Identity    // PID 0 if none is running
	Runs    int               // how many of its children have been seen to start
	Session *terminal.Session // nil if it has none at the moment
	logPath string
	shared  *shared
}

func (p *proc) makeEntry() Entry {
	e := Entry{Rec: p.rec, View: p.currentView(), State: p.state(), Runs: p.runs, logPath: p.logPath, shared: &p.shared}
	// The PID of an exited child may belong to another process by now.
	if p.rec.Identity != nil && p.ending == nil && !e.State.Ended() {
		e.Child = *p.rec.Identity
	}
	e.Session, _ = p.live.(*terminal.Session)
	return e
}

// Source describes the log of the process.
func (e Entry) Source() logs.Source {
	s := logs.Source{
		Name:    e.Rec.Name,
		Path:    e.logPath,
		Started: e.Rec.StartedAt,
		State:   func() api.State { return e.shared.state.Load().(api.State) },
		Private: e.Rec.Private,
	}
	if e.Rec.SplitLog {
		s.ErrPath = filepath.Join(filepath.Dir(e.logPath), store.StderrName)
	}
	if e.Rec.TTY {
		s.Session = e.Rec.ID
	}
	if e.Session != nil {
		s.End = func() int64 { return e.shared.bytesWritten(s) }
		s.Opened = e.Session.LogOpened()
	}
	return s
}

// shared is the part of a process's state that other goroutines may read without asking the control
// goroutine.
type shared struct {
	state atomic.Value               // an api.State; final states appear here once announced
	live  atomic.Pointer[sharedLive] // nil without a terminal
	bytes atomic.Int64               // written by a terminal that is closed
}

type sharedLive struct{ Session }

// updateShared publishes the current state to other goroutines. A final state is not published
// until it is announced, because a reader at the end of a log then asks for the exit status.
func (p *proc) updateShared() {
	state := p.state()
	if state.Ended() && p.view.ID != "" && !p.view.State.Ended() {
		state = p.view.State
	}
	p.shared.state.Store(state)
	if p.live != nil {
		p.shared.live.Store(&sharedLive{p.live})
	} else {
		p.shared.bytes.Store(p.lastFacts.Bytes)
		p.shared.live.Store(nil)
	}
}

// bytesWritten returns how many bytes a terminal has written to its log.
func (s *shared) bytesWritten(log logs.Source) int64 {
	if l := s.live.Load(); l != nil {
		return l.Facts().Bytes
	}
	if log.Private {
		return s.bytes.Load()
	}
	return logs.FileSize(log.Path)
}

// FindEntry finds an announced process by its id, its name or a unique prefix.
func (c *Control) FindEntry(ctx context.Context, id string, kinds ...api.Kind) (Entry, error) {
	return c.lookUpEntry(ctx, func() (*proc, error) { return c.reg.procs.find(ctx, id, kinds...) })
}

// FindStarting is like FindEntry, but also finds processes that are starting and not announced yet.
func (c *Control) FindStarting(ctx context.Context, id string) (Entry, error) {
	return c.lookUpEntry(ctx, func() (*proc, error) { return c.reg.procs.findIncludingNew(ctx, id) })
}

// EntryByID finds a process by its full id, whether announced or not.
func (c *Control) EntryByID(ctx context.Context, id string) (Entry, error) {
	return c.lookUpEntry(ctx, func() (*proc, error) {
		if p := c.reg.procs[id]; p != nil {
			return p, nil
		}
		return nil, errRemoved(id)
	})
}

func (c *Control) lookUpEntry(ctx context.Context, find func() (*proc, error)) (Entry, error) {
	e, err := askWithError(ctx, c, func() (Entry, error) {
		p, err := find()
		if err != nil {
			return Entry{}, err
		}
		return p.makeEntry(), nil
	})
	if err == nil {
		err = c.Private.check(ctx, e.Rec)
	}
	if err != nil {
		return Entry{}, err
	}
	return e, nil
}

func errRemoved(id string) error {
	return api.Errorf(api.CodeNotFound, "find %s: it could not be started, or was removed", id)
}

// Visit calls f on the control goroutine for every process, whether announced or not. f must not
// block.
func (c *Control) Visit(ctx context.Context, f func(e Entry)) error {
	return c.runOnLoop(ctx, func() error {
		for _, p := range c.reg.procs {
			f(p.makeEntry())
		}
		return nil
	})
}

// A Measurable is an announced process, and the child whose usage is to be measured.
type Measurable struct {
	View api.Process
	Who  store.Identity // PID 0 without a child
}

// Measurables returns all announced processes, oldest first.
func (c *Control) Measurables(ctx context.Context) ([]Measurable, error) {
	all, err := Ask(ctx, c, func() []Measurable {
		all := c.reg.procs.listViews()
		out := make([]Measurable, len(all))
		for i, view := range all {
			out[i] = MeasurableOf(c.reg.procs[view.ID].rec, view)
		}
		return out
	})
	hide := c.Private.viewFilter(ctx)
	for i := range all {
		if hide(&all[i].View) {
			all[i].Who = store.Identity{} // not to be measured
		}
	}
	return all, err
}

func MeasurableOf(r store.Record, view api.Process) Measurable {
	m := Measurable{View: view}
	if r.Identity != nil && view.PID == r.Identity.PID {
		m.Who = *r.Identity
	}
	return m
}

// ListEndedIDs maps the id of each process to whether it has ended.
func (c *Control) ListEndedIDs(ctx context.Context) (map[string]bool, error) {
	return Ask(ctx, c, func() map[string]bool {
		ended := map[string]bool{}
		for id, p := range c.reg.procs {
			ended[id] = p.state().Ended()
		}
		return ended
	})
}

// CountRunning returns the number of processes with a running child. It must be called on the
// control goroutine.
func (c *Control) CountRunning() int {
	n := 0
	for _, p := range c.reg.procs {
		if p.rec.Identity != nil && p.ending == nil && !p.state().Ended() {
			n++
		}
	}
	return n
}

// ListProcesses returns all announced processes, oldest first.
func (c *Control) ListProcesses(ctx context.Context) ([]api.Process, error) {
	all, err := Ask(ctx, c, c.reg.procs.listViews)
	hide := c.Private.viewFilter(ctx)
	for i := range all {
		hide(&all[i])
	}
	return all, err
}

// OpenSession returns the terminal of a session and its announced view. If the session has ended
// and its screen was dropped, it rebuilds the screen from the log.
func (c *Control) OpenSession(ctx context.Context, id string) (*terminal.Session, api.Process, error) {
	e, err := askWithError(ctx, c, func() (e Entry, err error) {
		p, err := c.reg.procs.find(ctx, id, api.KindSession)
		if err != nil {
			return e, err
		}
		waiting := p.state() == api.StateBackoff || p.state() == api.StateWaiting
		if p.live == nil && !p.state().Ended() && !waiting {
			return e, api.Errorf(api.CodeUnavailable, "use session %s: %s", p.rec.Name, cmp.Or(p.rec.Error, "its terminal is missing"))
		}
		e.View = p.currentView()
		if p.live == nil {
			revived := c.reg.executor.ReviveSession(p.rec)
			if !waiting { // viewers stay for the next run
				revived.Finish(e.View)
			}
			p.live = revived
			p.updateShared()
		}
		if p.state().Ended() {
			c.reg.screens.noteUse(p)
		}
		e.Rec, e.Session = p.rec, p.live.(*terminal.Session)
		e.Session.NoteUse()
		return e, nil
	})
	if err == nil {
		err = c.Private.check(ctx, e.Rec)
	}
	if err != nil {
		return nil, api.Process{}, err
	}
	return e.Session, e.View, nil
}

// Terminals gives access to the terminals of the sessions in the table of a Control.
type Terminals struct{ Of *Control }

// Each calls f for each process that runs in a terminal, with its child and its session. The
// control goroutine must have stopped.
func (t Terminals) Each(f func(keeper.Child, Session)) {
	for _, p := range t.Of.reg.procs {
		if p.live != nil && p.rec.Identity != nil && p.ending == nil && !p.state().Ended() {
			f(childOf(p.rec), p.live)
		}
	}
}
