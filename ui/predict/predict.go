package predict

import (
	"slices"
	"time"

	"tandem/engine/cellwidth"
	"tandem/engine/styled"
	"tandem/keys"
)

// A Mode says when guesses are shown.
type Mode uint8

const (
	Off    Mode = iota // never
	Auto               // when the round trip is long, or answers are late
	Always             // whatever it is
)

func (m Mode) String() string { return [...]string{"off", "auto", "always"}[m] }

// Modes are the names of modes.
func Modes() map[string]Mode { return map[string]Mode{"off": Off, "auto": Auto, "always": Always} }

const (
	// Guesses are shown from a round trip of slow on, until it is below fast.
	slow, fast = 40 * time.Millisecond, 30 * time.Millisecond
	// late is how long a key goes unanswered before guesses are shown whatever
	// the round trip is.
	late = 250 * time.Millisecond
	// mostPending bounds the keys that are guessed again after a wrong guess.
	mostPending = 256
	// gap is how many blank cells end what a key typed in a line pushes along: a
	// prompt at the right margin stays where it is.
	gap = 4
)

// A Cell is what a cell of the screen shows. The second half of a wide character
// has no text, a blank cell has a space.
type Cell struct {
	Text  string
	Style styled.Style
}

// A Screen is the screen as the engine has it.
type Screen interface {
	Size() (cols, rows int)
	// Cursor is where the next character goes; x is the width of the screen where
	// it wraps first. Nothing is guessed unless ok.
	Cursor() (x, y int, ok bool)
	Cell(x, y int) Cell
	// Pen is how the next character looks.
	Pen() styled.Style
}

// A Place is a cell of the screen.
type Place struct{ X, Y int }

// A Drawn is a cell that is to be drawn over the screen.
type Drawn struct {
	Place
	Cell
}

// An Overlay is what is to be drawn over the screen.
type Overlay struct {
	Cells  []Drawn // by row and column
	Cursor *Place  // nil: where the screen has it
}

// A Predictor guesses for one screen. The zero value shows nothing.
type Predictor struct {
	Mode Mode

	acked   uint64 // input up to here has had its answer
	rtt     time.Duration
	slow    bool // rtt is long
	late    bool // an answer is late, and some are outstanding since
	pending []typed

	guesses   map[Place]guess
	cursor    Place
	known     bool   // cursor holds
	left      Place  // where the line begins that is typed into: nothing before it is ours
	confirmed bool   // the program has shown a guess since nothing was certain
	lost      bool   // what lostAt did cannot be told
	lostAt    uint64 // of a mark
	overtype  bool   // what is typed pushes nothing along: a suggestion stands behind the cursor
}

// A typed key waits for its answer.
type typed struct {
	key  keys.Key
	mark uint64
	at   time.Time
}

type guess struct {
	Cell
	was    string // what the screen showed then
	mark   uint64
	pushed bool // it was there before, elsewhere
}

// Type notes a key that was sent before a mark.
func (p *Predictor) Type(k keys.Key, mark uint64, now time.Time, s Screen) {
	if k.Phase == keys.Release || k.IsModifier() {
		return
	}
	if len(p.pending) == mostPending {
		p.Unknown(mark)
		p.pending = nil
	}
	p.pending = append(p.pending, typed{k, mark, now})
	p.apply(k, mark, s)
}

// Unknown notes input of another kind: nothing is guessed until it is answered.
func (p *Predictor) Unknown(mark uint64) {
	p.lost, p.lostAt, p.overtype = true, mark, false
}

// Reset forgets all guesses: the screen is another one.
func (p *Predictor) Reset() {
	p.pending, p.acked = nil, 0
	p.restart()
}

func (p *Predictor) restart() {
	p.guesses, p.known, p.confirmed, p.lost = nil, false, false, false
}

// Ack notes that input up to a mark has had its answer. Confirm follows.
func (p *Predictor) Ack(mark uint64) {
	p.acked = max(p.acked, mark)
	n := 0
	for n < len(p.pending) && p.pending[n].mark <= p.acked {
		n++
	}
	p.pending = slices.Delete(p.pending, 0, n)
	p.late = p.late && len(p.pending) > 0
}

// Measured notes how long the way to the program and back took.
func (p *Predictor) Measured(rtt time.Duration) {
	if p.rtt == 0 {
		p.rtt = rtt
	}
	p.rtt += (rtt - p.rtt) / 8
	switch {
	case p.rtt > slow:
		p.slow = true
	case p.rtt < fast:
		p.slow = false
	}
}

