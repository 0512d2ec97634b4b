// Package server serves the operation table on a unix socket: who calls, what
// they send, and what a handler answers. What an operation does is its
// handler's.
package server

import (
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
	"tandem/engine/panics"
	"tandem/engine/secrets"
)

const (
	MaxRequestBody = 16 << 20
	shutdownGrace  = 2 * time.Second
	// headerTimeout is how long a connection may take to say what it asks for. It
	// ends with the headers of each request: what is streamed then takes its time.
	headerTimeout = 10 * time.Second
)

// A Mux serves operations under POST /v1/<name>, events.watch and
// session.attach. Register everything before the first request.
type Mux struct {
	routes map[string]route // by name
	Stall  time.Duration    // how long a watcher may take nothing
	Log    *slog.Logger     // gets panics of operations and errors of connections

	Version string // of this engine, told to who asks for what it does not have

	// Sandbox is what the configuration holds agents to, for those that come from other
	// machines; nil: to none.
	Sandbox func() (*api.Sandbox, error)

	// StartTime reads the start time of a process, in clock ticks since boot; nil: clients are not
	// told apart from others that have their id later, where the kernel gives no pidfd of them.
	StartTime func(pid int) (uint64, bool)

	// Visited is told of what somebody from the fleet did who is no agent, or was refused; nil: nobody is.
	Visited func(ctx context.Context, v Visit)

	policy  func(context.Context, api.PolicyCheckInput) (api.PolicyCheckOutput, error) // what serves policy.check
	check   Check
	bounds  boundsCache
	opened  *opened       // of Serve
	serving chan struct{} // is closed once it is there
	begin   sync.Once     // closes serving
	typing  typing
	memory  reclaimer
}

// A Check looks at every call before it is served: it refuses it with an error,
// or narrows its input, which in points to. For session.attach that is an
// *AttachOptions, for events.watch a *WatchInput.
type Check func(ctx context.Context, name string, effect api.Effect, in any) error

type route struct {
	method string
	serve  func(http.ResponseWriter, *http.Request)
}

// NewMux returns a Mux that answers CodeNotSupported to everything. check may be nil.
func NewMux(check Check) *Mux {
	if check == nil {
		check = func(context.Context, string, api.Effect, any) error { return nil }
	}
	return &Mux{routes: map[string]route{}, Stall: watchStall, Log: slog.Default(), check: check, serving: make(chan struct{})}
}

// Handle serves an operation. Errors that are no *Error become CodeInternal.
// The context ends when the client goes away; CallerOf tells who it is.
// Handling one operation twice is a mistake of the program and panics. What
// serves PolicyCheck judges requests for other operations that ask for it.
func Handle[In, Out any](m *Mux, op api.Operation[In, Out], f func(context.Context, In) (Out, error)) {
	if op.Name == api.PolicyCheck.Name {
		m.policy, _ = any(f).(func(context.Context, api.PolicyCheckInput) (api.PolicyCheckOutput, error))
	}
	served := operation{op.Name, op.Effect, func() any { return new(In) }, func(ctx context.Context, in any) (any, error) {
		out, err := f(ctx, *in.(*In))
		return &out, err
	}}
	m.add(op.Name, http.MethodPost, func(w http.ResponseWriter, r *http.Request) { m.serve(w, r, served) })
}

// An operation is what Handle serves, without its types: the compiler makes what has
// them anew for every operation.
type operation struct {
	name   string
	effect api.Effect
	input  func() any                                     // a pointer to a zero input
	run    func(ctx context.Context, in any) (any, error) // takes and returns pointers
}

func (m *Mux) serve(w http.ResponseWriter, r *http.Request, op operation) {
	ctx, wrong := m.withCaller(r)
	in := op.input()
	if wrong == nil {
		wrong = m.readInput(ctx, w, r, op.name, in)
	}
	if wrong != nil {
		writeError(w, wrong)
		return
	}
	var out any
	began := time.Now()
	err := m.guard(op.name, func() (err error) {
		if err = m.allow(ctx, op.name, op.effect, in); err == nil {
			out, err = op.run(ctx, in)
		}
		return err
	})
	m.visited(ctx, op.name, op.effect, in, began, err)
	if err != nil {
		writeError(w, handlerError(err))
		return
	}
	m.memory.note(writeOutput(w, r, out))
}

