package screen

import (
	"math/rand/v2"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"tandem/panes/graphics"
)

// A Placed is a picture with its upper left corner at a cell; without a picture
// it is nothing.
type Placed struct {
	Picture *graphics.Picture
	X, Y    int
}

// Speaks reports whether there is a picture for a protocol.
func (p Placed) Speaks(protocol graphics.Protocol) bool {
	return p.Picture != nil && p.Picture.Protocol == protocol
}

// crosses reports whether the picture is in a row of the screen.
func (p Placed) crosses(y int) bool {
	return p.Picture != nil && y >= p.Y && y < p.Y+p.Picture.Rows
}

// hurtBy reports whether a row of the screen that becomes another one may be
// written as far as the picture. The renderer writes from the first to the last
// cell that differs, and others too beside plain blanks: to the left of the
// picture, where a row may be cleared from its beginning, and at the row's end.
func (p Placed) hurtBy(before, after uv.Line) bool {
	if p.X > 0 && after[p.X-1].Content == " " || after[len(after)-1].Style.Attrs&uv.AttrConceal == 0 {
		return true
	}
	for x := p.X; x < len(after); x++ {
		if !after[x].Equal(&before[x]) {
			return true
		}
	}
	return false
}

// A keptPicture knows which picture the terminal shows and, of kitty's protocol,
// keeps: one at most.
type keptPicture struct {
	shown Placed
	held  *graphics.Picture
	id    uint32 // of held
}

// A pictureChange is what a change of the picture writes: what may come at any time
// before it is seen, and what comes after the cells were written, among which the
// picture before goes last, so that nothing is bare for a moment.
type pictureChange struct{ before, put []byte }

func (t *pictureChange) any() bool { return len(t.put) > 0 }

// turn changes the picture. One that was hurt is shown again. Sixels are part of
// the cells and go when those are written. After the screen was erased a terminal
// has no picture of kitty's protocol any more, shown or kept: kitty and Ghostty
// let go of what ED 2 takes off the screen.
func (p *keptPicture) turn(next Placed, hurt, erased bool) (t pictureChange) {
	if next == p.shown && !hurt && !erased {
		return t
	}
	if erased {
		t.put = p.forget(t.put) // of terminals that do keep it
	}
	was := *p
	if next.Speaks(graphics.Kitty) && next.Picture != p.held {
		p.held, p.id = next.Picture, 1+rand.Uint32N(1<<31-1)
		if erased {
			t.put = graphics.AppendTransmit(t.put, p.id, next.Picture.Data)
		} else {
			t.before = graphics.AppendTransmit(t.before, p.id, next.Picture.Data)
		}
	}
	if next.Picture != nil {
		t.put = append(t.put, ansi.CursorPosition(next.X+1, next.Y+1)...)
	}
	switch {
	case next.Speaks(graphics.Kitty):
		t.put = graphics.AppendPlace(t.put, p.id, next.Picture.Cols, next.Picture.Rows)
	case next.Speaks(graphics.Sixel):
		t.put = append(t.put, next.Picture.Data...)
	}
	switch {
	case was.held != nil && was.held != p.held:
		t.put = graphics.AppendDelete(t.put, was.id)
	case was.shown.Speaks(graphics.Kitty) && was.shown.Picture != next.Picture:
		t.put = graphics.AppendHide(t.put, was.id)
	}
	p.shown = next
	return t
}

// forget appends what leaves nothing in the terminal.
func (p *keptPicture) forget(dst []byte) []byte {
	if p.held != nil {
		dst = graphics.AppendDelete(dst, p.id)
	}
	*p = keptPicture{}
	return dst
}
