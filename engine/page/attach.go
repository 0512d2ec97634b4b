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
	// ahead is how much of a terminal's output may be on its way to a browser that has not
	// drawn it yet, in bytes. The engine leaves out what a slow viewer misses and paints anew.
	ahead = 64 << 10
	// maxMessage bounds a message of the browser: a paste.
	maxMessage = 1 << 20
	// pageClient is what Terminal.Typist says when somebody typed in a page.
	pageClient = "page"
)

// A message of the browser, JSON in a text message. One of the members is there.
type message struct {
	Input *string // what was typed
	Paste *string
	Focus *bool
	Size  *api.Size // of the page's terminal
	Drawn int       // bytes that were drawn since the last time
}

// A note to the browser, JSON in a text message; output comes in binary messages.
type note struct {
	Ended   *api.Process `json:"ended,omitempty"`
	Error   string       `json:"error,omitempty"`
	Picture *picture     `json:"picture,omitempty"` // that a program has printed
	Shown   *[]strip     `json:"shown,omitempty"`   // all that the screen shows of such pictures
}

// attach shows a session's terminal: the bytes that its program writes go to the browser,
// after a repaint of the screen, and what is typed there comes back.
func (p *Page) attach(w http.ResponseWriter, r *http.Request, d devices.Device) {
	q := r.URL.Query()
	o := api.AttachOptions{ID: q.Get("id"), Raw: true, Pictures: true, Apart: true, ReadOnly: d.ReadOnly, Cols: number(q.Get("cols")), Rows: number(q.Get("rows")), Client: pageClient}
	machine := q.Get("host")
	if d.Session != "" && (o.ID != d.Session || machine != "") {
		refuse(w, http.StatusForbidden, errors.New("this link shows one session only"))
		return
	}
	if d.ReadOnly { // who only looks never decides the size
		o.Cols, o.Rows = 0, 0
	}
	ctx, done := p.during(r, d)
	defer done()
	engine, err := p.engines.of(ctx, machine)
	if err != nil {
		refuse(w, http.StatusBadGateway, err)
		return
	}
	a, err := engine.Attach(ctx, o)
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, err)
		return
	}
	defer a.Close()
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{subprotocol}}) // the origin has been checked
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxMessage)
	join(ctx, conn, a)
}

// join passes on what comes from either end until one of them ends.
func join(ctx context.Context, conn *websocket.Conn, a *client.Attachment) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	window := newWindow(ahead)
	stop := context.AfterFunc(ctx, func() {
		window.close()
		conn.CloseNow() // first: a browser that is cut off is told nothing more
		a.Close()
	})
	defer stop()
	var both sync.WaitGroup
	both.Go(func() {
		defer cancel()
		listen(ctx, conn, a, window)
	})
	show(ctx, conn, a, window)
	cancel()
	both.Wait()
}

// listen passes on what is typed.
func listen(ctx context.Context, conn *websocket.Conn, a *client.Attachment, window *window) {
	for {
		kind, text, err := conn.Read(ctx)
		if err != nil || kind != websocket.MessageText {
			return
		}
		var m message
		if json.Unmarshal(text, &m) != nil {
			return
		}
		window.drawn(m.Drawn)
		if in, ok := m.input(); ok && a.Send(in) != nil {
			return
		}
	}
}

// maxSide bounds a terminal's size, in cells.
const maxSide = 1000

func (m message) input() (api.Input, bool) {
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

// show passes on what the program writes, never more at a time than the browser can draw.
func show(ctx context.Context, conn *websocket.Conn, a *client.Attachment, window *window) {
	for {
		out, err := a.Receive()
		switch {
		case err != nil:
			tell(ctx, conn, note{Error: fmt.Sprintf("%v", err)})
			return
		case out.Ended != nil:
			tell(ctx, conn, note{Ended: out.Ended})
			_ = conn.Close(websocket.StatusNormalClosure, "") // it ends anyway
			return
		case out.Picture != nil:
			if !tellWithin(ctx, conn, note{Picture: pictureOf(out.Picture)}, window) {
				return
			}
		case out.Lines != nil:
			if !tellWithin(ctx, conn, note{Shown: stripsOf(out.Lines)}, window) {
				return
			}
		case len(out.Bytes) > 0:
			if !window.wait(len(out.Bytes)) || conn.Write(ctx, websocket.MessageBinary, out.Bytes) != nil {
				return
			}
		}
	}
}

func tell(ctx context.Context, conn *websocket.Conn, n note) {
	if text, err := json.Marshal(n); err == nil {
		_ = conn.Write(ctx, websocket.MessageText, text) // the browser may have gone
	}
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return min(n, maxSide)
}

// A window is how much may be on its way.
type window struct {
	mu     sync.Mutex
	change sync.Cond
	most   int
	under  int
	closed bool
}

func newWindow(most int) *window {
	w := &window{most: most}
	w.change.L = &w.mu
	return w
}

// wait waits until n bytes may follow; false when the window was closed. What is larger than
// the window goes alone.
func (w *window) wait(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.closed && w.under > 0 && w.under+n > w.most {
		w.change.Wait()
	}
	w.under += n
	return !w.closed
}

func (w *window) drawn(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.under = max(0, w.under-max(0, n))
	w.change.Broadcast()
}

func (w *window) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.change.Broadcast()
}
