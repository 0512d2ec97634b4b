package server

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// largeAnswer is the size in bytes of an answer from which its memory is worth returning to the
	// system.
	largeAnswer = 256 << 10
	// memoryRest is how long there must be no large answer before memory is returned.
	memoryRest = 2 * time.Second
)

// A reclaimer returns memory to the system after large answers. By itself, an idle engine collects
// no garbage for minutes, and would keep the memory of a burst for so long.
type reclaimer struct {
	mu    sync.Mutex
	timer *time.Timer
}

// noteAnswer schedules a collection after an answer of size bytes, if it is large.
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
