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
// before it is seen, and what comes after the cells were written, among which the
// picture before goes last, so that nothing is bare for a moment.
type easelTurn struct{ before, put []byte }

func (t *easelTurn) any() bool { return len(t.put) > 0 }

// turn changes the picture. One that was hurt is shown again. Sixels are part of
// the cells and go when those are written. After the screen was erased a terminal
// has no picture of kitty's protocol any more, shown or kept: kitty and Ghostty
// let go of what ED 2 takes off the screen.
func (e *easel) turn(next placed, hurt, erased bool) (t easelTurn) {
	if next == e.shown && !hurt && !erased {
		return t
	}
	if erased {
		t.put = e.forget(t.put) // of terminals that do keep it
	}
	was := *e
	if next.speaks(graphics.Kitty) && next.picture != e.held {
		e.held, e.id = next.picture, 1+rand.Uint32N(1<<31-1)
		if erased {
			t.put = graphics.AppendTransmit(t.put, e.id, next.picture.Data)
		} else {
			t.before = graphics.AppendTransmit(t.before, e.id, next.picture.Data)
		}
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
	switch {
	case was.held != nil && was.held != e.held:
		t.put = graphics.AppendForget(t.put, was.id)
	case was.shown.speaks(graphics.Kitty) && was.shown.picture != next.picture:
		t.put = graphics.AppendHide(t.put, was.id)
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
