package vt

import (
	"fmt"

	"tandem/engine/styled"
	"tandem/engine/vt/graphics"
	"tandem/engine/vt/grid"
)

// CellWidth and CellHeight are the size of a cell in pixels until a viewer tells its own.
const (
	CellWidth  = 10
	CellHeight = 20
)

// A canvas is the terminal as its pictures see it.
type canvas struct{ t *Terminal }

func (c canvas) Alt() bool { return c.t.scr == c.t.other }

func (c canvas) Cursor() (x, y int) { return c.t.cur.x, c.t.cur.y }

func (c canvas) Answer(b []byte) { c.t.reply(b) }

func (c canvas) Index() { c.t.index() }

func (c canvas) Redraw() {
	c.t.touchRows(0, c.t.rows-1)
	c.t.fullSeq = c.t.epoch // placeholders may be in the scrollback too
}

func (c canvas) Put(p *graphics.Placement, x, y int, move, cover bool) {
	t := c.t
	t.joinOK = false
	for n := range p.Rows {
		if n > 0 && move {
			before := t.cur.y
			if t.index(); t.cur.y == before && before != t.region.Bottom {
				return
			}
			y = t.cur.y
		} else if n > 0 {
			y++
		}
		if y >= t.rows {
			return
		}
		if cover {
			t.eraseCells(x, y, p.Cols, t.blankID())
		}
		t.changeStrips(t.scr, y, t.scr.strips.At(y).With(p, n, x))
	}
	t.cur.pending = t.cur.pending && !move
}

func (c canvas) Behind(cols int) {
	t := c.t
	left, right := t.leftLimit(), t.rightLimit()
	if t.cur.x += cols; t.cur.x > right {
		t.cur.x = left
		t.index()
	}
	t.cur.pending = false
}

func (c canvas) Each(alt bool, f func(y int, s *graphics.Strips) *graphics.Strips) {
	t, s := c.t, c.t.main
	if alt {
		s = t.other
	}
	for y := 0; s != nil && y < len(s.strips); y++ {
		if was := s.strips[y]; was != nil {
			t.changeStrips(s, y, f(y, was))
		}
	}
	if alt {
		return
	}
	for n, kept := range t.hist.Strips() {
		if left := f(-1, kept); left != kept {
			t.keepStrips(n, left)
		}
	}
}

// changeStrips changes those of a row, if they differ.
func (t *store) changeStrips(s *screen, y int, strips *graphics.Strips) {
	if s.strips.At(y) != strips {
		s.strips = s.strips.With(len(s.rows), y, strips)
		s.rows[y].version = t.epoch
		t.pictured++
	}
}

// keepStrips changes those of a line of the scrollback, of which diffs tell no changes.
func (t *store) keepStrips(n int64, s *graphics.Strips) {
	t.hist.SetStrips(n, s)
	t.fullSeq = t.epoch
}

// cutStrips is what text does to pictures that are like it.
func (t *store) cutStrips(x, y, n int) {
	if was := t.scr.strips.At(y); was != nil {
		t.changeStrips(t.scr, y, was.Without(x, x+n))
	}
}

// dropStrips takes the pictures of rows away, whatever they are.
func (t *store) dropStrips(top, bottom int) {
	for y := top; y <= bottom; y++ {
		t.changeStrips(t.scr, y, nil)
	}
}

// placeholders are what of pictures the placeholders among cells show, and the cells
// with blanks in their place.
func (t *store) placeholders(cells []grid.Cell, alt bool) ([]grid.Cell, []styled.Strip) {
	row := t.pictures.Row(alt)
	blanked := cells
	for x, c := range cells {
		t.text = t.text[:0]
		if c.Glyph > 0xFFFF && c.Glyph != grid.Tail {
			t.text = t.appendGlyph(t.text, c.Glyph)
		}
		if !graphics.IsPlaceholder(string(t.text)) {
			row.Skip()
			continue
		}
		if &blanked[0] == &cells[0] {
			blanked = append([]grid.Cell(nil), cells...)
		}
		blanked[x] = grid.Cell{Style: t.styles.id(pen{bg: t.styles.pens[c.Style].bg})}
		pen := t.styles.pens[c.Style]
		row.Hold(x, string(t.text), pen.fg, pen.ul)
	}
	return blanked, row.Seen
}

// Picture is the picture with a number that a Placement names; nil if it is not kept
// any more.
func (t *store) Picture(number uint64) *graphics.Picture { return t.pictures.Picture(number) }

// PictureUsage returns the usage of the pictures; nil if there have been none.
func (t *store) PictureUsage() *graphics.Usage { return t.pictures.Usage() }

// PictureChanges counts how often pictures were drawn, hidden or covered; scrolling is none of it.
func (t *store) PictureChanges() uint64 { return t.pictured }

// AppendPictures appends behind a repaint the pictures on the screen, by kitty's protocol.
func (t *Terminal) AppendPictures(dst []byte) []byte {
	o := Overlay{t}
	if n := len(dst); o.CanAddressCells() {
		if dst = t.pictures.AppendShown(dst); len(dst) > n {
			dst = o.AppendCursor(dst)
		}
	}
	return dst
}

// AppendCheckpoint appends what AppendRepaint does, and the pictures on the screens and
// those that the program can ask for by name. It is fit for a replay alone: only a
// terminal whose replies are off takes them.
func (t *Terminal) AppendCheckpoint(dst []byte) []byte {
	if t.started != nil {
		dst = append(append(dst, cleanSlate...), "\x1b_C\x1b\\"...) // restores started; its modes are almost always the plain ones
	}
	dst = t.AppendRepaint(dst)
	for _, n := range [...]int{2031, 2048} { // the person's terminal is not to tell these
		if *t.mode.flag(n) {
			dst = fmt.Appendf(dst, "\x1b[?%dh", n)
		}
	}
	dst = append(dst, "\x1b_T"...)
	return append(t.pictures.AppendKept(dst), "\x1b\\"...)
}

// dispatchAPC does a command of kitty's graphics protocol, or takes the pictures of a
// checkpoint.
func (t *Terminal) dispatchAPC(b []byte) {
	switch string(b[:min(len(b), 1)]) {
	case "G":
		if t.pictures.Kitty(b[1:]) {
			t.pictured++ // placeholders may show it
		}
	case "C":
		t.commandMark('C')
	case "T":
		t.pictures.Restore(b[1:], func(alt bool, y int, add func(*graphics.Strips) *graphics.Strips) {
			s := t.main
			if alt {
				s = t.other
			}
			if s != nil && y >= 0 && y < len(s.rows) {
				t.changeStrips(s, y, add(s.strips.At(y)))
			}
		})
	}
}
