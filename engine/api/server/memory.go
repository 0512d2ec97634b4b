package server

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// largeAnswer is the size from which an answer leaves garbage worth returning to the system.
	largeAnswer = 256 << 10
	// memoryRest is how long there must be no large answer before that.
	memoryRest = 2 * time.Second
)

// A reclaimer returns memory to the system after large answers. An idle engine collects
// no garbage by itself for minutes, and until then a burst's memory stays with it.
type reclaimer struct {
	mu    sync.Mutex
	timer *time.Timer
}

// note counts an answer of size bytes.
func (r *reclaimer) note(size int) {
	if size < largeAnswer {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer == nil {
		r.timer = time.AfterFunc(memoryRest, func() {
			runtime.GC() // what encoders keep in pools outlives one collection
			debug.FreeOSMemory()
		})
		return
	}
	r.timer.Reset(memoryRest)
}
