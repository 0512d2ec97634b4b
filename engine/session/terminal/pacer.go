package terminal

import (
	"sync"
	"time"
)

// paceGap is the minimum time between two announcements of a session's facts.
const paceGap = 100 * time.Millisecond

// A pacer calls emit soon after each touch, but at most once in paceGap. Without touches, it needs
// no timer.
type pacer struct {
	emit func()

	mu      sync.Mutex
	last    time.Time
	timer   *time.Timer // set while an emit is due
	stopped bool
}

func newPacer(emit func()) *pacer { return &pacer{emit: emit} }

func (p *pacer) touch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped || p.timer != nil {
		return
	}
	wait := max(0, paceGap-time.Since(p.last))
	p.timer = time.AfterFunc(wait, p.fire)
}

func (p *pacer) fire() {
	p.mu.Lock()
	p.timer, p.last = nil, time.Now()
	stopped := p.stopped
	p.mu.Unlock()
	// The lock is not held here, because emit may call touch.
	if !stopped {
		p.emit()
	}
}

func (p *pacer) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	if p.timer != nil {
		p.timer.Stop()
	}
}
