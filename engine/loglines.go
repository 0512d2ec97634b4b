package engine

import (
	"tandem/engine/keeper"
	"tandem/engine/logs"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

// maxShownLines limits the log lines shown of a failed process.
const maxShownLines = 20

// processLogLimit returns the size limit of each log written by the process itself.
func (h *host) processLogLimit(r store.Record) int64 {
	if r.LogLimit != 0 {
		return r.LogLimit
	}
	return h.settings().ProcessLogLimit
}

// logsOf returns the logs written by the process itself, for the keeper to bound.
func (h *host) logsOf(r store.Record) keeper.Logs {
	if r.TTY {
		return keeper.Logs{}
	}
	return keeper.Logs{Paths: []string{h.store.LogPath(r), h.store.ErrorLogPath(r)}, Limit: h.processLogLimit(r)}
}

// BoundLog implements supervise.Executor.
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
		for i, path := range paths { // the order of first writes is unknown, so standard output comes first
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
	// Most one-shot commands exit before their log could grow.
	if r.Transient && r.LogLimit == 0 {
		return supervise.AfterStart(bound)
	}
	return bound()
}

// LastLines implements supervise.Executor. With split logs, standard error is preferred.
func (h *host) LastLines(r store.Record) []string {
	source := logs.Source{Path: h.store.LogPath(r)}
	if r.SplitLog {
		source.ErrPath = h.store.ErrorLogPath(r)
	}
	if r.TTY {
		source.Session = r.ID
	}
	return h.logs.LastLines(source, maxShownLines)
}
