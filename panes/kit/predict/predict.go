package predict

import (
	"slices"
	"time"

	"tandem/engine/base/cellwidth"
	"tandem/engine/screen/styled"
	"tandem/keys"
)

// A Mode is when guesses are shown.
type Mode uint8

const (
	Off    Mode = iota // never
	Auto               // when the round trip is long, or an answer is late
	Always             // regardless of the round trip
)

func (m Mode) String() string { return [...]string{"off", "auto", "always"}[m] }

// Modes returns the modes by name.
func Modes() map[string]Mode { return map[string]Mode{"off": Off, "auto": Auto, "always": Always} }

const (
	// With Auto, guesses are shown once the round trip exceeds slow, until it drops below fast.
	slow, fast = 40 * time.Millisecond, 30 * time.Millisecond
	// late is how long a key may go unanswered before guesses are shown regardless of the
	// round trip.
	late = 250 * time.Millisecond
	// maxPending is the maximum number of keys guessed again after a wrong guess.
	maxPending = 256
	// gap is the number of blanks that end a text. An insertion moves the text only up to such a
	// gap, so that a prompt at the right margin stays in place.
	gap = 4
)

// A Cell is the content of a cell. The second half of a wide character has no text; a
// blank cell has a space.
type Cell struct {
	Text  string
	Style styled.Style
}

// A Screen is the screen as known to the engine.
type Screen interface {
	Size() (cols, rows int)
	// Cursor returns the position of the next character; x is the screen's width if that character
	// wraps first. If ok is false, the position is unknown and nothing is guessed.
	Cursor() (x, y int, ok bool)
	Cell(x, y int) Cell
	// Pen returns the style of the next character.
	Pen() styled.Style
}

// A Position is a cell of the screen.
type Position struct{ X, Y int }

// An OverlayCell is a cell to draw over the screen.
type OverlayCell struct {
	Position
	Cell
}

// An Overlay is what to draw over the screen.
type Overlay struct {
	Cells  []OverlayCell // sorted by row and column
	Cursor *Position     // nil if the screen's cursor is right
}

// A Predictor makes guesses for one screen. The zero value shows nothing.
type Predictor struct {
	Mode Mode

	acked   uint64 // last mark whose input was answered
	rtt     time.Duration
	slow    bool // rtt is long
	late    bool // an answer was late, and keys have been pending since
	pending []pendingKey

	guesses     map[Position]guess
	cursor      Position
	cursorKnown bool     // cursor is valid
	lineStart   Position // start of the typed line; nothing before it is guessed
	confirmed   bool     // the program has confirmed a guess since the last reset
	uncertain   bool     // the effect of input up to uncertainTo is unknown
	uncertainTo uint64   // a mark
	overtype    bool     // insertions move nothing: a suggestion follows the cursor
}

// A pendingKey waits for its answer.
type pendingKey struct {
	key  keys.Key
	mark uint64
	at   time.Time
}

type guess struct {
	Cell
	before string // content of the cell at that time
	mark   uint64
	pushed bool // moved here by an insertion or deletion
}

// RecordKey records a key sent before a mark.
func (p *Predictor) RecordKey(k keys.Key, mark uint64, now time.Time, s Screen) {
	if k.Phase == keys.Release || k.IsModifier() {
		return
	}
	if len(p.pending) == maxPending {
		p.RecordUnknown(mark)
		p.pending = nil
	}
	p.pending = append(p.pending, pendingKey{k, mark, now})
	p.guessKey(k, mark, s)
}

// RecordUnknown records input with an unknown effect. Nothing is predicted until the program has
// answered that input.
func (p *Predictor) RecordUnknown(mark uint64) {
	p.uncertain, p.uncertainTo, p.overtype = true, mark, false
}

// Reset drops all guesses, because the screen was replaced.
func (p *Predictor) Reset() {
	p.pending, p.acked = nil, 0
	p.dropGuesses()
}

func (p *Predictor) dropGuesses() {
	p.guesses, p.cursorKnown, p.confirmed, p.uncertain = nil, false, false, false
}

// Ack records that input up to a mark was answered. The caller then calls CheckGuesses with the
// screen that has the answer.
func (p *Predictor) Ack(mark uint64) {
	p.acked = max(p.acked, mark)
	n := 0
	for n < len(p.pending) && p.pending[n].mark <= p.acked {
		n++
	}
	p.pending = slices.Delete(p.pending, 0, n)
	p.late = p.late && len(p.pending) > 0
}

