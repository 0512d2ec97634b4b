package attach

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
	"tandem/panes/kit/predict"
)

// An overlay draws over the session's output what is not part of it yet: predicted echo of
// keys on their way to another machine, and a note in the last row. It models the screen
// from the output written, draws between two pieces of output, and erases that before the
// next one.
//
// The receiving goroutine and drawLoop draw, under mu. The goroutine that reads the
// terminal only records sent input in pending: a terminal that takes no output must not
// keep the user from detaching.
type overlay struct {
	terminal *terminal
	wake     chan struct{} // capacity 1; something must be drawn
	pending  pendingInput

	mu        sync.Mutex
	model     *vt.Terminal
	screen    vt.Overlay // reads model
	predictor predict.Predictor
	alt       bool // the program is on its alternate screen
	inString  bool // the output ends inside a control string
	shown     drawing
	plain     bool // the terminal has the plain style instead of the program's pen

	note atomic.Pointer[string]   // shown in the last row; nil for none
	size atomic.Pointer[api.Size] // new size of the terminal, not applied yet; nil if there is none
}

// A drawing is what is drawn over the screen.
type drawing struct {
	cells  []predict.OverlayCell
	cursor *predict.Position
	note   string
}

func (d drawing) isEmpty() bool { return len(d.cells) == 0 && d.cursor == nil && d.note == "" }

func (d drawing) equal(e drawing) bool {
	same := d.cursor == e.cursor || d.cursor != nil && e.cursor != nil && *d.cursor == *e.cursor
	return same && d.note == e.note && slices.Equal(d.cells, e.cells)
}

func newOverlay(t *terminal, mode predict.Mode) *overlay {
	size := t.currentSize()
	if size.Cols == 0 {
		return nil
	}
	v := &overlay{terminal: t, wake: make(chan struct{}, 1), predictor: predict.Predictor{Mode: mode}}
	v.model = vt.New(vt.Options{Cols: size.Cols, Rows: size.Rows, ScrollbackLines: 1})
	v.screen = vt.NewOverlay(v.model)
	v.model.Write([]byte(enterSequence()))
	return v
}

// A predictScreen gives the predictor access to the screen.
type predictScreen struct{ *overlay }

func (k predictScreen) Size() (cols, rows int) { return k.model.Size() }

func (k predictScreen) Cursor() (x, y int, ok bool) {
	c := k.model.Cursor()
	if k.screen.WrapPending() {
		c.X, _ = k.model.Size()
	}
	return c.X, c.Y, c.Visible && !k.inString && k.screen.CanAddressCells()
}

func (k predictScreen) Cell(x, y int) predict.Cell {
	text, style := k.screen.Cell(x, y)
	return predict.Cell{Text: text, Style: style}
}

func (k predictScreen) Pen() styled.Style { return k.screen.Pen() }

// drawLoop redraws when something was typed or time has passed, until ctx is done. It
// calls tick once a second.
func (v *overlay) drawLoop(ctx context.Context, tick func()) {
	seconds := time.NewTicker(time.Second)
	defer seconds.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-seconds.C:
			tick()
		case <-v.nextDeadline():
		case <-v.wake:
		}
		v.redraw()
	}
}

// nextDeadline returns a channel that fires when an outstanding answer becomes late.
func (v *overlay) nextDeadline() <-chan time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	if at, ok := v.predictor.NextChange(); ok {
		return time.After(time.Until(at))
	}
	return nil
}

func (v *overlay) wakeUp() {
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

// redraw updates the drawing over an unchanged screen. Write errors are ignored, as the
// reader notices a lost terminal.
func (v *overlay) redraw() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.applyPending()
	_ = v.terminal.writeAll(v.appendDrawing(nil))
}

// setNote shows a note in the last row; "" removes it. It reports whether the note has changed.
func (v *overlay) setNote(note string) (changed bool) {
	var shown *string
	if note != "" {
		shown = &note
	}
	was := v.note.Swap(shown)
	v.wakeUp()
	return shown != was && (shown == nil || was == nil || *shown != *was)
}

