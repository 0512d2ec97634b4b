package terminal

import (
	"sync"
	"time"

	"tandem/engine/api"
)

// maxMarks is how many marks of a viewer may be pending. The oldest are dropped.
const maxMarks = 256

// marks are the marks in a viewer's input that have not been answered yet.
type marks struct {
	mu      sync.Mutex
	waiting []arrival
}

type arrival struct {
	n  uint64
	at time.Time
}

// addMark records a mark and calls ripe when the mark is due.
func (m *marks) addMark(n uint64, ripe func()) {
	m.mu.Lock()
	m.waiting = append(m.waiting, arrival{n, time.Now()})
	m.waiting = m.waiting[max(len(m.waiting)-maxMarks, 0):]
	m.mu.Unlock()
	time.AfterFunc(api.EchoTime, ripe)
}

// takeDue removes all marks that are due and returns the last one. It returns nil if none is.
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
