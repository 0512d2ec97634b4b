package ui

import (
	"math/rand/v2"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"tandem/panes/graphics"
)

// A placed is a picture with its upper left corner at a cell; without a picture
// it is nothing.
type placed struct {
	picture *graphics.Picture
	x, y    int
}

// speaks reports whether there is a picture for a protocol.
func (p placed) speaks(protocol graphics.Protocol) bool {
	return p.picture != nil && p.picture.Protocol == protocol
}

// crosses reports whether the picture is in a row of the screen.
func (p placed) crosses(y int) bool {
	return p.picture != nil && y >= p.y && y < p.y+p.picture.Rows
}

// hurtBy reports whether a row of the screen that becomes another one may be
// written as far as the picture. The renderer writes from the first to the last
// cell that differs, and others too beside plain blanks: to the left of the
// picture, where a row may be cleared from its beginning, and at the row's end.
func (p placed) hurtBy(before, after uv.Line) bool {
	if p.x > 0 && after[p.x-1].Content == " " || after[len(after)-1].Style.Attrs&uv.AttrConceal == 0 {
		return true
	}
	for x := p.x; x < len(after); x++ {
		if !after[x].Equal(&before[x]) {
			return true
		}
	}
	return false
}

// An easel knows which picture the terminal shows and, of kitty's protocol,
// keeps: one at most.
type easel struct {
	shown placed
	held  *graphics.Picture
	id    uint32 // of held
}

// An easelTurn is what a change of the picture writes: what may come at any time
// before it is seen, what comes before the cells are written and what after.
type easelTurn struct{ before, remove, put []byte }

func (t *easelTurn) any() bool { return len(t.remove)+len(t.put) > 0 }

// turn changes the picture. One that was hurt is shown again. Sixels are part of
// the cells and go when those are written.
func (e *easel) turn(next placed, hurt bool) (t easelTurn) {
	if next == e.shown && !hurt {
		return t
	}
	if e.shown.speaks(graphics.Kitty) && next.picture != e.shown.picture {
		t.remove = graphics.AppendHide(t.remove, e.id)
	}
	if next.speaks(graphics.Kitty) && next.picture != e.held {
		t.before = e.forget(t.before)
		e.held, e.id = next.picture, 1+rand.Uint32N(1<<31-1)
		t.before = graphics.AppendTransmit(t.before, e.id, next.picture.Data)
	}
	if next.picture != nil {
		t.put = append(t.put, ansi.CursorPosition(next.x+1, next.y+1)...)
	}
	switch {
	case next.speaks(graphics.Kitty):
		t.put = graphics.AppendPlace(t.put, e.id, next.picture.Cols, next.picture.Rows)
	case next.speaks(graphics.Sixel):
		t.put = append(t.put, next.picture.Data...)
	}
	e.shown = next
	return t
}

// forget appends what leaves nothing in the terminal.
func (e *easel) forget(dst []byte) []byte {
	if e.held != nil {
		dst = graphics.AppendForget(dst, e.id)
	}
	*e = easel{}
	return dst
}
