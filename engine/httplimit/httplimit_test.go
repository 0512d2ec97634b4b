package httplimit

import (
	"net"
	"testing"
	"testing/synctest"
)

// A connected listener gives connections as they are asked for.
type connected struct{ net.Listener }

func (connected) Accept() (net.Conn, error) {
	ours, theirs := net.Pipe()
	theirs.Close()
	return ours, nil
}

func (connected) Close() error { return nil }

func TestConnectionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Connections(connected{}, 2)
		first, _ := l.Accept()
		second, _ := l.Accept()
		got := make(chan error, 1)
		accept := func() {
			_, err := l.Accept()
			got <- err
		}
		go accept()
		synctest.Wait()
		if len(got) != 0 {
			t.Error("a third one was let in")
		}
		second.Close()
		second.Close() // of one place
		synctest.Wait()
		if len(got) != 1 || <-got != nil {
			t.Error("a place that is free again stays empty")
		}
		go accept()
		synctest.Wait()
		if len(got) != 0 {
			t.Error("a place was given back twice")
		}
		l.Close()
		if err := <-got; err != net.ErrClosed {
			t.Error(err)
		}
		first.Close()
	})
}
