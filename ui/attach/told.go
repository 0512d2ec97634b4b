package attach

import (
	"os"
	"sync"
	"sync/atomic"

	"tandem/engine/api"
	"tandem/ui/display"
)

// told is what the terminal has told of itself, shared by the goroutine that reads it and the
// one that attaches.
type told struct {
	mu   sync.Mutex
	term display.Terminal
	ask  atomic.Bool // the goroutine that writes is to ask for the colours
}

// answer takes in what the terminal has answered.
func (t *told) answer(p []byte) display.News {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.term.Answer(p)
}

// tells reports whether the terminal tells by itself when its colours change.
func (t *told) tells() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.term.Tells()
}

// now is a copy, with a cell as large as it is.
func (t *told) now(size termSize) display.Terminal {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.term.Measured(size.cell)
	return t.term
}

// terminalAnswered takes in what the terminal has answered, and passes on what that changes.
func (r *run) terminalAnswered(p []byte) {
	switch r.told.answer(p) {
	case display.Changed:
		r.askColors()
	case display.Told:
		r.tellDisplay()
	}
}

// tellDisplay tells the session what the terminal is like, once that is known.
func (r *run) tellDisplay() {
	r.reshape()
	term := r.told.now(r.terminal.size())
	d, known := term.Display()
	if !known {
		return
	}
	cells := r.link.cells.Swap(!d.Pixels)
	r.link.tell(api.Input{Display: &d})
	handed := r.link.handed()
	pixels := !d.Pixels && !cells && r.link.pixels.Load() && !handed
	switch lacks := r.lacks(false, false); {
	case lacks && handed:
		r.link.giveBack()
	case lacks || pixels: // what has passed is nothing that the terminal knows
		r.link.refresh()
	}
}

// askColors has the terminal asked for its colours by whoever writes to it, between two
// sequences.
func (r *run) askColors() {
	if display.AskColors(os.Getenv) == "" {
		return
	}
	if r.link.handed() {
		r.link.tell(api.Input{AskColors: true})
		return
	}
	r.told.ask.Store(true)
	r.link.tell(api.Input{Lines: &api.LineRange{}}) // the answer wakes the one that writes
}

// asked asks for the colours, if somebody wants it and nothing is begun on the terminal.
func (r *run) asked() error {
	if r.filter.Within() || !r.told.ask.Swap(false) {
		return nil
	}
	return r.terminal.write([]byte(display.AskColors(os.Getenv)))
}
