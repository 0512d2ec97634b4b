package vt

import (
	"bytes"
	"fmt"

	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/graphics"
	"tandem/engine/screen/vt/grid"
)

// CellWidth and CellHeight are the size of a cell in pixels until a viewer sets it.
const (
	CellWidth  = 10
	CellHeight = 20
)

// A canvas gives package graphics access to the terminal that its pictures are drawn on.
type canvas struct{ t *Terminal }

func (c canvas) Alt() bool { return c.t.store.scr == c.t.store.alt }

func (c canvas) Cursor() (x, y int) { return c.t.page.cur.x, c.t.page.cur.y }

func (c canvas) Reply(b []byte) { c.t.host.sendReply(b) }

func (c canvas) Index() { c.t.page.index() }

func (c canvas) Redraw() {
	c.t.store.touchRows(0, c.t.store.rows-1)
	c.t.store.fullSeq = c.t.store.epoch // the scrollback may have placeholders too
}

func (c canvas) PutPlacement(p *graphics.Placement, x, y int, move, cover bool) {
	t := c.t
	t.writer.joinOK = false
	for n := range p.Rows {
		if n > 0 && move {
			before := t.page.cur.y
			// Below the margins, the last row is the end: nothing scrolls there.
			if t.page.index(); t.page.cur.y == before && before != t.page.region.Bottom {
				return
			}
			y = t.page.cur.y
		} else if n > 0 {
			y++
		}
		if y >= t.store.rows {
			return
		}
		if cover {
			t.page.eraseCells(x, y, p.Cols, t.page.blankID())
		}
		t.store.setStrips(t.store.scr, y, t.store.scr.strips.At(y).With(p, n, x))
	}
	t.page.cur.pending = t.page.cur.pending && !move
}

func (c canvas) AdvanceCursor(cols int) {
	t := c.t
	left, right := t.page.leftLimit(), t.page.rightLimit()
	if t.page.cur.x += cols; t.page.cur.x > right {
		t.page.cur.x = left
		t.page.index()
	}
	t.page.cur.pending = false
}

func (c canvas) EachRow(alt bool, f func(y int, s *graphics.Strips) *graphics.Strips) {
	t, s := c.t, c.t.store.main
	if alt {
		s = t.store.alt
	}
	for y := 0; s != nil && y < len(s.strips); y++ {
		if strips := s.strips[y]; strips != nil {
			t.store.setStrips(s, y, f(y, strips))
		}
	}
	if alt {
		return
	}
	for n, kept := range t.store.hist.Strips() {
		if left := f(-1, kept); left != kept {
			t.store.setScrollbackStrips(n, left)
		}
	}
}

// setStrips replaces the strips of row y of s, if they differ.
func (t *store) setStrips(s *screen, y int, strips *graphics.Strips) {
	if s.strips.At(y) != strips {
		s.strips = s.strips.With(len(s.rows), y, strips)
		s.rows[y].version = t.epoch
		t.pictures.Changes.Pictures++
	}
}

// setScrollbackStrips replaces the strips of a scrollback line. Diffs do not report changes there,
// so the next diff of every viewer is a full one.
func (t *store) setScrollbackStrips(n int64, s *graphics.Strips) {
	t.hist.SetStrips(n, s)
	t.fullSeq = t.epoch
}

// cutTextStrips removes text-like pictures, such as sixels, from n cells about to be written.
func (t *store) cutTextStrips(x, y, n int) {
	if strips := t.scr.strips.At(y); strips != nil {
		t.setStrips(t.scr, y, strips.Without(x, x+n))
	}
}

// dropStrips removes all pictures from rows.
func (t *store) dropStrips(top, bottom int) {
	for y := top; y <= bottom; y++ {
		t.setStrips(t.scr, y, nil)
	}
}

// replacePlaceholders returns cells with kitty's placeholders replaced by blanks, and the strips of
// the pictures they stand for.
func (t *store) replacePlaceholders(cells []grid.Cell, alt bool) ([]grid.Cell, []styled.Strip) {
	row := t.pictures.NewReader(alt)
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
		// cells belong to the grid, so the first change needs a copy.
		if &blanked[0] == &cells[0] {
			blanked = append([]grid.Cell(nil), cells...)
		}
		blanked[x] = grid.Cell{Style: t.styles.intern(pen{Rendition: styled.Rendition{BG: t.styles.pens[c.Style].BG}})}
		pen := t.styles.pens[c.Style]
		row.Read(x, string(t.text), pen.FG, pen.UL)
	}
	return blanked, row.Strips
}

// Picture returns a picture by the number in a Placement; nil if it is no longer kept.
func (t *Terminal) Picture(number uint64) *graphics.Picture { return t.store.pictures.Picture(number) }

// PictureUsage returns the usage of the pictures; nil if there have been none.
func (t *Terminal) PictureUsage() *graphics.Usage { return t.store.pictures.Usage() }

// PictureChanges returns the counters of the pictures' changes.
func (t *Terminal) PictureChanges() graphics.Changes { return t.store.pictures.Changes }

// AppendPictures appends the pictures on the screen, in kitty's protocol, for use after a repaint.
func (t *Terminal) AppendPictures(dst []byte) []byte {
	o := Overlay{t}
	if n := len(dst); o.CanAddressCells() {
		if dst = t.store.pictures.AppendShown(dst); len(dst) > n {
			dst = o.AppendCursor(dst)
		}
	}
	return dst
}

// startedMark and picturesMark are control strings of a checkpoint: a command starts in the modes
// set so far; the saved pictures follow. Only RestoreCheckpoint knows them, because a program can
// print them too, and its output is replayed.
const startedMark, picturesMark = "\x1b_C\x1b\\", "\x1b_T"

// AppendCheckpoint appends a repaint, the pictures on the screens, and pictures the program can
// still name, for RestoreCheckpoint. The caller may append reports and marks.
func (t *Terminal) AppendCheckpoint(dst []byte) []byte {
	if t.host.started != nil {
		dst = append(append(dst, cleanSlate...), startedMark...) // almost always in the default modes
	}
	dst = t.AppendRepaint(dst)
	for _, n := range [...]int{2031, 2048} { // not in a repaint: the user's terminal must not send these reports
		if *t.page.mode.privateFlag(n) {
			dst = fmt.Appendf(dst, "\x1b[?%dh", n)
		}
	}
	return append(t.store.pictures.AppendSaved(append(dst, picturesMark...)), "\x1b\\"...)
}

// RestoreCheckpoint restores a checkpoint in a new terminal, whose replies must be off.
func (t *Terminal) RestoreCheckpoint(checkpoint []byte) {
	repaint, rest, _ := bytes.Cut(checkpoint, []byte(picturesMark))
	if before, after, ok := bytes.Cut(repaint, []byte(startedMark)); ok {
		t.Write(before)
		t.host.trackCommand('C', false)
		repaint = after
	}
	pictures, marks, _ := bytes.Cut(rest, []byte("\x1b\\"))
	t.Write(repaint)
	t.store.pictures.Restore(pictures, func(alt bool, y int, add func(*graphics.Strips) *graphics.Strips) {
		s := t.store.main
		if alt {
			s = t.store.alt
		}
		if s != nil && y >= 0 && y < len(s.rows) {
			t.store.setStrips(s, y, add(s.strips.At(y)))
		}
	})
	t.Write(marks)
}
