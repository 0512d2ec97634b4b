package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/coder/websocket"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/page/devices"
)

const (
	// maxAhead is the number of bytes of terminal output that may be on the way to a browser that
	// has not drawn them yet. The engine skips output for a slow viewer and then repaints the
	// screen.
	maxAhead = 64 << 10
	// maxMessage bounds a message from the browser, such as a paste, in bytes.
	maxMessage = 1 << 20
	// pageClient is the value of Terminal.Typist for input from the page.
	pageClient = "page"
)

// A message comes from the browser, as JSON in a text message. One member is set.
type message struct {
	Input *string // typed text
	Paste *string
	Focus *bool
	Size  *api.Size // size of the page's terminal
	Drawn int       // bytes drawn since the previous message
}

// A note goes to the browser, as JSON in a text message; output goes in binary messages.
type note struct {
	Ended   *api.Process `json:"ended,omitempty"`
	Error   string       `json:"error,omitempty"`
	Picture *picture     `json:"picture,omitempty"` // printed by a program
	Shown   *[]strip     `json:"shown,omitempty"`   // everything the screen shows of such pictures
}

// attach connects a browser to a session's terminal: it sends a repaint of the screen and then the
// program's output, and receives input.
func (p *Page) attach(w http.ResponseWriter, r *http.Request, d devices.Device) {
	q := r.URL.Query()
	o := api.AttachOptions{ID: q.Get("id"), Raw: true, Pictures: true, Apart: true, ReadOnly: d.ReadOnly, Cols: parseNumber(q.Get("cols")), Rows: parseNumber(q.Get("rows")), Client: pageClient}
	machine := q.Get("host")
	if d.Session != "" && (o.ID != d.Session || machine != "") {
		writeError(w, http.StatusForbidden, errors.New("this link shows one session only"))
		return
	}
	// A read-only viewer must not change the terminal's size for others.
	if d.ReadOnly {
		o.Cols, o.Rows = 0, 0
	}
	ctx, done := p.contextFor(r, d)
	defer done()
	engine, err := p.engines.connectTo(ctx, machine)
	if err != nil {
		writeError(w, http.StatusBadGateway, err)
		return
	}
	// Attach before upgrading: errors can still be sent as HTTP responses.
	a, err := engine.Attach(ctx, o)
	if err != nil {
		writeError(w, http.StatusUnprocessableEntity, err)
		return
	}
	defer a.Close()
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{subprotocol}}) // ServeHTTP has checked the origin
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxMessage)
	join(ctx, conn, a)
}

// join passes messages in both directions until either end closes.
func join(ctx context.Context, conn *websocket.Conn, a *client.Attachment) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	window := newWindow(maxAhead)
	stop := context.AfterFunc(ctx, func() {
		window.close()
		conn.CloseNow() // first, so that a revoked browser receives nothing more
		a.Close()
	})
	defer stop()
	var both sync.WaitGroup
	both.Go(func() {
		defer cancel()
		relayInput(ctx, conn, a, window)
	})
	relayOutput(ctx, conn, a, window)
	cancel()
	both.Wait()
}

// relayInput passes on the browser's input.
func relayInput(ctx context.Context, conn *websocket.Conn, a *client.Attachment, window *window) {
	for {
		kind, text, err := conn.Read(ctx)
		if err != nil || kind != websocket.MessageText {
			return
		}
		var m message
		if json.Unmarshal(text, &m) != nil {
			return
		}
		window.noteDrawn(m.Drawn)
		if in, ok := m.toInput(); ok && a.Send(in) != nil {
			return
		}
	}
}

// maxSide bounds the columns and rows of a terminal.
const maxSide = 1000

func (m message) toInput() (api.Input, bool) {
	switch {
	case m.Input != nil:
		return api.Input{Bytes: []byte(*m.Input)}, true
	case m.Paste != nil:
		return api.Input{Paste: m.Paste}, true
	case m.Focus != nil:
		return api.Input{Focus: m.Focus}, true
	case m.Size != nil && m.Size.Cols > 0 && m.Size.Rows > 0:
		size := api.Size{Cols: min(m.Size.Cols, maxSide), Rows: min(m.Size.Rows, maxSide)}
		return api.Input{Resize: &size}, true
	}
	return api.Input{}, false
}

// relayOutput passes on the session's output, at the pace at which the browser draws it.
func relayOutput(ctx context.Context, conn *websocket.Conn, a *client.Attachment, window *window) {
	for {
		out, err := a.Receive()
		switch {
		case err != nil:
			sendNote(ctx, conn, note{Error: fmt.Sprintf("%v", err)})
			return
		case out.Ended != nil:
			sendNote(ctx, conn, note{Ended: out.Ended})
			_ = conn.Close(websocket.StatusNormalClosure, "") // the connection ends anyway
			return
		case out.Picture != nil:
			if !sendNoteWithin(ctx, conn, note{Picture: pictureOf(out.Picture)}, window) {
				return
			}
		case out.Lines != nil:
			if !sendNoteWithin(ctx, conn, note{Shown: stripsOf(out.Lines)}, window) {
				return
			}
		case len(out.Bytes) > 0:
			if !window.waitFor(len(out.Bytes)) || conn.Write(ctx, websocket.MessageBinary, out.Bytes) != nil {
				return
			}
		}
	}
}

func sendNote(ctx context.Context, conn *websocket.Conn, n note) {
	if text, err := json.Marshal(n); err == nil {
		_ = conn.Write(ctx, websocket.MessageText, text) // the browser may have disconnected
	}
}

func parseNumber(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return min(n, maxSide)
}

// A window limits the bytes sent but not drawn yet.
type window struct {
	mu      sync.Mutex
	change  sync.Cond
	limit   int
	undrawn int
	closed  bool
}

func newWindow(limit int) *window {
	w := &window{limit: limit}
	w.change.L = &w.mu
	return w
}

// waitFor waits until n bytes may be sent. It returns false once the window is closed. A message
// larger than the window is sent alone.
func (w *window) waitFor(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	// An empty window takes any message, or a large one would wait forever.
	for !w.closed && w.undrawn > 0 && w.undrawn+n > w.limit {
		w.change.Wait()
	}
	w.undrawn += n
	return !w.closed
}

func (w *window) noteDrawn(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.undrawn = max(0, w.undrawn-max(0, n))
	w.change.Broadcast()
}

func (w *window) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.change.Broadcast()
}
