package supervise

import (
	"cmp"
	"context"
	"path/filepath"
	"sync/atomic"

	"tandem/engine/api"
	"tandem/engine/logs"
	"tandem/engine/terminal"
	"tandem/persist/store"
)

// An Entry is what the table holds of one process at a moment, for any goroutine
// to read.
type Entry struct {
	Rec     store.Record
	View    api.Process       // as announced last, with what its session shows now
	State   api.State         // may not be announced yet
	Child   store.Identity    // PID 0 if none lives
	Runs    int               // how often its child was seen to begin
	Session *terminal.Session // nil if there is none at the moment
	logPath string
	shared  *shared
}

func (p *proc) entry() Entry {
	e := Entry{Rec: p.rec, View: p.current(), State: p.state(), Runs: p.runs, logPath: p.logPath, shared: &p.shared}
	if p.rec.Identity != nil && p.ending == nil && !e.State.Ended() {
		e.Child = *p.rec.Identity
	}
	e.Session, _ = p.live.(*terminal.Session)
	return e
}

// Source is the log of a process.
func (e Entry) Source() logs.Source {
	s := logs.Source{
		Name:    e.Rec.Name,
		Path:    e.logPath,
		Started: e.Rec.StartedAt,
		State:   func() api.State { return e.shared.state.Load().(api.State) },
	}
	if e.Rec.SplitLog {
		s.ErrPath = filepath.Join(filepath.Dir(e.logPath), store.StderrName)
	}
	if e.Rec.TTY {
		s.Session = e.Rec.ID
	}
	if e.Session != nil {
		s.End = func() int64 { return e.shared.written(s.Path) }
		s.Opened = e.Session.LogOpened()
	}
	return s
}

// shared is what other goroutines follow of a process without asking the loop.
type shared struct {
	state atomic.Value               // an api.State; it has ended when that is announced
	live  atomic.Pointer[sharedLive] // of a terminal
}

type sharedLive struct{ Session }

// share publishes what the process is like now to other goroutines; that it has ended not
// before it is announced how.
func (p *proc) share() {
	state := p.state()
	if state.Ended() && p.view.ID != "" && !p.view.State.Ended() {
		state = p.view.State
	}
	p.shared.state.Store(state)
	if p.live != nil {
		p.shared.live.Store(&sharedLive{p.live})
	} else {
		p.shared.live.Store(nil)
	}
}

// written is how much a terminal has written.
func (s *shared) written(path string) int64 {
	if l := s.live.Load(); l != nil {
		return l.Facts().Bytes
	}
	return logs.FileSize(path)
}

// Entry finds what is announced by id, name or unique prefix.
func (c *Control) Entry(ctx context.Context, id string, kinds ...api.Kind) (Entry, error) {
	return c.entryThat(ctx, func() (*proc, error) { return c.procs.find(id, kinds...) })
}

// EntryToStart also finds what is being started for the first time.
func (c *Control) EntryToStart(ctx context.Context, id string) (Entry, error) {
	return c.entryThat(ctx, func() (*proc, error) { return c.procs.findToEnd(id) })
}

// EntryByID finds by the full id, including what has not been announced yet.
func (c *Control) EntryByID(ctx context.Context, id string) (Entry, error) {
	return c.entryThat(ctx, func() (*proc, error) {
		if p := c.procs[id]; p != nil {
			return p, nil
		}
		return nil, errRemoved(id)
	})
}

func (c *Control) entryThat(ctx context.Context, find func() (*proc, error)) (Entry, error) {
	return try(ctx, c, func() (Entry, error) {
		p, err := find()
		if err != nil {
			return Entry{}, err
		}
		return p.entry(), nil
	})
}

func errRemoved(id string) error {
	return api.Errorf(api.CodeNotFound, "find %s: it could not be started, or was removed", id)
}

// Visit calls f on the control goroutine with every process there is, announced
// or not. f must not block.
func (c *Control) Visit(ctx context.Context, f func(e Entry)) error {
	return c.on(ctx, func() error {
		for _, p := range c.procs {
			f(p.entry())
		}
		return nil
	})
}

// A Measurable is what is announced of a process, with whom to measure.
type Measurable struct {
	View api.Process
	Who  store.Identity // PID 0 without a child
}

// Measurables are what is announced, oldest first.
func (c *Control) Measurables(ctx context.Context) ([]Measurable, error) {
	return Ask(ctx, c, func() []Measurable {
		all := c.procs.listed()
		out := make([]Measurable, len(all))
		for i, view := range all {
			out[i] = MeasurableOf(c.procs[view.ID].rec, view)
		}
		return out
	})
}

func MeasurableOf(r store.Record, view api.Process) Measurable {
	m := Measurable{View: view}
	if r.Identity != nil && view.PID == r.Identity.PID {
		m.Who = *r.Identity
	}
	return m
}

// EndedIDs are the ids of all that has ended.
func (c *Control) EndedIDs(ctx context.Context) (map[string]bool, error) {
	return Ask(ctx, c, func() map[string]bool {
		ended := map[string]bool{}
		for id, p := range c.procs {
			ended[id] = p.state().Ended()
		}
		return ended
	})
}

// Running counts the processes that have a live child. It is called on the control
// goroutine.
func (c *Control) Running() int {
	n := 0
	for _, p := range c.procs {
		if p.rec.Identity != nil && p.ending == nil && !p.state().Ended() {
			n++
		}
	}
	return n
}

// Listed gives what is announced, oldest first.
func (c *Control) Listed(ctx context.Context) ([]api.Process, error) {
	return Ask(ctx, c, c.procs.listed)
}

// SessionOf gives a session's terminal, with what is announced of it; that of a
// program that has ended is made anew from its log if need be.
func (c *Control) SessionOf(ctx context.Context, id string) (*terminal.Session, api.Process, error) {
	e, err := try(ctx, c, func() (e Entry, err error) {
		p, err := c.procs.find(id, api.KindSession)
		if err != nil {
			return e, err
		}
		waiting := p.state() == api.StateBackoff || p.state() == api.StateWaiting
		if p.live == nil && !p.state().Ended() && !waiting {
			return e, api.Errorf(api.CodeUnavailable, "use session %s: %s", p.rec.Name, cmp.Or(p.rec.Error, "its terminal is missing"))
		}
		e.View = p.current()
		if p.live == nil {
			revived := c.world.Revive(p.rec)
			if !waiting { // its viewers stay for the next run
				revived.Finish(e.View)
			}
			p.live = revived
			p.share()
		}
		if p.state().Ended() {
			c.screens.use(p)
		}
		e.Session = p.live.(*terminal.Session)
		e.Session.NoteUse()
		return e, nil
	})
	return e.Session, e.View, err
}
