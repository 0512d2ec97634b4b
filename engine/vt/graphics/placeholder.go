package graphics

import (
	"image"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi/kitty"

	"tandem/engine/styled"
)

// placeholder stands in cells where a virtual placement is to be seen: kitty's Unicode
// placeholders.
const placeholder = 0x10EEEE

// A held cell is a placeholder as it is understood.
type held struct {
	image    uint32 // the ID, but for its high byte
	high     int    // that; -1 if it is not said
	id       uint32 // of the placement
	row, col int    // of it; -1 if it is not said
}

// A Holder reads a row for placeholders, cell by cell.
type Holder struct {
	p      *Pictures
	alt    bool
	before held
	inside bool // the cell before was one
	Seen   []styled.Strip
}

// Holds says that there may be placeholders that show something.
func (p *Pictures) Holds() bool { return p.virtual }

// Row begins a row of the main screen and its scrollback or of the alternate screen.
func (p *Pictures) Row(alt bool) Holder { return Holder{p: p, alt: alt} }

// IsPlaceholder says that a cluster is one.
func IsPlaceholder(cluster string) bool {
	first, _ := utf8.DecodeRuneInString(cluster)
	return first == placeholder
}

// Skip passes a cell that is no placeholder.
func (h *Holder) Skip() { h.inside = false }

// Hold takes the placeholder in column x: its marks and the colours of its text and of its
// underline say what is to be seen there.
func (h *Holder) Hold(x int, cluster string, fg, underline styled.Color) {
	now := h.p.read(cluster, fg, underline).after(h.before, h.inside)
	goesOn := h.inside && now == h.before.next()
	h.before, h.inside = now, true
	if n := len(h.Seen); goesOn && n > 0 && h.Seen[n-1].To == x {
		if now.col < h.Seen[n-1].Cols {
			h.Seen[n-1].To++
		}
		return
	}
	if at := h.p.virtualPlacement(h.alt, now); at != nil && now.row < at.Rows && now.col < at.Cols {
		h.Seen = append(h.Seen, styled.Strip{Placement: at, Row: now.row, X: x - now.col, From: x, To: x + 1})
	}
}

// read reads a placeholder.
func (p *Pictures) read(cluster string, fg, underline styled.Color) held {
	h := held{image: colorID(fg), id: colorID(underline), row: -1, col: -1, high: -1}
	_, n := utf8.DecodeRuneInString(cluster)
	for i, r := range []rune(cluster[n:]) {
		n, known := p.diacritic(r)
		if !known || i > 2 {
			break
		}
		*[...]*int{&h.row, &h.col, &h.high}[i] = n
	}
	return h
}

// next is what the cell behind this one shows if it says nothing.
func (h held) next() held {
	h.col++
	return h
}

// colorID is the number that a colour stands for.
func colorID(c styled.Color) uint32 {
	if c&styled.ColorRGB != 0 {
		return uint32(c & 0xFFFFFF)
	}
	return uint32(c & 0xFF)
}

// after adds what a cell leaves unsaid because the one before it says it.
func (h held) after(before held, inside bool) held {
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

// virtualPlacement is the placement that a placeholder names; nil if there is none.
func (p *Pictures) virtualPlacement(alt bool, h held) *styled.Placement {
	i := p.store.Find(alt, h.image|uint32(h.high)<<24)
	if i == nil {
		return nil
	}
	for at := range i.Virtual {
		if v := &i.Virtual[at]; h.id == 0 || v.ID == h.id {
			return p.fitted(i, v)
		}
	}
	return nil
}

// fitted is a virtual placement: the picture in its proportions in the middle of its
// cells.
func (p *Pictures) fitted(i *Image, v *Virtual) *styled.Placement {
	if v.Shown != nil {
		return v.Shown
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
	v.Shown = &styled.Placement{ID: v.Serial, Picture: i.Picture.Number, Source: image.Rectangle{Max: size},
		Cols: cols, Rows: rows, Cell: cell, Box: image.Rectangle{Min: at, Max: at.Add(box)}}
	return v.Shown
}

// diacritic is the number that a combining character stands for.
func (p *Pictures) diacritic(r rune) (n int, known bool) {
	if p.diacritics == nil {
		p.diacritics = map[rune]int{}
		for n := 0; ; n++ {
			r := kitty.Diacritic(n)
			if _, twice := p.diacritics[r]; twice { // behind the last it gives the first
				break
			}
			p.diacritics[r] = n
		}
	}
	n, known = p.diacritics[r]
	return n, known
}
