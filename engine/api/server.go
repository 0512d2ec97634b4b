package api

import (
	"context"
	"net"
	"net/http"
)

// A Mux serves operations under POST /v1/<name>, events.watch and
// session.attach.
type Mux struct{}

// NewMux returns a Mux that answers CodeNotFound to everything.
func NewMux() *Mux { panic("not written") }

// Handle serves an operation. Errors that are no *Error become CodeInternal.
func Handle[In, Out any](m *Mux, op Operation[In, Out], f func(context.Context, In) (Out, error)) {
	panic("not written")
}

// HandleWatch serves events.watch: f sends a snapshot and then what changes
// until ctx ends or send fails.
func (m *Mux) HandleWatch(f func(ctx context.Context, send func(Event) error) error) {
	panic("not written")
}

// HandleAttach serves session.attach. f has the connection until it returns;
// an error it returns before the first Send reaches the client's Attach.
func (m *Mux) HandleAttach(f func(ctx context.Context, o AttachOptions, v *Viewer) error) {
	panic("not written")
}

func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) { panic("not written") }

// A Viewer is the engine's end of session.attach.
type Viewer struct{}

// Receive waits for the viewer's next input; its error is final.
func (v *Viewer) Receive() (Input, error) { panic("not written") }

// Send writes a message and blocks while the viewer is slow. One goroutine at
// a time.
func (v *Viewer) Send(out Output) error { panic("not written") }

// Listen makes the engine's unix socket at path, mode 0600, replacing a stale
// one; connections of other users are closed at once.
func Listen(path string) (net.Listener, error) { panic("not written") }
