package engine

import "sync"

// A mailbox is the queue in front of the control goroutine. Posting never
// blocks, so a worker, a reader and the control goroutine itself may all post;
// what is queued is bounded by how many workers and requests there are.
type mailbox struct {
	mu    sync.Mutex
	queue []func()
	wake  chan struct{} // of 1
}

func newMailbox() *mailbox { return &mailbox{wake: make(chan struct{}, 1)} }

func (m *mailbox) post(f func()) {
	m.mu.Lock()
	m.queue = append(m.queue, f)
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (m *mailbox) take() []func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	queue := m.queue
	m.queue = nil
	return queue
}