// allow is the check of a call, behind what the connection may be used for.
func (m *Mux) allow(ctx context.Context, name string, effect api.Effect, in any) error {
	origin := CallerOf(ctx).Origin
	switch {
	case origin.ReadOnly && effect != api.Read:
		return api.Errorf(api.CodeForbidden, "call %s: this connection may only read", name).
			WithHint("the machine lets this key in with `tandem bridge --read-only`")
	case origin.From != "" && name == wire.OpenName:
		return api.Errorf(api.CodeForbidden, "call %s: a connection from %s leads no further", name, origin.From)
	}
	return m.check(ctx, name, effect, in)
}

func (m *Mux) add(name, method string, serve func(http.ResponseWriter, *http.Request)) {
	if _, ok := m.routes[name]; ok {
		panic("api: operation " + name + " is handled twice")
	}
	m.routes[name] = route{method, serve}
}

// ServeHTTP answers one request; every error it answers with is an Error in JSON.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutPrefix(r.URL.Path, wire.RoutePrefix)
	rt, known := m.routes[name]
	switch {
	case !ok:
		writeError(w, api.Errorf(api.CodeNotFound, "call %s: no such path", r.URL.Path).
			WithHint("operations are below "+wire.RoutePrefix+"; docs/api.md lists them"))
	case !known:
		writeError(w, api.Errorf(api.CodeNotSupported, "call %s: the engine, of version %s, has no such operation", name, cmp.Or(m.Version, "unknown")).
			WithHint("install a newer tandem there; its first client replaces the engine, and sessions and processes go on"))
	case r.Method != rt.method:
		w.Header().Set("Allow", rt.method)
		writeStatus(w, http.StatusMethodNotAllowed,
			api.Errorf(api.CodeInvalid, "call %s: the method is %s, not %s", name, rt.method, r.Method))
	case !understood(r, name):
		writeError(w, api.Errorf(api.CodeConflict, "call %s: the engine speaks protocol %d now, the client %s",
			name, api.Protocol, r.Header.Get(api.ProtocolHeader)).WithHint("start this program again in the engine's version"))
	default:
		rt.serve(w, r)
	}
}

// guard turns a panic of f into an error, so that one operation's mistake
// costs nobody else anything and its client gets an answer.
func (m *Mux) guard(name string, f func() error) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if p == http.ErrAbortHandler {
			panic(p)
		}
		m.Log.Error("operation panicked", "operation", name, "panic", fmt.Sprint(p), "stack", panics.StackOf(p))
		err = api.Errorf(api.CodeInternal, "call %s: the engine made a mistake: %s", name, secrets.RedactLine(fmt.Sprint(p))).
			WithHint("engine.log has the details")
	}()
	return f()
}

// Serve answers requests from l until ctx ends; then it lets running
// operations finish for a moment, their contexts cancelled, and returns nil.
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
	var second sync.WaitGroup
	defer second.Wait()
	second.Go(func() { _ = s.Serve(m.opened) }) // it ends with the other one
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

// bodyError says why a request's body could not be read.
func bodyError(name string, err error) *api.Error {
	var big *http.MaxBytesError
	if errors.As(err, &big) {
		return api.Errorf(api.CodeInvalid, "call %s: the input is larger than %d bytes", name, big.Limit)
	}
	return api.Errorf(api.CodeInvalid, "call %s: read input: %v", name, err)
}

// handlerError is what goes over the wire for an operation's error. A context
// that ended under it means that the engine stops, as nobody else is told.
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
	body, err := json.Marshal(v)
	if err != nil {
		status = http.StatusInternalServerError
		body, _ = json.Marshal(api.Errorf(api.CodeInternal, "encode answer: %v", err))
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)+1))
	w.WriteHeader(status)
	// A failed write means that the client has gone, and nobody is left to tell.
	_, _ = w.Write(body)
	_, _ = io.WriteString(w, "\n")
	return len(body)
}