// showOutput writes a piece of output. within reports that it ends inside a control
// string, alt that the program is on its alternate screen.
func (v *overlay) showOutput(p []byte, within, alt bool) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.applyPending()
	var out []byte
	if v.plain {
		out = v.screen.AppendCursor(v.appendErase(v.screen.AppendPlainStyle(nil)))
		v.shown, v.plain = drawing{}, false
	}
	out = append(out, p...)
	v.model.Write(p)
	if alt != v.alt {
		v.predictor.Reset()
	}
	v.inString, v.alt = within, alt
	v.predictor.CheckGuesses(predictScreen{v})
	return v.terminal.writeAll(v.appendDrawing(out))
}

// handleMark handles the engine's acknowledgement of input.
func (v *overlay) handleMark(m api.Mark) {
	rtt, exact := v.pending.acknowledge(m, time.Now())
	v.mu.Lock()
	defer v.mu.Unlock()
	v.applyPending()
	if exact {
		v.predictor.RecordRTT(rtt)
	}
	v.predictor.Ack(m.N)
	v.predictor.CheckGuesses(predictScreen{v})
	_ = v.terminal.writeAll(v.appendDrawing(nil))
}

// resetScreen discards drawing and predictions, as the screen is about to be repainted.
func (v *overlay) resetScreen() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.applyPending()
	v.discardDrawing()
}

func (v *overlay) discardDrawing() {
	v.predictor.Reset()
	v.shown, v.inString = drawing{}, false
}

// setSize records a new size of the terminal; applyPending resizes the model.
func (v *overlay) setSize(size api.Size) {
	if size.Cols > 0 {
		v.size.Store(&size)
	}
}

// roundTrip returns the smoothed round trip; 0 if unknown.
func (v *overlay) roundTrip() time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.predictor.RTT()
}

// applyPending applies the size and the input recorded by other goroutines. mu is held.
func (v *overlay) applyPending() {
	if size := v.size.Swap(nil); size != nil {
		v.model.Resize(size.Cols, size.Rows)
		v.discardDrawing()
	}
	for _, t := range v.pending.takeTyped() {
		if t.known {
			v.predictor.RecordKey(t.key, t.mark, t.at, predictScreen{v})
		} else {
			v.predictor.RecordUnknown(t.mark)
		}
	}
}

// appendDrawing appends the sequences that turn the current drawing into the new one. mu
// is held.
func (v *overlay) appendDrawing(dst []byte) []byte {
	// An earlier drawing has been erased before this output, so there is nothing to erase.
	if v.inString || !v.screen.CanAddressCells() {
		return dst
	}
	o := v.predictor.MakeOverlay(time.Now(), predictScreen{v})
	next := drawing{cells: o.Cells, cursor: o.Cursor}
	if note := v.note.Load(); note != nil {
		next.note = *note
	}
	if next.equal(v.shown) {
		return dst
	}
	dst = v.appendErase(v.screen.AppendPlainStyle(dst))
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
	v.shown = next
	if next.isEmpty() {
		v.plain = false // AppendCursor restores the program's pen
		return v.screen.AppendCursor(dst)
	}
	v.plain = true
	// AppendCursor may print a character, which would overwrite the drawing, so only move the cursor.
	at := predict.Position{X: v.model.Cursor().X, Y: v.model.Cursor().Y}
	if next.cursor != nil {
		at = *next.cursor
	}
	return fmt.Appendf(dst, "\x1b[%d;%dH", at.Y+1, at.X+1)
}

// appendErase appends sequences that restore the screen's cells below the drawing, in the
// plain style.
func (v *overlay) appendErase(dst []byte) []byte {
	cols, rows := v.model.Size()
	for _, c := range v.shown.cells {
		// The character may be a wide one.
		dst = v.screen.AppendCells(dst, c.X, c.Y, min(c.X+2, cols))
	}
	if v.shown.note != "" {
		dst = v.screen.AppendCells(dst, 0, rows-1, cols)
	}
	return dst
}
