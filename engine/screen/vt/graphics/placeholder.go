package graphics

import (
	"image"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi/kitty"

	"tandem/engine/screen/styled"
)

// placeholder is the character of kitty's Unicode placeholders, printed in the cells of a virtual
// placement.
const placeholder = 0x10EEEE

// A placeholderCell is a decoded placeholder.
type placeholderCell struct {
	image    uint32 // its ID without the high byte
	high     int    // the ID's high byte; -1 if missing
	id       uint32 // of the placement
	row, col int    // of the placement; -1 if missing
}

// A PlaceholderReader collects the placeholders of a row, cell by cell.
type PlaceholderReader struct {
	p        *Pictures
	alt      bool
	previous placeholderCell
	inside   bool // the previous cell was a placeholder
	Strips   []styled.Strip
}

// HasVirtual reports whether there may be virtual placements.
func (p *Pictures) HasVirtual() bool { return p.virtual }

// NewReader returns a reader for a row of the alternate screen, or of the main one and its
// scrollback.
func (p *Pictures) NewReader(alt bool) PlaceholderReader { return PlaceholderReader{p: p, alt: alt} }

// IsPlaceholder reports whether a cluster is a placeholder.
func IsPlaceholder(cluster string) bool {
	first, _ := utf8.DecodeRuneInString(cluster)
	return first == placeholder
}

// Skip moves past a cell without a placeholder.
func (h *PlaceholderReader) Skip() { h.inside = false }

// Read handles a placeholder in column x. Its combining characters and the colours of its text and
// underline select the picture and the cell of it.
func (h *PlaceholderReader) Read(x int, cluster string, fg, underline styled.Color) {
	now := h.p.parsePlaceholder(cluster, fg, underline).inheritFrom(h.previous, h.inside)
	// Consecutive cells of a picture become one strip.
	goesOn := h.inside && now == h.previous.nextCell()
	h.previous, h.inside = now, true
	if n := len(h.Strips); goesOn && n > 0 && h.Strips[n-1].To == x {
		if now.col < h.Strips[n-1].Cols {
			h.Strips[n-1].To++
		}
		return
	}
	if at := h.p.virtualPlacement(h.alt, now); at != nil && now.row < at.Rows && now.col < at.Cols {
		h.Strips = append(h.Strips, styled.Strip{Placement: at, Row: now.row, X: x - now.col, From: x, To: x + 1})
	}
}

// parsePlaceholder decodes a placeholder.
func (p *Pictures) parsePlaceholder(cluster string, fg, underline styled.Color) placeholderCell {
	h := placeholderCell{image: colorID(fg), id: colorID(underline), row: -1, col: -1, high: -1}
	_, n := utf8.DecodeRuneInString(cluster)
	for i, r := range []rune(cluster[n:]) {
		n, known := p.diacriticNumber(r)
		if !known || i > 2 {
			break
		}
		*[...]*int{&h.row, &h.col, &h.high}[i] = n
	}
	return h
}

// nextCell returns the default meaning of the next cell.
func (h placeholderCell) nextCell() placeholderCell {
	h.col++
	return h
}

// colorID returns the number encoded in a colour.
func colorID(c styled.Color) uint32 {
	if c&styled.ColorRGB != 0 {
		return uint32(c & 0xFFFFFF)
	}
	return uint32(c & 0xFF)
}

// inheritFrom fills in missing parts from the previous cell, as the protocol specifies.
func (h placeholderCell) inheritFrom(before placeholderCell, inside bool) placeholderCell {
	same := inside && h.image == before.image && h.id == before.id
	switch {
	case h.row < 0 && same && h.col < 0:
		h.row, h.col = before.row, before.col+1
	case h.col < 0 && same && h.row == before.row:
		h.col = before.col + 1
	}
	if h.high < 0 && same && h.row == before.row && h.col == before.col+1 {
		h.high = before.high
	}
	h.row, h.col, h.high = max(h.row, 0), max(h.col, 0), max(h.high, 0)
	return h
}

// virtualPlacement returns the placement of a placeholder; nil if there is none.
func (p *Pictures) virtualPlacement(alt bool, h placeholderCell) *styled.Placement {
	i := p.store.Find(alt, h.image|uint32(h.high)<<24)
	if i == nil {
		return nil
	}
	for at := range i.Virtual {
		if v := &i.Virtual[at]; h.id == 0 || v.ID == h.id {
			return p.fitVirtual(i, v)
		}
	}
	return nil
}

// fitVirtual returns a virtual placement: the picture in its proportions, centred in its cells.
func (p *Pictures) fitVirtual(i *Image, v *Virtual) *styled.Placement {
	if v.Placement != nil {
		return v.Placement
	}
	size, cell := i.Picture.Size, p.Cell
	cols, rows := v.Cols, v.Rows
	if cols == 0 {
		cols = (size.X + cell.X - 1) / cell.X
	}
	if rows == 0 {
		rows = (size.Y + cell.Y - 1) / cell.Y
	}
	room := image.Pt(cols*cell.X, rows*cell.Y)
	box := image.Pt(room.X, max(room.X*size.Y/size.X, 1))
	if box.Y > room.Y {
		box = image.Pt(max(room.Y*size.X/size.Y, 1), room.Y)
	}
	at := room.Sub(box).Div(2)
	v.Placement = &styled.Placement{ID: v.Serial, Picture: i.Picture.Number, Source: image.Rectangle{Max: size},
		Cols: cols, Rows: rows, Cell: cell, Box: image.Rectangle{Min: at, Max: at.Add(box)}}
	return v.Placement
}

// diacriticNumber returns the number encoded by a combining character.
func (p *Pictures) diacriticNumber(r rune) (n int, known bool) {
	if p.diacritics == nil {
		p.diacritics = map[rune]int{}
		for n := 0; ; n++ {
			r := kitty.Diacritic(n)
			if _, twice := p.diacritics[r]; twice { // past the end, kitty.Diacritic returns the first
				break
			}
			p.diacritics[r] = n
		}
	}
	n, known = p.diacritics[r]
	return n, known
}