// RTT is the round trip, smoothed; 0 if it was never measured.
func (p *Predictor) RTT() time.Duration { return p.rtt }

// Confirm compares the guesses with the screen, which has changed, or which is
// known by Ack to hold the answer.
func (p *Predictor) Confirm(s Screen) {
	wrong := false
	for at, g := range p.guesses {
		right := cellAt(s, at).Text == g.Text
		switch {
		case right && g.was != g.Text && !g.pushed:
			p.confirmed = true
		case !right && g.mark <= p.acked:
			wrong, p.overtype = true, p.overtype || g.pushed
		}
		if g.mark <= p.acked {
			delete(p.guesses, at)
		}
	}
	wrong = wrong || p.known && !p.lost && len(p.pending) == 0 && p.cursor != p.actual(s)
	if wrong || p.lost && p.lostAt <= p.acked {
		p.restart()
		for _, t := range p.pending {
			p.apply(t.key, t.mark, s)
		}
	}
}

// actual is where the screen has the cursor; -1, -1 if it cannot be told.
func (p *Predictor) actual(s Screen) Place {
	cols, rows := s.Size()
	x, y, ok := s.Cursor()
	if ok && x >= cols {
		x, y = 0, y+1
	}
	if !ok || y >= rows {
		return Place{-1, -1}
	}
	return Place{x, y}
}

func cellAt(s Screen, at Place) Cell {
	if cols, rows := s.Size(); at.X >= cols || at.Y >= rows {
		return Cell{}
	}
	return s.Cell(at.X, at.Y)
}

// Overlay is what to draw over the screen now.
func (p *Predictor) Overlay(now time.Time, s Screen) Overlay {
	if !p.shows(now) {
		return Overlay{}
	}
	var o Overlay
	for at, g := range p.guesses {
		if g.Text != "" && cellAt(s, at).Text != g.Text {
			o.Cells = append(o.Cells, Drawn{at, g.Cell})
		}
	}
	slices.SortFunc(o.Cells, func(a, b Drawn) int {
		if a.Y != b.Y {
			return a.Y - b.Y
		}
		return a.X - b.X
	})
	if cursor := p.cursor; p.known && len(p.pending) > 0 && cursor != p.actual(s) {
		cols, _ := s.Size()
		cursor.X = min(cursor.X, cols-1)
		o.Cursor = &cursor
	}
	return o
}

func (p *Predictor) shows(now time.Time) bool {
	if len(p.pending) > 0 && now.Sub(p.pending[0].at) >= late {
		p.late = true
	}
	sure := p.confirmed && p.acked > 0 // an engine that answers no marks is older
	return sure && (p.Mode == Always || p.Mode == Auto && (p.slow || p.late))
}

// Look is when the overlay changes by itself, as an answer gets late; ok is
// whether it does.
func (p *Predictor) Look() (at time.Time, ok bool) {
	if p.Mode != Auto || p.slow || p.late || len(p.pending) == 0 {
		return at, false
	}
	return p.pending[0].at.Add(late), true
}

// apply guesses what a key does.
func (p *Predictor) apply(k keys.Key, mark uint64, s Screen) {
	if p.lost || !p.locate(s) {
		if !p.lost {
			p.Unknown(mark)
		}
		return
	}
	e := edit{p, s, mark}
	var told bool
	switch text, width := printed(k); {
	case width > 0:
		told = e.print(text, width)
	case k.Mods != 0:
	case k.Code == keys.Backspace:
		told = e.erase()
	case k.Code == keys.Left:
		told = e.back()
	case k.Code == keys.Right:
		told = e.forth()
	}
	if !told {
		p.Unknown(mark)
	}
}

// printed is the character that a key types, of width 0 if it types none.
func printed(k keys.Key) (text string, width int) {
	if k.Mods&^keys.Shift != 0 || k.Text == "" || k.Text < " " || k.Text[0] == 0x7f {
		return "", 0
	}
	cluster, width := cellwidth.First(k.Text)
	if cluster != k.Text {
		return "", 0
	}
	return cluster, width
}

// locate makes sure that it is known where the cursor will be.
func (p *Predictor) locate(s Screen) bool {
	actual := p.actual(s)
	if actual.X < 0 {
		return false
	}
	if p.known && len(p.pending) > 1 {
		return true
	}
	if !p.known || p.cursor != actual { // something else has moved it
		p.known, p.confirmed, p.cursor, p.left = true, false, actual, actual
	}
	return true
}
