package engine

import (
	"context"
	"sync/atomic"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/engine/logs"
	"tandem/engine/terminal"
	"tandem/persist/store"
)

// shownLines is how many lines of the log of what failed are shown.
const shownLines = 20

// A glance is what any goroutine may know of a process at any time.
type glance struct {
	state atomic.Value            // an api.State
	live  atomic.Pointer[glimpse] // of a terminal
}

type glimpse struct{ live liveSession }

// show lets other goroutines know what the process is like now.
func (p *proc) show() {
	p.glance.state.Store(p.state())
	if p.live != nil {
		p.glance.live.Store(&glimpse{p.live})
	} else {
		p.glance.live.Store(nil)
	}
}

// written is how much a terminal has written.
func (g *glance) written(path string) int64 {
	if l := g.live.Load(); l != nil {
		return l.live.Facts().Bytes
	}
	return logs.FileSize(path)
}

// source is the log of a process, for any goroutine to read.
func (h *host) source(p *proc) logs.Source {
	g := &p.glance
	s := logs.Source{
		Name:    p.rec.Name,
		Path:    h.logPath(p.rec),
		Started: p.rec.StartedAt,
		State:   func() api.State { return g.state.Load().(api.State) },
	}
	if p.rec.SplitLog {
		s.ErrPath = h.errorLogPath(p.rec)
	}
	if p.live != nil {
		path := s.Path
		s.End = func() int64 { return g.written(path) }
		if live, ok := p.live.(*terminal.Session); ok {
			s.Opened = live.LogOpened()
		}
	}
	return s
}

func (h *host) logSource(ctx context.Context, id string) (s logs.Source, err error) {
	err = withProc(ctx, h, id, func(p *proc) error {
		s = h.source(p)
		return nil
	})
	return s, err
}

func (h *host) processLog(ctx context.Context, in api.ProcessLogInput) (api.ProcessLogOutput, error) {
	source, err := h.logSource(ctx, in.ID)
	if err != nil {
		return api.ProcessLogOutput{}, err
	}
	return h.logs.Read(ctx, in, source)
}

// processLogLimit is how much is kept of each log that a process writes itself.
func (h *host) processLogLimit(r store.Record) int64 {
	if r.LogLimit != 0 {
		return r.LogLimit
	}
	return h.settings().ProcessLogLimit
}

// logsOf are the logs that a process writes itself, for a keeper that has to
// bound them.
func (h *host) logsOf(r store.Record) keeper.Logs {
	if r.TTY {
		return keeper.Logs{}
	}
	return keeper.Logs{Paths: []string{h.logPath(r), h.errorLogPath(r)}, Limit: h.processLogLimit(r)}
}

// bound keeps the logs of a process that writes them itself within their limit
// until stop is called.
func (h *host) bound(r store.Record) (stop func()) {
	limit := h.processLogLimit(r)
	notice := func(text string) {
		h.control.box.Post(func() { h.control.notice(r.Name + ": " + text) })
	}
	logs := map[string]int64{h.logPath(r): r.LogStart}
	if r.SplitLog {
		logs[h.errorLogPath(r)] = r.ErrorLogStart
	}
	if r.StartedAt.IsZero() { // it was started just now
		for path, begin := range logs {
			h.logs.Began(path, begin)
		}
	}
	bound := func() func() {
		var stops []func()
		for path := range logs {
			stops = append(stops, h.logs.Bound(path, limit, notice))
		}
		return func() {
			for _, stop := range stops {
				stop()
			}
		}
	}
	if r.Transient && r.LogLimit == 0 {
		return afterStart(bound)
	}
	return bound()
}

// LastLines is the end of what a process has written, of split logs rather that
// of its errors.
func (h *host) lastLines(r store.Record) []string {
	source := logs.Source{Path: h.logPath(r)}
	if r.SplitLog {
		source.ErrPath = h.errorLogPath(r)
	}
	return logs.LastLines(source, shownLines)
}
