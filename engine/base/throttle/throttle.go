// Package throttle limits how often a function is called.
package throttle

import (
	"sync"
	"time"
)

// A Throttle calls a function soon after each Trigger, but at most once in a gap. Without triggers,
// it needs no timer. It is safe for concurrent use.
type Throttle struct {
	gap  time.Duration
	call func()

	mu      sync.Mutex
	last    time.Time   // of a call
	timer   *time.Timer // set while a call is due
	stopped bool
}

// New returns a Throttle that waits at least gap between two calls of f. f runs on a goroutine of
// its own, and may call Trigger.
func New(gap time.Duration, f func()) *Throttle { return &Throttle{gap: gap, call: f} }

// Trigger asks for a call. It does not wait for it.
func (t *Throttle) Trigger() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped || t.timer != nil {
		return
	}
	t.timer = time.AfterFunc(max(0, t.gap-time.Since(t.last)), t.fire)
}

func (t *Throttle) fire() {
	t.mu.Lock()
	t.timer, t.last = nil, time.Now()
	stopped := t.stopped
	t.mu.Unlock()
	// The lock is not held here, because the function may call Trigger.
	if !stopped {
		t.call()
	}
}

// Stop cancels a call that is due, and ignores later triggers. A call may still be running.
func (t *Throttle) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	if t.timer != nil {
		t.timer.Stop()
	}
}
