// Package panics carries a panic from one goroutine to another that waits for it, so
// that it ends what was asked for and not the engine.
package panics

import (
	"fmt"
	"runtime/debug"
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
