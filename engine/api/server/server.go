// Package server serves the operation table on a unix socket. It identifies callers, decodes
// requests and encodes answers. Handlers carry out the operations.
package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/wire"
	"tandem/engine/base/panics"
	"tandem/engine/base/secrets"
)

const (
	MaxRequestBody = 16 << 20
	shutdownGrace  = 2 * time.Second
	// headerTimeout is how long the headers of a request may take. Bodies and streams are not
	// limited.
	headerTimeout = 10 * time.Second
)

// A Mux serves operations at POST /v1/<name>, and the streams events.watch and session.attach.
// Register everything before the first request.
type Mux struct {
	routes map[string]route // by name
	Stall  time.Duration    // disconnect a watcher after this time without progress
	Log    *slog.Logger     // for panics of operations and errors of connections

	Version string // of this engine, for CodeNotSupported errors

	// Sandbox returns the sandbox configured for agents, which applies to those on other machines.
	// If Sandbox is nil, there is none.
	Sandbox func() (*api.Sandbox, error)

	// StartTime reads the start time of a process, in clock ticks since boot. If it is nil, an
	// engine on a kernel without SO_PEERPIDFD cannot distinguish a client from a later process with
	// the same PID.
	StartTime func(pid int) (uint64, bool)

	// Policy decides about an agent's call, and asks the user if necessary. It returns nil if the
	// call is allowed. By default, everything is.
	Policy func(ctx context.Context, e api.Entry, effect api.Effect, in any) error
	// Started, if set, is called with the id of a session or process that a call has started.
	Started func(ctx context.Context, id string)
	// Machines carries out calls on other machines. If it is nil, an input cannot name one.
	Machines Machines
	// Audit records calls of agents, and of other people of a fleet. If it is nil, nothing is
	// recorded.
	Audit Recorder
	// Secret reports whether the program in a session is waiting for a secret.
	Secret func(ctx context.Context, session string) bool

	check   Check
	bounds  boundsCache
	opened  *opened       // of Serve
	serving chan struct{} // closed once opened is set
	begin   sync.Once     // closes serving
	memory  reclaimer
}

// A Check inspects every call before it is served. It may reject the call with an error, or narrow
// its input. in is a pointer: for session.attach an *api.AttachOptions, and for events.watch an
// *api.WatchInput.
type Check func(ctx context.Context, name string, effect api.Effect, in any) error

type route struct {
	method string
	serve  func(http.ResponseWriter, *http.Request)
}

// NewMux returns a Mux without operations. It answers every call with CodeNotSupported. check may
// be nil.
func NewMux(check Check) *Mux {
	if check == nil {
		check = func(context.Context, string, api.Effect, any) error { return nil }
	}
	allow := func(context.Context, api.Entry, api.Effect, any) error { return nil }
	return &Mux{Policy: allow, routes: map[string]route{}, Stall: watchStall, Log: slog.Default(), check: check, serving: make(chan struct{})}
}

// Handle registers f for an operation. Errors other than *api.Error become CodeInternal. The
// context is cancelled when the client disconnects; CallerOf returns the client. Handle panics if
// the operation is already registered.
func Handle[In, Out any](m *Mux, op api.Operation[In, Out], f func(context.Context, In) (Out, error)) {
	served := operation{op.Entry, func() any { return new(In) }, func() any { return new(Out) }, func(ctx context.Context, in any) (any, error) {
		out, err := f(ctx, *in.(*In))
		return &out, err
	}}
	m.addRoute(op.Name, http.MethodPost, func(w http.ResponseWriter, r *http.Request) { m.serveOperation(w, r, served) })
}

// An operation is a registered operation without its types, so serveOperation is compiled only once
// for all of them.
type operation struct {
	api.Entry
	input  func() any                                     // a pointer to a zero input
	output func() any                                     // a pointer to a zero output
	run    func(ctx context.Context, in any) (any, error) // takes and returns pointers
}

func (m *Mux) serveOperation(w http.ResponseWriter, r *http.Request, op operation) {
	in := op.input()
	m.serve(w, r, &call{
		Entry: op.Entry, effect: op.Effect, in: in,
		read:   func(w http.ResponseWriter, r *http.Request) *api.Error { return readInput(w, r, op.Name, in) },
		output: op.output,
		handle: func(ctx context.Context) (any, error) { return op.run(ctx, in) },
		answer: func(out any, failure *api.Error) {
			if failure != nil {
				writeError(w, failure)
				return
			}
			m.memory.noteAnswer(writeOutput(w, r, out))
		},
	})
}

// readInput decodes the body of a request into in. An empty body is the zero input. If the client
// may be newer, unknown fields are listed in a header of the answer. Otherwise they are an error.
func readInput(w http.ResponseWriter, r *http.Request, name string, in any) *api.Error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxRequestBody))
	if err != nil {
		return bodyError(name, err)
	}
	if !mayBeNewer(r) {
		return api.DecodeInput(name, body, in)
	}
	ignored, refused := api.DecodeKnown(name, body, in)
	if len(ignored) > 0 {
		w.Header().Set(api.IgnoredHeader, strings.Join(ignored, ","))
	}
	return refused
}

