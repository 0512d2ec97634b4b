package files

import (
	"context"
	"sync"
)

// Locks keep two calls from changing one file at once. The zero value is ready.
type Locks struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when it is free
}

// take waits until path is free and gives it back with release.
func (l *Locks) take(ctx context.Context, path string) (release func(), err error) {
	if l == nil {
		return func() {}, nil
	}
	for {
		free := l.try(path)
		if free == nil {
			return func() { l.release(path) }, nil
		}
		select {
		case <-free:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// try takes path, or tells when it will be free.
func (l *Locks) try(path string) <-chan struct{} {
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

func (l *Locks) release(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.held[path])
	delete(l.held, path)
}
