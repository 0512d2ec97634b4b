package httplimit

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A pipeListener returns a connection for each Accept.
type pipeListener struct{ net.Listener }

func (pipeListener) Accept() (net.Conn, error) {
	ours, theirs := net.Pipe()
	theirs.Close()
	return ours, nil
}

func (pipeListener) Close() error { return nil }

func TestConnectionsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := LimitConnections(pipeListener{}, 2)
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
			t.Error("a third connection was accepted")
		}
		second.Close()
		second.Close() // has no further effect
		synctest.Wait()
		if len(got) != 1 || <-got != nil {
			t.Error("no connection was accepted after a close")
		}
		go accept()
		synctest.Wait()
		if len(got) != 0 {
			t.Error("closing twice made room twice")
		}
		l.Close()
		if err := <-got; err != net.ErrClosed {
			t.Error(err)
		}
		first.Close()
	})
}

// A singleListener accepts one connection.
type singleListener struct {
	net.Listener
	conns chan net.Conn
}

func (s singleListener) Accept() (net.Conn, error) {
	c, ok := <-s.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (s singleListener) Close() error { return nil }

func TestBodyLimitsTotalAndIdleTime(t *testing.T) {
	const total, idle = time.Minute, 10 * time.Second
	for name, c := range map[string]struct {
		bytes int
		pause time.Duration // before each byte
		want  time.Duration // until reading the body fails; 0 if it succeeds
	}{
		"fast":          {bytes: 5},
		"slow":          {bytes: 5, pause: 9 * time.Second},
		"long pause":    {bytes: 5, pause: 11 * time.Second, want: idle},
		"slow and long": {bytes: 50, pause: 9 * time.Second, want: total},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				l := singleListener{conns: make(chan net.Conn, 1)}
				l.conns <- ours
				began := time.Now()
				failed := make(chan time.Duration, 1)
				s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					LimitBody(w, r, total, idle)
					if _, err := io.ReadAll(r.Body); err != nil {
						failed <- time.Since(began)
						return
					}
					failed <- 0
					time.Sleep(time.Hour) // the limits end with the body
					if err := r.Context().Err(); err != nil {
						t.Errorf("the request was cancelled before its response: %v", err)
					}
				})}
				go func() { _ = s.Serve(l) }()
				var sending sync.WaitGroup
				defer sending.Wait()
				sending.Go(func() {
					fmt.Fprintf(theirs, "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", c.bytes)
					for range c.bytes {
						time.Sleep(c.pause)
						if _, err := theirs.Write([]byte("a")); err != nil {
							return
						}
					}
				})
				answer, err := http.ReadResponse(bufio.NewReader(theirs), nil)
				if got := <-failed; got != c.want {
					t.Errorf("reading the body failed after %v, want %v (0: no failure)", got, c.want)
				}
				if c.want == 0 && (err != nil || answer.StatusCode != http.StatusOK) {
					t.Errorf("response %v, %v, want status 200", answer, err)
				}
				theirs.Close()
				close(l.conns)
				s.Close()
			})
		})
	}
}
