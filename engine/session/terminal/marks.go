package terminal

import (
	"sync"
	"time"

	"tandem/engine/api"
)

// maxMarks bounds a viewer's pending marks; the oldest are dropped.
const maxMarks = 256

// marks are a viewer's unanswered marks in its input.
type marks struct {
	mu      sync.Mutex
	waiting []arrival
}

type arrival struct {
	n  uint64
	at time.Time
}

// addMark records a mark and calls ripe when it is due.
func (m *marks) addMark(n uint64, ripe func()) {
	m.mu.Lock()
	m.waiting = append(m.waiting, arrival{n, time.Now()})
	m.waiting = m.waiting[max(len(m.waiting)-maxMarks, 0):]
	m.mu.Unlock()
	time.AfterFunc(api.EchoTime, ripe)
}

// takeDue removes and returns the last due mark; nil if there is none.
func (m *marks) takeDue() *api.Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	var due *api.Mark
	for len(m.waiting) > 0 {
		held := time.Since(m.waiting[0].at)
		if held < api.EchoTime {
			break
		}
		due = &api.Mark{N: m.waiting[0].n, Held: held}
		m.waiting = m.waiting[1:]
	}
	return due
}
