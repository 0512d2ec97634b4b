package prompt

import (
	"sync"
	"sync/atomic"
)

// watchers are told when a screen changes. The zero value has none.
type watchers struct {
	n   atomic.Int32
	mu  sync.Mutex
	all map[chan struct{}]struct{}
}

// join returns a channel that receives a value after changes of the screen; several changes may be
// combined into one value. The caller must call leave when it no longer reads the channel.
func (w *watchers) join() (changed chan struct{}, leave func()) {
	changed = make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = make(map[chan struct{}]struct{})
	}
	w.all[changed] = struct{}{}
	w.n.Add(1)
	return changed, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all, changed)
		w.n.Add(-1)
	}
}

func (w *watchers) wake() {
	// Fast path: most screens have no watcher, and every output calls this.
	if w.n.Load() == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.all {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}
