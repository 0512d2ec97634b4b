package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"unicode"
	"unicode/utf8"

	"tandem/engine/styled"
)

const (
	padding  = 8        // pixels around the cells at scale 1
	maxScale = 4        // of a picture
	maxSide  = 16 << 10 // pixels
)

// PNG draws a screen. Cells are 9 × 20 pixels at scale 1; a scale outside 1 to
// 4, or one with which the picture would be larger than 16,384 pixels on a side,
// becomes the nearest that is not.
func PNG(s Screen, scale int) ([]byte, error) {
	scale = min(max(scale, 1), maxScale)
	for scale > 1 && max(s.Cols*cellWidth, s.Rows*cellHeight)*scale > maxSide {
		scale--
	}
	glyphs, err := newGlyphSet(scale)
	if err != nil {
		return nil, err
	}
	size := image.Rect(0, 0, (s.Cols*cellWidth+2*padding)*scale, (s.Rows*cellHeight+2*padding)*scale)
	defer glyphs.close()
	c := &canvas{img: image.NewRGBA(size), w: cellWidth * scale, h: cellHeight * scale, thin: scale}
	c.fill(0, 0, size.Dx(), size.Dy(), rgb(s.Palette.Background))
	printed := newPrinter(&s, c.w, c.h)
	for y, l := range s.Lines[:min(len(s.Lines), s.Rows)] {
		c.line(&s, l, y, padding*scale, glyphs, printed)
	}
	c.cursor(&s, padding*scale, glyphs)
	var b bytes.Buffer
	// Agents wait for it: speed counts more than the last tenth of size.
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	err = encoder.Encode(&b, c.img)
	return b.Bytes(), err
}

// line draws grounds first, because characters may reach over them.
func (c *canvas) line(s *Screen, l styled.Line, y, margin int, glyphs *glyphSet, printed *printer) {
	py := margin + y*c.h
	for p := range s.pieces(l) {
		if p.look.ground && p.x < s.Cols {
			c.fill(margin+p.x*c.w, py, p.cells*c.w, c.h, p.look.bg)
		}
	}
	c.strips(l, y, margin, true, printed)
	for p := range s.pieces(l) {
		if p.x < s.Cols {
			c.piece(p, margin+p.x*c.w, py, glyphs)
		}
	}
	c.strips(l, y, margin, false, printed)
}

func (c *canvas) piece(p piece, x, y int, glyphs *glyphSet) {
	if !p.look.hidden {
		c.characters(p, x, y, p.look.fg, glyphs)
	}
	c.lines(p, x, y, ascent*c.thin)
}

// characters draws a cluster's code points over each other, as combining marks
// of this font sit where they belong.
func (c *canvas) characters(p piece, x, y int, ink color.RGBA, glyphs *glyphSet) {
	first, _ := utf8.DecodeRuneInString(p.text)
	switch {
	case first == ' ' || first == utf8.RuneError:
		return
	case drawn(first):
		c.drawSpecial(first, x, y, ink)
		return
	}
	for i, r := range p.text {
		m := glyphs.mask(glyphKey{r, p.look.bold, p.look.italic})
		if other, ok := lookalikes[r]; ok && m == nil {
			m = glyphs.mask(glyphKey{other, p.look.bold, p.look.italic})
		}
		if m == nil && i == 0 && c.figure(r, p.cells, x, y, ink) {
			continue
		}
		if m == nil && (i == 0 || unicode.Is(unicode.M, r)) {
			m = glyphs.systemMask(r, p.cells)
		}
		switch {
		case m != nil:
			c.mask(m, x, y, ink)
		case i == 0:
			c.missing(r, p.cells, x, y, ink)
		}
	}
}

// lookalikes are drawn for symbols that programs like and the font lacks.
var lookalikes = map[rune]rune{
	'✔': '✓', '✅': '✓', '☑': '✓', '✘': '✗', '✖': '✕', '❌': '✕', '☒': '✕',
	'✨': '*', '✻': '*', '✢': '+', '✽': '*', '✳': '*',
	'ℹ': 'i', '⎿': '└', '␣': '_', '⏎': '↵', '⟳': '↺', '↻': '↺',
}

// cursor draws the cursor; a block shows what it stands on in the background's
// colour.
func (c *canvas) cursor(s *Screen, margin int, glyphs *glyphSet) {
	cur := s.Cursor
	if !cur.Visible || cur.X < 0 || cur.X >= s.Cols || cur.Y < 0 || cur.Y >= s.Rows {
		return
	}
	x, y, ink := margin+cur.X*c.w, margin+cur.Y*c.h, rgb(s.Palette.Cursor)
	switch cur.Shape {
	case styled.CursorBar:
		c.fill(x, y, 2*c.thin, c.h, ink)
	case styled.CursorUnderline:
		c.fill(x, y+c.h-2*c.thin, c.w, 2*c.thin, ink)
	default:
		under := s.at(cur.X, cur.Y)
		c.fill(x, y, under.cells*c.w, c.h, ink)
		c.characters(under, x, y, rgb(s.Palette.Background), glyphs)
	}
}

// at is the cluster in a cell; a blank if there is none.
func (s *Screen) at(x, y int) piece {
	if y < len(s.Lines) {
		for p := range s.pieces(s.Lines[y]) {
			if p.x <= x && x < p.x+p.cells {
				return p
			}
		}
	}
	return piece{text: " ", x: x, cells: 1}
}
