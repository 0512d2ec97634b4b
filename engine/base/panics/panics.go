// Package panics keeps a panic in a goroutine from crashing the engine: it passes the panic to the
// goroutine waiting for the result, or logs it if there is none.
package panics

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// A Caught is a recovered panic with its stack.
type Caught struct {
	Value any
	Stack string
}

func (c *Caught) String() string { return fmt.Sprint(c.Value) }

// Catch runs f and returns its panic, or nil.
func Catch(f func()) (c *Caught) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *Caught: // passed on from another goroutine
			c = p
		default:
			c = &Caught{p, string(debug.Stack())}
		}
	}()
	f()
	return nil
}

// Raise panics with c, unless c is nil.
func (c *Caught) Raise() {
	if c != nil {
		panic(c)
	}
}

// StackOf returns the stack of the panic with value p. Call it in the deferred function that
// recovered p.
func StackOf(p any) string {
	if c, ok := p.(*Caught); ok {
		return c.Stack
	}
	return string(debug.Stack())
}

// A Group is a set of goroutines. Wait passes their panics to its caller. The zero value is ready
// to use.
type Group struct {
	running sync.WaitGroup
	first   atomic.Pointer[Caught]
}

// Start runs f in a goroutine of the group.
func (g *Group) Start(f func()) {
	g.running.Go(func() {
		if c := Catch(f); c != nil {
			// Later panics are usually consequences of the first.
			g.first.CompareAndSwap(nil, c)
		}
	})
}

// Wait blocks until all goroutines of the group have returned, then panics with their first panic,
// if any.
func (g *Group) Wait() {
	g.running.Wait()
	g.first.Load().Raise()
}

// Log runs f and reports whether it panicked. It logs the panic with the name place, unless log is
// nil.
func Log(log *slog.Logger, place string, f func()) (panicked bool) {
	c := Catch(f)
	if c != nil && log != nil {
		log.Error("goroutine panicked", "at", place, "panic", c.String(), "stack", c.Stack)
	}
	return c != nil
}

// Logged returns a function that runs f with Log, for goroutines, timers and callbacks without a
// waiter.
func Logged(log *slog.Logger, place string, f func()) func() {
	return func() { Log(log, place, f) }
}

// restartPause is the delay before a loop runs again after a panic.
const restartPause = time.Second

// Restarted returns a loop that runs f, and again after each panic, until f returns or ctx ends.
func Restarted(ctx context.Context, log *slog.Logger, what string, f func()) func() {
	return func() {
		for Log(log, what, f) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(restartPause):
			}
		}
	}
}
