package server

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// largeAnswer is the minimum size of an answer worth returning its garbage to the system.
	largeAnswer = 256 << 10
	// memoryRest is the time without a large answer before memory is returned.
	memoryRest = 2 * time.Second
)

// A reclaimer returns memory to the system after large answers. An idle engine collects
// no garbage by itself for minutes, and until then a burst's memory stays with it.
type reclaimer struct {
	mu    sync.Mutex
	timer *time.Timer
}

// noteAnswer schedules a collection after an answer of size bytes, if that is large.
func (r *reclaimer) noteAnswer(size int) {
	if size < largeAnswer {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer == nil {
		r.timer = time.AfterFunc(memoryRest, func() {
			runtime.GC() // encoders' pooled buffers survive one collection
			debug.FreeOSMemory()
		})
		return
	}
	r.timer.Reset(memoryRest)
}
