package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"tandem/engine/api"
	"tandem/engine/api/wire"
)

var errViewerGone = api.Errorf(api.CodeUnavailable, "the viewer has disconnected")

// HandleAttach serves session.attach. f owns the connection until it returns. ctx is cancelled when
// the viewer disconnects or the engine stops.
//
// The first Send or Receive opens the connection. If f returns an error before that, the client's
// Attach returns it; later, the client's Receive does. One goroutine should always be in Receive,
// even for a read-only viewer, because only Receive detects that the viewer has disconnected.
func (m *Mux) HandleAttach(f func(ctx context.Context, o api.AttachOptions, v *Viewer) error) {
	entry, _ := api.Find(wire.AttachName)
	m.addRoute(wire.AttachName, http.MethodGet, func(w http.ResponseWriter, r *http.Request) {
		o, invalid := wire.ParseAttach(r.URL.Query(), mayBeNewer(r))
		if invalid == nil && !asksForMessages(r) && !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
			writeStatus(w, http.StatusUpgradeRequired,
				api.Errorf(api.CodeInvalid, "call %s: the request must ask for a WebSocket", wire.AttachName))
			return
		}
		var v *Viewer
		m.serve(w, r, &call{
			Entry: entry, effect: attachEffect(o), in: &o, lasting: true,
			read: func(http.ResponseWriter, *http.Request) *api.Error { return invalid },
			handle: func(ctx context.Context) (any, error) {
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				if o.Client == "" {
					o.Client = api.CallerOf(ctx).Name
				}
				v = &Viewer{w: w, r: r, ctx: ctx, cancel: cancel, direct: o.Direct}
				err := m.guardPanics(wire.AttachName, func() error { return f(ctx, o, v) })
				v.finish(err)
				return nil, err
			},
			answer: func(_ any, failure *api.Error) {
				if v == nil && failure != nil {
					writeError(w, failure)
				}
			},
		})
	})
}

// asksForMessages reports whether a request asks for messages without a WebSocket.
func asksForMessages(r *http.Request) bool { return r.Header.Get("Upgrade") == wire.MessageProtocol }

func attachEffect(o api.AttachOptions) api.Effect {
	if o.ReadOnly {
		return api.Read
	}
	return api.Write
}

// A Viewer is the engine's end of session.attach.
type Viewer struct {
	w      http.ResponseWriter
	r      *http.Request
	ctx    context.Context
	cancel context.CancelFunc

	once sync.Once // opens the connection, or decides that it stays closed
	conn wire.MessageConn
	err  error // why there is no conn

	direct      bool          // AttachOptions.Direct: it may pass its terminal
	descriptors *wire.Passing // the connection below conn, if it is this machine's socket; otherwise nil

	out []byte // Send's buffer
	in  []byte // Receive's buffer
}

// Resume tells the viewer what has become of its input so far. Call it before all other methods,
// because they open the connection.
func (v *Viewer) Resume(st api.InputState) { wire.SetInputState(v.w.Header(), st) }

// ensureOpen answers the upgrade request, once.
func (v *Viewer) ensureOpen() error {
	v.once.Do(func() {
		conn, err := v.upgrade()
		if err != nil {
			v.err = api.Errorf(api.CodeUnavailable, "open attachment: %v", wire.Root(err))
			v.cancel()
			return
		}
		v.conn = conn
		// Only closing interrupts a blocked read or write.
		context.AfterFunc(v.ctx, func() { conn.CloseNow() })
	})
	return v.err
}

// upgrade upgrades the connection to the protocol that the request asks for.
func (v *Viewer) upgrade() (wire.MessageConn, error) {
	w := &passingWriter{ResponseWriter: v.w, v: v}
	if !asksForMessages(v.r) {
		conn, err := websocket.Accept(w, v.r, nil)
		if err != nil {
			return nil, err
		}
		return wire.NewWebSocket(conn, wire.MaxInputMessage), nil
	}
	conn, ahead, err := switchProtocol(w, wire.MessageProtocol)
	if err != nil {
		return nil, err
	}
	return wire.NewFramed(io.MultiReader(ahead, conn), conn, wire.MaxInputMessage), nil
}

// finish closes the attachment after its handler has returned err.
func (v *Viewer) finish(err error) {
	refused := false
	v.once.Do(func() {
		refused = true
		v.err = errViewerGone
		if err == nil {
			err = api.Errorf(api.CodeUnavailable, "the engine closed the attachment immediately")
		}
		writeError(v.w, handlerError(err))
	})
	if refused || v.conn == nil {
		return
	}
	if err != nil && v.ctx.Err() == nil {
		if msg, e := wire.AppendJSON([]byte{wire.OutputError}, handlerError(err)); e == nil {
			_ = v.conn.Write(msg) // best effort: the viewer may be gone
		}
	}
	v.cancel()
	v.conn.CloseNow()
}

// Receive waits for the next input of the viewer. Its error is final, and cancels the context of
// the handler. Only one goroutine at a time may call Receive.
func (v *Viewer) Receive() (api.Input, error) {
	if err := v.ensureOpen(); err != nil {
		return api.Input{}, err
	}
	var in api.Input
	err := wire.ErrUnknownKind
	for errors.Is(err, wire.ErrUnknownKind) {
		var msg []byte
		if msg, err = v.conn.Read(v.in); err != nil {
			v.cancel()
			return api.Input{}, errViewerGone
		}
		v.in = wire.Reusable(msg)
		in, err = wire.DecodeInput(msg)
	}
	if err != nil {
		v.cancel()
		return api.Input{}, api.Errorf(api.CodeInvalid, "receive from viewer: %v", err)
	}
	return in, nil
}

// Send writes a message. It blocks while the viewer is slow. Only one goroutine at a time may call
// Send.
func (v *Viewer) Send(out api.Output) error {
	if err := v.ensureOpen(); err != nil {
		return err
	}
	if m := out.Master; m != nil && m.Lent && (!v.CanPass() || !v.giveMaster(m.File)) {
		out.Master = &api.Master{Refused: true}
	}
	msg, err := wire.AppendOutput(v.out[:0], out)
	if err != nil {
		return err
	}
	v.out = wire.Reusable(msg)
	if err := v.conn.Write(msg); err != nil {
		v.cancel()
		return errViewerGone
	}
	return nil
}
