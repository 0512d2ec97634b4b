package observe

import (
	"tandem/engine/control/supervise"
	"tandem/engine/record/logs"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

// maxShownLines is how many lines of its log are shown for a failed process.
const maxShownLines = 20

// LogLimit returns the size limit of each log that the process writes itself.
func (o *Observer) LogLimit(r store.Record) int64 {
	if r.LogLimit != 0 {
		return r.LogLimit
	}
	return o.ProcessLogLimit()
}

// LogsOf returns the logs written by the process itself. The keeper limits their size.
func (o *Observer) LogsOf(r store.Record) keeper.Logs {
	if r.TTY {
		return keeper.Logs{}
	}
	return keeper.Logs{Paths: []string{o.Store.LogPath(r), o.Store.ErrorLogPath(r)}, Limit: o.LogLimit(r)}
}

// BoundLog implements supervise.Observer.
func (o *Observer) BoundLog(r store.Record) (stop func()) {
	limit := o.LogLimit(r)
	notice := func(text string) {
		o.Control.PublishNoticeOf(r, text)
	}
	paths, begins := []string{o.Store.LogPath(r)}, []int64{r.LogStart}
	if r.SplitLog {
		paths, begins = append(paths, o.Store.ErrorLogPath(r)), append(begins, r.ErrorLogStart)
	}
	if r.StartedAt.IsZero() { // it was started just now
		for i, path := range paths { // the order of first writes is unknown, so standard output comes first
			o.Logs.Began(path, begins[i])
		}
	}
	bound := func() func() {
		var stops []func()
		for _, path := range paths {
			stops = append(stops, o.Logs.Bound(path, limit, notice))
		}
		return func() {
			for _, stop := range stops {
				stop()
			}
		}
	}
	// Watching is not worth it for a one-shot command, which usually exits before its log could
	// grow.
	if r.Transient && r.LogLimit == 0 {
		return supervise.AfterStart(bound)
	}
	return bound()
}

// LastLines implements supervise.Observer. If standard output and standard error have separate
// logs, it prefers standard error.
func (o *Observer) LastLines(r store.Record) []string {
	source := logs.Source{Path: o.Store.LogPath(r)}
	if r.SplitLog {
		source.ErrPath = o.Store.ErrorLogPath(r)
	}
	if r.TTY {
		source.Session = r.ID
	}
	return o.Logs.LastLines(source, maxShownLines)
}
