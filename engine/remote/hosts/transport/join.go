package transport

import (
	"io"
	"sync"
)

// Join copies data between two connections in both directions until either ends, then closes both.
func Join(a, b io.ReadWriteCloser) {
	var both sync.WaitGroup
	pass := func(to, from io.ReadWriteCloser) {
		_, _ = io.Copy(to, from) // an error ends the connection like its end
		a.Close()
		b.Close()
	}
	both.Go(func() { pass(a, b) })
	both.Go(func() { pass(b, a) })
	both.Wait()
}

// Pipes joins the ends of a program's standard streams to one connection.
type Pipes struct {
	io.Reader
	io.Writer
	Hangup func() error
}

func (p Pipes) Close() error { return p.Hangup() }
