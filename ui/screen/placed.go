package screen

import (
	"math/rand/v2"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"tandem/panes/kit/graphics"
)

// A Placement is a picture with its upper left corner at a cell. Without a picture it is
// empty.
type Placement struct {
	Picture *graphics.Picture
	X, Y    int
}

// UsesProtocol reports whether the placement has a picture for protocol.
func (p Placement) UsesProtocol(protocol graphics.Protocol) bool {
	return p.Picture != nil && p.Picture.Protocol == protocol
}

// coversRow reports whether the picture covers row y of the screen.
func (p Placement) coversRow(y int) bool {
	return p.Picture != nil && y >= p.Y && y < p.Y+p.Picture.Rows
}

// isDamagedBy reports whether painting a row may overwrite the picture, when the row's cells change
// from those in before to those in after. The renderer writes from the first to the last changed
// cell. It may also clear the start of the row if the cell left of the picture is blank, and the
// end of the row unless the last cell is concealed, like the cells that are drawn below a picture.
func (p Placement) isDamagedBy(before, after uv.Line) bool {
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

// A terminalPicture tracks the one picture that the terminal shows and, for kitty's protocol, the
// one it has stored.
type terminalPicture struct {
	shown  Placement
	stored *graphics.Picture
	id     uint32 // of stored
}

// A pictureChange is the output for a change of the picture. before can be written at any time
// before the change is visible. put is written after the cells. It removes the previous picture
// last, so that meanwhile no cell is without a picture.
type pictureChange struct{ before, put []byte }

func (t *pictureChange) isVisible() bool { return len(t.put) > 0 }

// changeTo changes the picture, and shows a damaged one again. Sixels belong to the cells and
// vanish when those are written. After the screen is erased, a terminal has neither shown nor
// stored pictures of kitty's protocol, because kitty and Ghostty delete the pictures that ED 2
// removes from the screen.
func (p *terminalPicture) changeTo(next Placement, hurt, erased bool) (t pictureChange) {
	if next == p.shown && !hurt && !erased {
		return t
	}
	if erased {
		// Some terminals keep the picture even after erasing.
		t.put = p.appendForget(t.put)
	}
	was := *p
	if next.UsesProtocol(graphics.Kitty) && next.Picture != p.stored {
		p.stored, p.id = next.Picture, 1+rand.Uint32N(1<<31-1)
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
	case next.UsesProtocol(graphics.Kitty):
		t.put = graphics.AppendPlace(t.put, p.id, next.Picture.Cols, next.Picture.Rows)
	case next.UsesProtocol(graphics.Sixel):
		t.put = append(t.put, next.Picture.Data...)
	}
	switch {
	case was.stored != nil && was.stored != p.stored:
		t.put = graphics.AppendDelete(t.put, was.id)
	case was.shown.UsesProtocol(graphics.Kitty) && was.shown.Picture != next.Picture:
		t.put = graphics.AppendHide(t.put, was.id)
	}
	p.shown = next
	return t
}

// appendForget appends the sequence that deletes the stored picture.
func (p *terminalPicture) appendForget(dst []byte) []byte {
	if p.stored != nil {
		dst = graphics.AppendDelete(dst, p.id)
	}
	*p = terminalPicture{}
	return dst
}
