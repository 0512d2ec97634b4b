package files

import (
	"context"
	"sync"
)

// Locks prevent concurrent changes of one file. The zero value is ready for use.
type Locks struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed on release
}

// acquireLock waits until path is free and locks it. With nil Locks it does nothing.
func (l *Locks) acquireLock(ctx context.Context, path string) (release func(), err error) {
	if l == nil {
		return func() {}, nil
	}
	for {
		free := l.tryLock(path)
		if free == nil {
			return func() { l.releaseLock(path) }, nil
		}
		select {
		case <-free:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// tryLock locks path, or returns a channel to wait for its release.
func (l *Locks) tryLock(path string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if free, ok := l.held[path]; ok {
		return free
	}
	if l.held == nil {
		l.held = make(map[string]chan struct{})
	}
	l.held[path] = make(chan struct{})
	return nil
}

func (l *Locks) releaseLock(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// Waiters try again in tryLock; only one of them wins.
	close(l.held[path])
	delete(l.held, path)
}
