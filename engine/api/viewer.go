package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/coder/websocket"
)

const (
	attachName = "session.attach"

	// keepBuffer is the largest buffer that is kept for the next message.
	keepBuffer = 256 << 10
)

var errViewerGone = Errorf(CodeUnavailable, "the viewer has gone")

// HandleAttach serves session.attach. f has the connection until it returns;
// ctx ends when the viewer goes or the engine stops. The connection is only
// opened by the first Send or Receive: an error that f returns before either
// reaches the client's Attach, a later one its Receive. A goroutine should be
// in Receive all the time, also for a viewer that may not type, as that is how
// it is noticed that a viewer has gone.
func (m *Mux) HandleAttach(f func(ctx context.Context, o AttachOptions, v *Viewer) error) {
	m.add(attachName, http.MethodGet, func(w http.ResponseWriter, r *http.Request) {
		o, invalid := parseAttach(r.URL.Query())
		if invalid != nil {
			writeError(w, invalid)
			return
		}
		if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
			writeStatus(w, http.StatusUpgradeRequired,
				Errorf(CodeInvalid, "call %s: it is a websocket, and the request does not ask for one", attachName))
			return
		}
		ctx, invalid := m.withCaller(r)
		if invalid != nil {
			writeError(w, invalid)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if o.Client == "" {
			o.Client = CallerOf(ctx).Name
		}
		v := &Viewer{w: w, r: r, ctx: ctx, cancel: cancel}
		v.finish(guard(attachName, func() error {
			if err := m.gate(ctx, attachName, attachEffect(o), &o); err != nil {
				return err
			}
			return f(ctx, o, v)
		}))
	})
}

// attachEffect is what a viewer may change.
func attachEffect(o AttachOptions) Effect {
	if o.ReadOnly {
		return Read
	}
	return Write
}

// A Viewer is the engine's end of session.attach.
type Viewer struct {
	w      http.ResponseWriter
	r      *http.Request
	ctx    context.Context
	cancel context.CancelFunc

	once sync.Once // opens the connection, or decides that it stays closed
	conn *websocket.Conn
	err  error // why there is no conn

	out []byte // Send's buffer
	in  []byte // Receive's buffer
}

// open answers the upgrade request.
func (v *Viewer) open() error {
	v.once.Do(func() {
		conn, err := websocket.Accept(v.w, v.r, nil)
		if err != nil {
			v.err = Errorf(CodeUnavailable, "open attachment: %v", root(err))
			v.cancel()
			return
		}
		conn.SetReadLimit(maxInputMessage)
		v.conn = conn
		// Closing is what ends a read or write that waits.
		context.AfterFunc(v.ctx, func() { conn.CloseNow() })
	})
	return v.err
}

// finish ends the attachment after its handler has returned err.
func (v *Viewer) finish(err error) {
	refused := false
	v.once.Do(func() {
		refused = true
		v.err = errViewerGone
		if err == nil {
			err = Errorf(CodeUnavailable, "the engine ended the attachment at once")
		}
		writeError(v.w, handlerError(attachName, err))
	})
	if refused || v.conn == nil {
		return
	}
	if err != nil && v.ctx.Err() == nil {
		if msg, e := appendJSON([]byte{outputError}, handlerError(attachName, err)); e == nil {
			_ = v.conn.Write(v.ctx, websocket.MessageBinary, msg) // a viewer that has gone need not know
		}
	}
	v.cancel()
	v.conn.CloseNow()
}

// Receive waits for the viewer's next input; its error is final and ends the
// handler's context. One goroutine at a time.
func (v *Viewer) Receive() (Input, error) {
	if err := v.open(); err != nil {
		return Input{}, err
	}
	msg, err := readMessage(v.conn, v.in)
	if err != nil {
		v.cancel()
		return Input{}, errViewerGone
	}
	v.in = reusable(msg)
	in, err := decodeInput(msg)
	if err != nil {
		v.cancel()
		return Input{}, Errorf(CodeInvalid, "receive from viewer: %v", err)
	}
	return in, nil
}

// Send writes a message and blocks while the viewer is slow. One goroutine at
// a time.
func (v *Viewer) Send(out Output) error {
	if err := v.open(); err != nil {
		return err
	}
	msg, err := appendOutput(v.out[:0], out)
	if err != nil {
		return err
	}
	v.out = reusable(msg)
	if err := v.conn.Write(context.Background(), websocket.MessageBinary, msg); err != nil {
		v.cancel()
		return errViewerGone
	}
	return nil
}

// reusable is b, or nothing if b is too large to be kept.
func reusable(b []byte) []byte {
	if cap(b) > keepBuffer {
		return nil
	}
	return b
}

// readMessage reads one binary message into buf, which grows as bytes arrive.
func readMessage(conn *websocket.Conn, buf []byte) ([]byte, error) {
	typ, r, err := conn.Reader(context.Background())
	if err != nil {
		return nil, err
	}
	if typ != websocket.MessageBinary {
		return nil, errMalformed
	}
	buf = buf[:0]
	for {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, max(len(buf), 4096))
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
