// Package panics keeps a panic from ending the engine: it carries one to the goroutine
// that waits for the result, or logs one that nobody waits for.
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

// A Caught panic is what a goroutine panicked with, and where.
type Caught struct {
	Value any
	Stack string
}

func (c *Caught) String() string { return fmt.Sprint(c.Value) }

// Catch runs f and gives what it panics with; nil if it does not.
func Catch(f func()) (c *Caught) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *Caught: // carried here already
			c = p
		default:
			c = &Caught{p, string(debug.Stack())}
		}
	}()
	f()
	return nil
}

// Raise panics with what was caught elsewhere, if anything was.
func (c *Caught) Raise() {
	if c != nil {
		panic(c)
	}
}

// StackOf is where a value was panicked with that was recovered just now.
func StackOf(p any) string {
	if c, ok := p.(*Caught); ok {
		return c.Stack
	}
	return string(debug.Stack())
}

// A Group is a set of goroutines whose panics reach the goroutine that waits for them.
// The zero value is ready for use.
type Group struct {
	running sync.WaitGroup
	first   atomic.Pointer[Caught]
}

// Start runs f on a goroutine of the group.
func (g *Group) Start(f func()) {
	g.running.Go(func() {
		if c := Catch(f); c != nil {
			g.first.CompareAndSwap(nil, c)
		}
	})
}

// Wait blocks until all goroutines of the group have returned, and panics with the first
// panic among them.
func (g *Group) Wait() {
	g.running.Wait()
	g.first.Load().Raise()
}

// Log runs f, logs what it panics with under what, unless log is nil, and reports whether
// it panicked.
func Log(log *slog.Logger, what string, f func()) (panicked bool) {
	c := Catch(f)
	if c != nil && log != nil {
		log.Error("goroutine panicked", "at", what, "panic", c.String(), "stack", c.Stack)
	}
	return c != nil
}

// Logged returns f for a goroutine, timer or callback that nobody waits for, run by Log.
func Logged(log *slog.Logger, what string, f func()) func() {
	return func() { Log(log, what, f) }
}

// restartPause is the time before a loop that panicked runs again.
const restartPause = time.Second

// Restarted returns a loop that runs f again, a moment after it panicked, until f returns
// or ctx ends.
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