// RecordRTT records a measured round trip.
func (p *Predictor) RecordRTT(rtt time.Duration) {
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

// RTT returns the smoothed round trip; 0 if never measured.
func (p *Predictor) RTT() time.Duration { return p.rtt }

// CheckGuesses compares guesses with a screen that has changed, or that contains the
// answer to input acknowledged by Ack.
func (p *Predictor) CheckGuesses(s Screen) {
	wrong := false
	for at, g := range p.guesses {
		right := cellAt(s, at).Text == g.Text
		switch {
		case right && g.before != g.Text && !g.pushed:
			p.confirmed = true
		case !right && g.mark <= p.acked:
			wrong, p.overtype = true, p.overtype || g.pushed
		}
		if g.mark <= p.acked {
			delete(p.guesses, at)
		}
	}
	wrong = wrong || p.cursorKnown && !p.uncertain && len(p.pending) == 0 && p.cursor != p.screenCursor(s)
	if wrong || p.uncertain && p.uncertainTo <= p.acked {
		p.dropGuesses()
		// One wrong guess spoils all later ones, so the pending keys are guessed again.
		for _, t := range p.pending {
			p.guessKey(t.key, t.mark, s)
		}
	}
}

// screenCursor returns the cursor of the screen; -1, -1 if unknown.
func (p *Predictor) screenCursor(s Screen) Position {
	cols, rows := s.Size()
	x, y, ok := s.Cursor()
	if ok && x >= cols {
		x, y = 0, y+1
	}
	if !ok || y >= rows {
		return Position{-1, -1}
	}
	return Position{x, y}
}

func cellAt(s Screen, at Position) Cell {
	if cols, rows := s.Size(); at.X >= cols || at.Y >= rows {
		return Cell{}
	}
	return s.Cell(at.X, at.Y)
}

// MakeOverlay returns what to draw over the screen now.
func (p *Predictor) MakeOverlay(now time.Time, s Screen) Overlay {
	if !p.isVisible(now) {
		return Overlay{}
	}
	var o Overlay
	for at, g := range p.guesses {
		if g.Text != "" && cellAt(s, at).Text != g.Text {
			o.Cells = append(o.Cells, OverlayCell{at, g.Cell})
		}
	}
	slices.SortFunc(o.Cells, func(a, b OverlayCell) int {
		if a.Y != b.Y {
			return a.Y - b.Y
		}
		return a.X - b.X
	})
	if cursor := p.cursor; p.cursorKnown && len(p.pending) > 0 && cursor != p.screenCursor(s) {
		cols, _ := s.Size()
		cursor.X = min(cursor.X, cols-1)
		o.Cursor = &cursor
	}
	return o
}

func (p *Predictor) isVisible(now time.Time) bool {
	if len(p.pending) > 0 && now.Sub(p.pending[0].at) >= late {
		p.late = true
	}
	// Older engines do not answer marks.
	sure := p.confirmed && p.acked > 0
	return sure && (p.Mode == Always || (p.Mode == Auto && (p.slow || p.late)))
}

// NextChange returns the time at which the overlay will change because an answer is late by then;
// ok is false if there is no such time.
func (p *Predictor) NextChange() (at time.Time, ok bool) {
	if p.Mode != Auto || p.slow || p.late || len(p.pending) == 0 {
		return at, false
	}
	return p.pending[0].at.Add(late), true
}

// guessKey guesses the effect of a key.
func (p *Predictor) guessKey(k keys.Key, mark uint64, s Screen) {
	if p.uncertain || !p.locateCursor(s) {
		if !p.uncertain {
			p.RecordUnknown(mark)
		}
		return
	}
	e := edit{p, s, mark}
	var told bool
	switch text, width := keyText(k); {
	case width > 0:
		told = e.typeText(text, width)
	case k.Mods != 0:
	case k.Code == keys.Backspace:
		told = e.eraseBack()
	case k.Code == keys.Left:
		told = e.moveLeft()
	case k.Code == keys.Right:
		told = e.moveRight()
	}
	if !told {
		p.RecordUnknown(mark)
	}
}

// keyText returns the character typed by a key; width 0 if it types none.
func keyText(k keys.Key) (text string, width int) {
	if k.Mods&^keys.Shift != 0 || k.Text == "" || k.Text < " " || k.Text[0] == 0x7f {
		return "", 0
	}
	cluster, width := cellwidth.First(k.Text)
	if cluster != k.Text {
		return "", 0
	}
	return cluster, width
}

// locateCursor updates the predicted cursor, and reports whether it is known.
func (p *Predictor) locateCursor(s Screen) bool {
	actual := p.screenCursor(s)
	if actual.X < 0 {
		return false
	}
	if p.cursorKnown && len(p.pending) > 1 {
		return true
	}
	// Something else has moved the cursor.
	if !p.cursorKnown || p.cursor != actual {
		p.cursorKnown, p.confirmed, p.cursor, p.lineStart = true, false, actual, actual
	}
	return true
}
