package history

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"tandem/engine/api"
)

// A load is a file of commands being added to the history.
type load struct {
	path    string
	total   int64        // commands
	made    atomic.Int64 // commands converted to rows
	written atomic.Int64 // share of total already on disk
}

// setWritten records that n of the rows are written. The progress counts commands, and ignored ones
// have no row, so it is converted.
func (l *load) setWritten(n, rows int) { l.written.Store(l.total * int64(n) / int64(max(rows, 1))) }

// loads are the loads in progress.
type loads struct {
	mu  sync.Mutex
	all []*load
}

func (s *loads) begin(path string, total int) *load {
	l := &load{path: path, total: int64(total)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, l)
	return l
}

func (s *loads) end(l *load) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = slices.DeleteFunc(s.all, func(other *load) bool { return other == l })
}

// Loading returns the progress of all loads. Converting the commands and writing the rows each
// count for half of it.
func (h *History) Loading(context.Context, api.Empty) (api.HistoryLoadingOutput, error) {
	out := api.HistoryLoadingOutput{Loads: []api.HistoryProgress{}}
	h.loads.mu.Lock()
	defer h.loads.mu.Unlock()
	for _, l := range h.loads.all {
		out.Loads = append(out.Loads, api.HistoryProgress{Path: l.path, Done: int((l.made.Load() + l.written.Load()) / 2), Total: int(l.total)})
	}
	return out, nil
}
