package attach

import (
	"os"
	"sync"
	"sync/atomic"

	"tandem/engine/api"
	"tandem/ui/display"
)

// A knownTerminal holds what the terminal has reported about itself. The reading and the
// attaching goroutine share it.
type knownTerminal struct {
	mu         sync.Mutex
	term       display.Terminal
	askPending atomic.Bool // the writing goroutine must query the colours
}

// applyAnswer records an answer of the terminal.
func (t *knownTerminal) applyAnswer(p []byte) display.Effect {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.term.HandleAnswer(p)
}

// reportsChanges reports whether the terminal reports changes of its colours by itself.
func (t *knownTerminal) reportsChanges() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.term.ReportsChanges()
}

// snapshot returns a copy that includes the current size of a cell.
func (t *knownTerminal) snapshot(size termSize) display.Terminal {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.term.SetMeasuredCell(size.cell)
	return t.term
}

// handleAnswer records an answer of the terminal, and acts on what it changes.
func (r *run) handleAnswer(p []byte) {
	switch r.known.applyAnswer(p) {
	case display.ColorsChanged:
		r.askColors()
	case display.DisplayUpdated:
		r.sendDisplay()
	}
}

// sendDisplay sends the terminal's properties to the session, once they are known.
func (r *run) sendDisplay() {
	r.updateShape()
	term := r.known.snapshot(r.terminal.currentSize())
	d, known := term.Display()
	if !known {
		return
	}
	cells := r.link.cellMouse.Swap(!d.Pixels)
	r.link.sendNow(api.Input{Display: &d})
	pixels := !d.Pixels && !cells && r.link.wantsPixels.Load() && !r.link.isHandedOver()
	// The terminal does not support some of the output so far, or the program wants the mouse in
	// pixels, which only the engine can provide.
	if r.needsConversion(false, false) || pixels {
		r.link.forceReattach()
	}
}

// askColors requests a colour query. The goroutine that writes to the terminal sends the query,
// between two sequences.
func (r *run) askColors() {
	if display.ColorQuery(os.Getenv) == "" {
		return
	}
	if r.link.isHandedOver() {
		r.link.sendNow(api.Input{AskColors: true})
		return
	}
	r.known.askPending.Store(true)
	// The answer wakes the writing goroutine.
	r.link.sendNow(api.Input{Lines: &api.LineRange{}})
}

// writeColorQuery sends a requested colour query, unless the output ends inside a
// sequence.
func (r *run) writeColorQuery() error {
	if r.filter.Within() || !r.known.askPending.Swap(false) {
		return nil
	}
	return r.terminal.writeAll([]byte(display.ColorQuery(os.Getenv)))
}
