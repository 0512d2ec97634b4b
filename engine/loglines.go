package engine

import (
	"tandem/engine/keeper"
	"tandem/engine/logs"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

// shownLines is how many lines of the log of what failed are shown.
const shownLines = 20

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
	return keeper.Logs{Paths: []string{h.store.LogPath(r), h.store.ErrorLogPath(r)}, Limit: h.processLogLimit(r)}
}

// Bound keeps the logs of a process that writes them itself within their limit
// until stop is called.
func (h *host) BoundLog(r store.Record) (stop func()) {
	limit := h.processLogLimit(r)
	notice := func(text string) {
		h.control.PublishNotice(r.Name + ": " + text)
	}
	paths, begins := []string{h.store.LogPath(r)}, []int64{r.LogStart}
	if r.SplitLog {
		paths, begins = append(paths, h.store.ErrorLogPath(r)), append(begins, r.ErrorLogStart)
	}
	if r.StartedAt.IsZero() { // it was started just now
		for i, path := range paths { // standard output first, as nobody saw which was written first
			h.logs.Began(path, begins[i])
		}
	}
	bound := func() func() {
		var stops []func()
		for _, path := range paths {
			stops = append(stops, h.logs.Bound(path, limit, notice))
		}
		return func() {
			for _, stop := range stops {
				stop()
			}
		}
	}
	if r.Transient && r.LogLimit == 0 {
		return supervise.AfterStart(bound)
	}
	return bound()
}

// LastLines is the end of what a process has written, of split logs rather that
// of its errors.
func (h *host) LastLines(r store.Record) []string {
	source := logs.Source{Path: h.store.LogPath(r)}
	if r.SplitLog {
		source.ErrPath = h.store.ErrorLogPath(r)
	}
	if r.TTY {
		source.Session = r.ID
	}
	return h.logs.LastLines(source, shownLines)
}
