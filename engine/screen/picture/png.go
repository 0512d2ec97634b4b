package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"unicode"
	"unicode/utf8"

	"tandem/engine/screen/styled"
)

const (
	padding  = 8        // pixels around the cells, at scale 1
	maxScale = 4        // of a picture
	maxSide  = 16 << 10 // pixels
)

// PNG draws a screen. Cells are 9 × 20 pixels at scale 1. scale is clamped to 1 to 4, and
// reduced if a side would exceed 16,384 pixels.
func PNG(s Screen, scale int) ([]byte, error) {
	scale = min(max(scale, 1), maxScale)
	// Reduce the scale instead of failing on a huge screen.
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
	c.fillRect(0, 0, size.Dx(), size.Dy(), rgb(s.Palette.Background))
	printed := newPrinter(&s, c.w, c.h)
	for y, l := range s.Lines[:min(len(s.Lines), s.Rows)] {
		c.drawLine(&s, l, y, padding*scale, glyphs, printed)
	}
	c.drawCursor(&s, padding*scale, glyphs)
	var b bytes.Buffer
	// Prefer speed to the last tenth of size: agents wait for the picture.
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	err = encoder.Encode(&b, c.img)
	return b.Bytes(), err
}

// drawLine draws backgrounds first, because characters may extend over them.
func (c *canvas) drawLine(s *Screen, l styled.Line, y, margin int, glyphs *glyphSet, printed *printer) {
	py := margin + y*c.h
	for p := range s.splitPieces(l) {
		if p.look.hasBackground && p.x < s.Cols {
			c.fillRect(margin+p.x*c.w, py, p.cells*c.w, c.h, p.look.bg)
		}
	}
	c.drawStrips(l, y, margin, true, printed)
	for p := range s.splitPieces(l) {
		if p.x < s.Cols {
			c.drawPiece(p, margin+p.x*c.w, py, glyphs)
		}
	}
	c.drawStrips(l, y, margin, false, printed)
}

func (c *canvas) drawPiece(p piece, x, y int, glyphs *glyphSet) {
	if !p.look.hidden {
		c.drawCharacters(p, x, y, p.look.fg, glyphs)
	}
	c.drawLines(p, x, y, ascent*c.thin)
}

// drawCharacters draws a cluster's code points on top of each other: the font positions combining
// marks correctly.
func (c *canvas) drawCharacters(p piece, x, y int, fg color.RGBA, glyphs *glyphSet) {
	first, _ := utf8.DecodeRuneInString(p.text)
	switch {
	case first == ' ' || first == utf8.RuneError:
		return
	case isDrawn(first):
		c.drawSpecial(first, x, y, fg)
		return
	}
	for i, r := range p.text {
		m := glyphs.maskOf(glyphKey{r, p.look.bold, p.look.italic})
		if other, ok := lookalikes[r]; ok && m == nil {
			m = glyphs.maskOf(glyphKey{other, p.look.bold, p.look.italic})
		}
		if m == nil && i == 0 && c.drawFigure(r, p.cells, x, y, fg) {
			continue
		}
		if m == nil && (i == 0 || unicode.Is(unicode.M, r)) {
			m = glyphs.systemMask(r, p.cells)
		}
		switch {
		case m != nil:
			c.drawMask(m, x, y, fg)
		case i == 0:
			c.drawMissing(r, p.cells, x, y, fg)
		}
	}
}

// lookalikes replace frequent symbols missing in the font.
var lookalikes = map[rune]rune{
	'✔': '✓', '✅': '✓', '☑': '✓', '✘': '✗', '✖': '✕', '❌': '✕', '☒': '✕',
	'✨': '*', '✻': '*', '✢': '+', '✽': '*', '✳': '*',
	'ℹ': 'i', '⎿': '└', '␣': '_', '⏎': '↵', '⟳': '↺', '↻': '↺',
}

// drawCursor draws the cursor. A block cursor shows the character below in the background colour.
func (c *canvas) drawCursor(s *Screen, margin int, glyphs *glyphSet) {
	cur := s.Cursor
	if !cur.Visible || cur.X < 0 || cur.X >= s.Cols || cur.Y < 0 || cur.Y >= s.Rows {
		return
	}
	x, y, fg := margin+cur.X*c.w, margin+cur.Y*c.h, rgb(s.Palette.Cursor)
	switch cur.Shape {
	case styled.CursorBar:
		c.fillRect(x, y, 2*c.thin, c.h, fg)
	case styled.CursorUnderline:
		c.fillRect(x, y+c.h-2*c.thin, c.w, 2*c.thin, fg)
	default:
		// The cursor covers both cells of a wide character.
		under := s.pieceAt(cur.X, cur.Y)
		c.fillRect(x, y, under.cells*c.w, c.h, fg)
		c.drawCharacters(under, x, y, rgb(s.Palette.Background), glyphs)
	}
}

// pieceAt returns the cluster in a cell, or a blank.
func (s *Screen) pieceAt(x, y int) piece {
	if y < len(s.Lines) {
		for p := range s.splitPieces(s.Lines[y]) {
			if p.x <= x && x < p.x+p.cells {
				return p
			}
		}
	}
	return piece{text: " ", x: x, cells: 1}
}
