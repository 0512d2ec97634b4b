package attach

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/styled"
	"tandem/engine/vt"
	"tandem/ui/predict"
)

// An overlay shows on the terminal what the person does not have from the session yet:
// what was typed and is on its way to another machine, as far as it can be guessed,
// and a note in the last row. It knows the screen from the output that was
// written, draws over it between two pieces of output, and takes that back before
// the next one.
//
// The goroutine that receives and a goroutine of its own draw, under mu; the one
// that reads the terminal only leaves in way what it has sent, since a terminal
// that takes no output must not keep anybody from detaching.
type overlay struct {
	terminal *terminal
	wake     chan struct{} // of 1: something is to be drawn
	way      way

	mu      sync.Mutex
	model   *vt.Terminal
	screen  vt.Overlay // of model
	guesses predict.Predictor
	alt     bool // the session's program is on its alternate screen
	within  bool // the output ends within a control string
	drawn   drawing

	note atomic.Pointer[string]   // in the last row; nil for none
	size atomic.Pointer[api.Size] // of the terminal, to be taken over; nil if it is
}

// A drawing is what is drawn over the screen.
type drawing struct {
	cells  []predict.Drawn
	cursor *predict.Place
	note   string
}

func (d drawing) empty() bool { return len(d.cells) == 0 && d.cursor == nil && d.note == "" }

func (d drawing) equal(e drawing) bool {
	same := d.cursor == e.cursor || d.cursor != nil && e.cursor != nil && *d.cursor == *e.cursor
	return same && d.note == e.note && slices.Equal(d.cells, e.cells)
}

func newOverlay(t *terminal, mode predict.Mode) *overlay {
	size := t.size()
	if size.Cols == 0 {
		return nil
	}
	v := &overlay{terminal: t, wake: make(chan struct{}, 1), guesses: predict.Predictor{Mode: mode}}
	v.model = vt.New(vt.Options{Cols: size.Cols, Rows: size.Rows, ScrollbackLines: 1})
	v.screen = vt.NewOverlay(v.model)
	v.model.Write([]byte(begins(true)))
	return v
}

// A known is the screen as it is known, for who guesses.
type known struct{ *overlay }

func (k known) Size() (cols, rows int) { return k.model.Size() }

func (k known) Cursor() (x, y int, ok bool) {
	c := k.model.Cursor()
	if k.screen.WrapPending() {
		c.X, _ = k.model.Size()
	}
	return c.X, c.Y, c.Visible && !k.within && k.screen.CanAddressCells()
}

func (k known) Cell(x, y int) predict.Cell {
	text, style := k.screen.Cell(x, y)
	return predict.Cell{Text: text, Style: style}
}

func (k known) Pen() styled.Style { return k.screen.Pen() }

// loop draws what comes with time or was typed, until ctx ends. Every second it
// calls tick first.
func (v *overlay) loop(ctx context.Context, tick func()) {
	seconds := time.NewTicker(time.Second)
	defer seconds.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-seconds.C:
			tick()
		case <-v.late():
		case <-v.wake:
		}
		v.refresh()
	}
}

// late tells when an answer gets late.
func (v *overlay) late() <-chan time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	if at, ok := v.guesses.Look(); ok {
		return time.After(time.Until(at))
	}
	return nil
}

func (v *overlay) poke() {
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

// refresh draws what has changed but for the screen. A terminal that is gone is
// noticed by reading from it.
func (v *overlay) refresh() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.catchUp()
	_ = v.terminal.write(v.draw(nil))
}

// say shows a note in the last row; "" takes it back.
func (v *overlay) say(note string) {
	if note == "" {
		v.note.Store(nil)
	} else {
		v.note.Store(&note)
	}
	v.poke()
}

// show writes a piece of output; within says that it ends in a control string,
// alt that the program is on its alternate screen.
func (v *overlay) show(p []byte, within, alt bool) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.catchUp()
	var out []byte
	if !v.drawn.empty() {
		out = v.screen.AppendCursor(v.erase(v.screen.AppendPlainStyle(nil)))
		v.drawn = drawing{}
	}
	out = append(out, p...)
	v.model.Write(p)
	if alt != v.alt {
		v.guesses.Reset()
	}
	v.within, v.alt = within, alt
	v.guesses.Confirm(known{v})
	return v.terminal.write(v.draw(out))
}

// answered takes what the engine says of the input.
func (v *overlay) answered(m api.Mark) {
	rtt, exact := v.way.answered(m, time.Now())
	v.mu.Lock()
	defer v.mu.Unlock()
	v.catchUp()
	if exact {
		v.guesses.Measured(rtt)
	}
	v.guesses.Ack(m.N)
	v.guesses.Confirm(known{v})
	_ = v.terminal.write(v.draw(nil))
}

// restart forgets what is drawn and guessed: the screen is painted anew.
func (v *overlay) restart() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.catchUp()
	v.forget()
}

func (v *overlay) forget() {
	v.guesses.Reset()
	v.drawn, v.within = drawing{}, false
}

// resize makes the screen as large as the terminal, before anything else is shown.
func (v *overlay) resize(size api.Size) {
	if size.Cols > 0 {
		v.size.Store(&size)
	}
}

// rtt is the round trip, smoothed; 0 if it is not known.
func (v *overlay) rtt() time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.guesses.RTT()
}

// catchUp takes what others have left: a size, and what was typed. mu is held.
func (v *overlay) catchUp() {
	if size := v.size.Swap(nil); size != nil {
		v.model.Resize(size.Cols, size.Rows)
		v.forget()
	}
	for _, t := range v.way.take() {
		if t.known {
			v.guesses.Type(t.key, t.mark, t.at, known{v})
		} else {
			v.guesses.Unknown(t.mark)
		}
	}
}

// draw appends what takes the terminal from what is drawn to what is to be. mu is
// held.
func (v *overlay) draw(dst []byte) []byte {
	if v.within || !v.screen.CanAddressCells() {
		return dst // nothing is drawn: what was is taken back before a change
	}
	o := v.guesses.Overlay(time.Now(), known{v})
	next := drawing{cells: o.Cells, cursor: o.Cursor}
	if note := v.note.Load(); note != nil {
		next.note = *note
	}
	if next.equal(v.drawn) {
		return dst
	}
	dst = v.erase(v.screen.AppendPlainStyle(dst))
	for _, c := range next.cells {
		style := c.Style
		style.Underline, style.Link = styled.UnderlineSingle, ""
		dst = fmt.Appendf(dst, "\x1b[%d;%dH\x1b[", c.Y+1, c.X+1)
		dst = append(append(styled.AppendSGR(dst, style), 'm'), c.Text...)
		dst = append(dst, "\x1b[m"...)
	}
	if next.note != "" {
		cols, rows := v.model.Size()
		dst = fmt.Appendf(dst, "\x1b[%d;1H\x1b[7m%-*.*s\x1b[m", rows, cols, cols, next.note)
	}
	dst = v.screen.AppendCursor(dst)
	if at := next.cursor; at != nil {
		dst = fmt.Appendf(dst, "\x1b[%d;%dH", at.Y+1, at.X+1)
	}
	v.drawn = next
	return dst
}

// erase appends what shows the screen where something is drawn, in the plain style.
func (v *overlay) erase(dst []byte) []byte {
	cols, rows := v.model.Size()
	for _, c := range v.drawn.cells {
		dst = v.screen.AppendCells(dst, c.X, c.Y, min(c.X+2, cols)) // it may be a wide one
	}
	if v.drawn.note != "" {
		dst = v.screen.AppendCells(dst, 0, rows-1, cols)
	}
	return dst
}
