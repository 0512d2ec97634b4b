package page

import (
	"context"
	"sync"

	"tandem/engine/api/client"
)

// engines are the connections shared by all devices: to this machine's engine and to other
// machines in use.
type engines struct {
	dial func(ctx context.Context, machine string) (*client.Client, error)

	mu    sync.Mutex
	known map[string]*client.Client
}

func (e *engines) connectTo(ctx context.Context, machine string) (*client.Client, error) {
	e.mu.Lock()
	c := e.known[machine]
	e.mu.Unlock()
	if c != nil {
		return c, nil
	}
	// Dial without holding the lock, because a slow machine must not block the others.
	c, err := e.dial(ctx, machine)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	// Another request was faster.
	if other := e.known[machine]; other != nil {
		c.Close()
		return other, nil
	}
	if e.known == nil {
		e.known = map[string]*client.Client{}
	}
	e.known[machine] = c
	return c, nil
}

func (e *engines) closeAll() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.known {
		c.Close()
	}
	e.known = nil
}
