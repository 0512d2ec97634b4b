// Package mailbox is the queue in front of a goroutine that owns state: posting to it never blocks.
package mailbox

import "sync"

// A Mailbox is the queue in front of a goroutine. Posting never
// blocks, so a worker, a reader and the control goroutine itself may all post;
// what is queued is bounded by how many workers and requests there are.
type Mailbox struct {
	mu    sync.Mutex
	queue []func()
	Wake  chan struct{} // of 1; gets a token when something was posted
}

// New gives an empty mailbox.
func New() *Mailbox { return &Mailbox{Wake: make(chan struct{}, 1)} }

// Post queues f.
func (m *Mailbox) Post(f func()) {
	m.mu.Lock()
	m.queue = append(m.queue, f)
	m.mu.Unlock()
	select {
	case m.Wake <- struct{}{}:
	default:
	}
}

// Take gives all that is queued, oldest first.
func (m *Mailbox) Take() []func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	queue := m.queue
	m.queue = nil
	return queue
}