func (m *Mux) addRoute(name, method string, serve func(http.ResponseWriter, *http.Request)) {
	if _, ok := m.routes[name]; ok {
		panic("api: operation " + name + " is handled twice")
	}
	m.routes[name] = route{method, serve}
}

// ServeHTTP answers one request. Every error is sent as an api.Error in JSON.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutPrefix(r.URL.Path, wire.RoutePrefix)
	rt, known := m.routes[name]
	switch {
	case !ok:
		writeError(w, api.Errorf(api.CodeNotFound, "call %s: no such path", r.URL.Path).
			WithHint("operations are below "+wire.RoutePrefix+"; docs/api.md lists them"))
	case !known:
		writeError(w, api.Errorf(api.CodeNotSupported, "call %s: the engine (version %s) has no such operation", name, cmp.Or(m.Version, "unknown")).
			WithHint("install a newer tandem there; its first client replaces the engine; sessions and processes keep running"))
	case r.Method != rt.method:
		w.Header().Set("Allow", rt.method)
		writeStatus(w, http.StatusMethodNotAllowed,
			api.Errorf(api.CodeInvalid, "call %s: the method must be %s, not %s", name, rt.method, r.Method))
	case !isUnderstood(r, name):
		writeError(w, api.Errorf(api.CodeConflict, "call %s: the engine speaks protocol %d now, the client %s",
			name, api.Protocol, r.Header.Get(api.ProtocolHeader)).WithHint("run the engine's version of this program"))
	default:
		rt.serve(w, r)
	}
}

// guardPanics converts a panic of f to an error, so a bug in one operation fails only its own call.
func (m *Mux) guardPanics(name string, f func() error) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		// net/http uses this one itself to abort a response.
		if p == http.ErrAbortHandler {
			panic(p)
		}
		m.Log.Error("operation panicked", "operation", name, "panic", fmt.Sprint(p), "stack", panics.StackOf(p))
		err = api.Errorf(api.CodeInternal, "call %s: internal error in the engine: %s", name, secrets.RedactLine(fmt.Sprint(p))).
			WithHint("engine.log has the details")
	}()
	return f()
}

// Serve answers requests from l until ctx is done. Then it cancels the contexts of running
// operations, gives them two seconds to finish, and returns nil.
func (m *Mux) Serve(ctx context.Context, l net.Listener) error {
	m.opened = newOpened()
	m.begin.Do(func() { close(m.serving) })
	s := &http.Server{
		Handler:     m,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: m.withPeer,

		ReadHeaderTimeout: headerTimeout,

		ErrorLog: slog.NewLogLogger(m.Log.Handler(), slog.LevelWarn),
	}
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
		defer cancel()
		if s.Shutdown(grace) != nil {
			s.Close()
		}
	})
	// On return, close opened first. Only then do its server and the copies of joinConns return.
	var second sync.WaitGroup
	defer second.Wait()
	second.Go(func() { _ = s.Serve(m.opened) }) // returns when opened is closed below
	defer m.opened.both.Wait()
	defer m.opened.Close()
	err := s.Serve(l)
	if stop() {
		s.Close()
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	}
	<-done
	return nil
}

func bodyError(name string, err error) *api.Error {
	var big *http.MaxBytesError
	if errors.As(err, &big) {
		return api.Errorf(api.CodeInvalid, "call %s: the input is larger than %d bytes", name, big.Limit)
	}
	return api.Errorf(api.CodeInvalid, "call %s: read input: %v", name, err)
}

// handlerError returns the error to send for an error of an operation. If its context was
// cancelled, the engine is stopping: a client that has disconnected would not see the answer.
func handlerError(err error) *api.Error {
	if errors.Is(err, context.Canceled) {
		return api.AsError(api.ErrEnding())
	}
	return api.AsError(err)
}

func writeError(w http.ResponseWriter, e *api.Error) { writeStatus(w, e.Code.Status(), e) }

func writeStatus(w http.ResponseWriter, status int, e *api.Error) { writeJSON(w, status, e) }

// writeJSON answers with v and returns the size of the answer.
func writeJSON(w http.ResponseWriter, status int, v any) (size int) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false) // values of files.read_json stay as written
	if err := encoder.Encode(v); err != nil {
		status = http.StatusInternalServerError
		body.Reset()
		_ = encoder.Encode(api.Errorf(api.CodeInternal, "encode answer: %v", err)) // cannot fail
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(status)
	size = body.Len() - len("\n")
	// If a write fails, the client has disconnected, so the error cannot be reported.
	_, _ = body.WriteTo(w)
	return size
}
