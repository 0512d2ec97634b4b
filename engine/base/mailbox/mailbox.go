// Package mailbox provides an unbounded queue for a goroutine that owns state.
package mailbox

import "sync"

// A Mailbox is a queue of functions for one goroutine. Post never blocks, so workers, readers and
// the owning goroutine itself may all post. The number of workers and requests bounds its length.
type Mailbox struct {
	mu    sync.Mutex
	queue []func()
	Wake  chan struct{} // buffered, capacity 1; receives a token after each Post
}

func New() *Mailbox { return &Mailbox{Wake: make(chan struct{}, 1)} }

func (m *Mailbox) Post(f func()) {
	m.mu.Lock()
	m.queue = append(m.queue, f)
	m.mu.Unlock()
	// A token that is still there stands for this function as well.
	select {
	case m.Wake <- struct{}{}:
	default:
	}
}

// Take removes and returns all queued functions, oldest first.
func (m *Mailbox) Take() []func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	queue := m.queue
	m.queue = nil
	return queue
}
