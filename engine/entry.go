package engine

import (
	"context"
	"path/filepath"
	"sync/atomic"

	"tandem/engine/api"
	"tandem/engine/logs"
	"tandem/engine/terminal"
	"tandem/persist/store"
)

// An entry is what the table holds of one process at a moment, for any goroutine
// to read.
type entry struct {
	rec     store.Record
	view    api.Process       // as announced last, with what its session shows now
	state   api.State         // may not be announced yet
	child   store.Identity    // PID 0 if none lives
	runs    int               // how often its child was seen to begin
	session *terminal.Session // nil if there is none at the moment
	logPath string
	shared  *shared
}

func (c *control) entryOf(p *proc) entry {
	e := entry{rec: p.rec, view: c.current(p), state: p.state(), runs: p.runs, logPath: p.logPath, shared: &p.shared}
	if p.rec.Identity != nil && p.ending == nil && !e.state.Ended() {
		e.child = *p.rec.Identity
	}
	e.session, _ = p.live.(*terminal.Session)
	return e
}

// source is the log of a process.
func (e entry) source() logs.Source {
	s := logs.Source{
		Name:    e.rec.Name,
		Path:    e.logPath,
		Started: e.rec.StartedAt,
		State:   func() api.State { return e.shared.state.Load().(api.State) },
	}
	if e.rec.SplitLog {
		s.ErrPath = filepath.Join(filepath.Dir(e.logPath), store.StderrName)
	}
	if e.session != nil {
		s.End = func() int64 { return e.shared.written(s.Path) }
		s.Opened = e.session.LogOpened()
	}
	return s
}

// shared is what other goroutines follow of a process without asking the loop.
type shared struct {
	state atomic.Value               // an api.State
	live  atomic.Pointer[sharedLive] // of a terminal
}

type sharedLive struct{ liveSession }

// share lets other goroutines know what the process is like now.
func (p *proc) share() {
	p.shared.state.Store(p.state())
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

// entry finds what is announced by id, name or unique prefix.
func (c *control) entry(ctx context.Context, id string, kinds ...api.Kind) (entry, error) {
	return c.entryThat(ctx, func() (*proc, error) { return c.find(id, kinds...) })
}

// entryToStart finds also what is being started for the first time.
func (c *control) entryToStart(ctx context.Context, id string) (entry, error) {
	return c.entryThat(ctx, func() (*proc, error) { return c.findToEnd(id) })
}

// entryByID finds by the whole id, also what nobody was told of yet.
func (c *control) entryByID(ctx context.Context, id string) (entry, error) {
	return c.entryThat(ctx, func() (*proc, error) {
		if p := c.procs[id]; p != nil {
			return p, nil
		}
		return nil, errRemoved(id)
	})
}

func (c *control) entryThat(ctx context.Context, find func() (*proc, error)) (entry, error) {
	return try(ctx, c, func() (entry, error) {
		p, err := find()
		if err != nil {
			return entry{}, err
		}
		return c.entryOf(p), nil
	})
}

func errRemoved(id string) error {
	return api.Errorf(api.CodeNotFound, "find %s: it could not be started, or was removed", id)
}

// visit calls f on the control goroutine with every process there is, announced
// or not. f must not block.
func (c *control) visit(ctx context.Context, f func(e entry)) error {
	return c.on(ctx, func() error {
		for _, p := range c.procs {
			f(c.entryOf(p))
		}
		return nil
	})
}

// A measurable is what is announced of a process, with whom to measure.
type measurable struct {
	view api.Process
	who  store.Identity // PID 0 without a child
}

// measurables are what is announced, oldest first.
func (c *control) measurables(ctx context.Context) ([]measurable, error) {
	return ask(ctx, c, func() []measurable {
		all := c.listed()
		out := make([]measurable, len(all))
		for i, view := range all {
			out[i] = measurableOf(c.procs[view.ID].rec, view)
		}
		return out
	})
}

func measurableOf(r store.Record, view api.Process) measurable {
	m := measurable{view: view}
	if r.Identity != nil && view.PID == r.Identity.PID {
		m.who = *r.Identity
	}
	return m
}

// endedIDs are the ids of all that has ended.
func (c *control) endedIDs(ctx context.Context) (map[string]bool, error) {
	return ask(ctx, c, func() map[string]bool {
		ended := map[string]bool{}
		for id, p := range c.procs {
			ended[id] = p.state().Ended()
		}
		return ended
	})
}

// sessionOf gives a session's terminal, with what is announced of it; that of a
// program that has ended is made anew from its log if need be.
func (c *control) sessionOf(ctx context.Context, id string) (*terminal.Session, api.Process, error) {
	e, err := try(ctx, c, func() (e entry, err error) {
		p, err := c.find(id, api.KindSession)
		if err != nil {
			return e, err
		}
		waiting := p.state() == api.StateBackoff
		if p.live == nil && !p.state().Ended() && !waiting {
			return e, api.Errorf(api.CodeUnavailable, "use session %s: its terminal is not there", p.rec.Name)
		}
		e.view = c.current(p)
		if p.live == nil {
			revived := c.world.revive(p.rec)
			if !waiting { // its viewers stay for the next run
				revived.Finish(e.view)
			}
			p.live = revived
		}
		if p.state().Ended() {
			c.dropIdle(p)
		}
		e.session = p.live.(*terminal.Session)
		e.session.NoteUse()
		return e, nil
	})
	return e.session, e.view, err
}
