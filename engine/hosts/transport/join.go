package transport

import (
	"io"
	"sync"
)

// Join passes bytes between two connections until either ends, and closes both.
func Join(a, b io.ReadWriteCloser) {
	var both sync.WaitGroup
	pass := func(to, from io.ReadWriteCloser) {
		_, _ = io.Copy(to, from) // that one of them ends is how it ends
		a.Close()
		b.Close()
	}
	both.Go(func() { pass(a, b) })
	both.Go(func() { pass(b, a) })
	both.Wait()
}

// Pipes are the two ends of a program's standard streams as one connection.
type Pipes struct {
	io.Reader
	io.Writer
	Hangup func() error
}

// Close hangs up.
func (p Pipes) Close() error { return p.Hangup() }
