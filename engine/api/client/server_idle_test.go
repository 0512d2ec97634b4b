package client

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
)

// pipes is a listener whose connections are pipes, so they work with fake time.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Net: "unix", Name: "pipes"} }

func (p pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p <- theirs
	return ours
}

// connect returns a client whose connections are pipes. dialed counts them.
func (p pipes) connect(t *testing.T, dialed *atomic.Int32) *Client {
	c := newClient(Options{DataDir: t.TempDir()})
	t.Cleanup(c.Close)
	c.http.Transport = &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		dialed.Add(1)
		return p.dial(), nil
	}}
	return c
}

// withPipes serves a Mux in a bubble of fake time.
func withPipes(t *testing.T, m *server.Mux, f func(t *testing.T, p pipes)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		p := make(pipes)
		done := make(chan error, 1)
		go func() { done <- m.Serve(ctx, p) }()
		f(t, p)
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestUnfinishedRequestIsDisconnected(t *testing.T) {
	withPipes(t, infoMux("1"), func(t *testing.T, p pipes) {
		for _, begun := range []string{"", "POST /v1/engine.info HTTP/1.1\r\nHost: tandem\r\nX-Slow: "} {
			c := p.dial()
			if _, err := io.WriteString(c, begun); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if err := c.SetReadDeadline(began.Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, c); err != nil || time.Since(began) > time.Minute {
				t.Errorf("after %q: closed after %v, %v", begun, time.Since(began), err)
			}
			c.Close()
		}
	})
}

// A stream, an attachment, and a connection that waits for its next request may last as long as
// they want.
func TestRunningCallsAndStreamsAreNotDisconnected(t *testing.T) {
	m := attachMux(echo)
	withPipes(t, m, func(t *testing.T, p pipes) {
		say := make(chan api.Event)
		m.HandleWatch(func(ctx context.Context, _ api.WatchInput, send func(api.Event) error) error {
			for {
				select {
				case e := <-say:
					if err := send(e); err != nil {
						return err
					}
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		})
		var dialed atomic.Int32
		c := p.connect(t, &dialed)
		heard := make(chan api.Event, 9)
		go func() {
			for e := range c.Watch(t.Context()) {
				heard <- e
			}
		}()
		a, err := c.Attach(t.Context(), api.AttachOptions{ID: "a"})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		for n := range int64(3) {
			say <- api.Event{Type: api.EventHistory, History: n}
			if e := <-heard; e.History != n {
				t.Errorf("event %+v", e)
			}
			if err := a.Send(api.Input{Bytes: []byte("x")}); err != nil {
				t.Error(err)
			}
			if out, err := a.Receive(); err != nil || string(out.Bytes) != "x" {
				t.Errorf("output %+v, error %v", out, err)
			}
			if _, err := api.EngineInfo.Call(t.Context(), c, api.Empty{}); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Hour) // of the bubble
		}
		if n := dialed.Load(); n != 3 {
			t.Errorf("%d connections", n)
		}
	})
}
