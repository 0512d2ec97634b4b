package keeper

import "sync"

// An exitQueue stands between the connection's reader and whoever receives
// exits, so that a receiver that waits for a reply at that moment holds up
// nothing. It grows by at most one entry a child.
type exitQueue struct {
	out       chan Child
	abandoned chan struct{} // closed by abandon
	once      sync.Once

	mu       sync.Mutex // guards what follows
	pending  []Child
	finished bool
	wake     chan struct{} // has room for one
}

// newExitQueue starts a goroutine that ends some time after finish: once all was
// delivered or the queue was abandoned.
func newExitQueue() *exitQueue {
	q := &exitQueue{out: make(chan Child), abandoned: make(chan struct{}), wake: make(chan struct{}, 1)}
	go q.deliver()
	return q
}

func (q *exitQueue) add(c Child) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pending = append(q.pending, c)
	q.signal()
}

// finish closes out behind what is pending.
func (q *exitQueue) finish() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.finished = true
	q.signal()
}

// abandon says that nobody needs to receive any more.
func (q *exitQueue) abandon() { q.once.Do(func() { close(q.abandoned) }) }

func (q *exitQueue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *exitQueue) deliver() {
	defer close(q.out)
	for {
		batch, finished := q.take()
		for _, c := range batch {
			select {
			case q.out <- c:
			case <-q.abandoned:
				return
			}
		}
		if finished {
			return
		}
		select {
		case <-q.wake:
		case <-q.abandoned:
			return
		}
	}
}

func (q *exitQueue) take() (batch []Child, finished bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch, q.pending = q.pending, nil
	return batch, q.finished
}
