package page

import (
	"context"
	"sync"

	"tandem/engine/api/client"
)

// engines are the connections that all devices share: one to this machine's engine, and one
// to each other machine that was asked for.
type engines struct {
	connect func(ctx context.Context, machine string) (*client.Client, error)

	mu    sync.Mutex
	known map[string]*client.Client
}

func (e *engines) of(ctx context.Context, machine string) (*client.Client, error) {
	e.mu.Lock()
	c := e.known[machine]
	e.mu.Unlock()
	if c != nil {
		return c, nil
	}
	c, err := e.connect(ctx, machine)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
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

func (e *engines) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.known {
		c.Close()
	}
	e.known = nil
}
