package terminal

import (
	"sync"
	"time"

	"tandem/engine/api"
)

// marksLimit bounds the marks of one viewer that wait; beyond it the oldest go.
const marksLimit = 256

// marks are those that a viewer has put behind its input and that are still to be
// answered.
type marks struct {
	mu      sync.Mutex
	waiting []arrival
}

type arrival struct {
	n  uint64
	at time.Time
}

// add notes a mark, and calls ripe when it is due.
func (m *marks) add(n uint64, ripe func()) {
	m.mu.Lock()
	m.waiting = append(m.waiting, arrival{n, time.Now()})
	m.waiting = m.waiting[max(len(m.waiting)-marksLimit, 0):]
	m.mu.Unlock()
	time.AfterFunc(api.EchoTime, ripe)
}

// due takes the last mark after which the program has had its time; nil if there
// is none.
func (m *marks) due() *api.Mark {
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
