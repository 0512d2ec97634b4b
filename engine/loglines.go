package engine

import (
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/persist/sparse"
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
		return l.live.facts().bytes
	}
	return fileSize(path)
}

// source is the log of a process, for any goroutine to read.
func (h *host) source(p *proc) logSource {
	g := &p.glance
	s := logSource{
		name:    p.rec.Name,
		path:    h.logPath(p.rec),
		started: p.rec.StartedAt,
		state:   func() api.State { return g.state.Load().(api.State) },
	}
	if p.rec.SplitLog {
		s.errPath = h.errorLogPath(p.rec)
	}
	if p.live != nil {
		path := s.path
		s.end = func() int64 { return g.written(path) }
		if live, ok := p.live.(*session); ok {
			s.opened = live.opened
		}
	}
	return s
}

func (h *host) logSource(ctx context.Context, id string) (s logSource, err error) {
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
	return h.logs.read(ctx, in, source)
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
		h.control.box.post(func() { h.control.notice(r.Name + ": " + text) })
	}
	logs := map[string]int64{h.logPath(r): r.LogStart}
	if r.SplitLog {
		logs[h.errorLogPath(r)] = r.ErrorLogStart
	}
	if r.StartedAt.IsZero() { // it was started just now
		for path, begin := range logs {
			h.logs.begin(path, begin)
		}
	}
	bound := func() func() {
		var stops []func()
		for path := range logs {
			stops = append(stops, h.logs.bound(path, limit, notice))
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

// lastLines is the end of what a process has written, of split logs rather that
// of its errors.
func (h *host) lastLines(r store.Record) []string {
	source := logSource{path: h.logPath(r)}
	if r.SplitLog {
		source.errPath = h.errorLogPath(r)
	}
	return lastLines(source, shownLines)
}

// tail is the end of a log, of at most a number of bytes; dropped is how many
// there are, or were, before. It begins with a whole character.
func tail(path string, most int) (end []byte, dropped int64, err error) {
	source := logSource{path: path}
	l, err := source.open()
	if err != nil || l == nil {
		return nil, 0, err
	}
	defer l.Close()
	for {
		size := l.End()
		from := max(l.Start(), size-int64(most))
		p := make([]byte, max(size-from, 0))
		n, err := l.ReadAt(p, from)
		switch {
		case errors.Is(err, sparse.ErrDropped):
			continue
		case err != nil && err != io.EOF:
			return nil, 0, err
		}
		p = p[:n]
		for cut := 0; cut < 3 && from > 0 && len(p) > 0 && p[0]&0xC0 == 0x80; cut++ {
			p, from = p[1:], from+1
		}
		return p, from, nil
	}
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
