package picture

import (
	"fmt"
	"image/color"
	"iter"
	"strings"
	"unicode/utf8"

	"tandem/engine/screen/styled"
)

// fonts are the fonts a drawing requests, in order of preference.
const fonts = "JetBrains Mono, ui-monospace, Menlo, Consolas, monospace"

// SVG draws a screen as a document with selectable text. It requests its font but works with any
// monospaced one: each stretch of text is set to the width of its cells.
func SVG(s Screen) []byte {
	var b strings.Builder
	w, h := s.Cols*cellWidth+2*padding, s.Rows*cellHeight+2*padding
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="6" fill="%s"/>`+"\n", w, h, hexColor(rgb(s.Palette.Background)))
	fmt.Fprintf(&b, `<g font-family="%s" font-size="%d">`+"\n", fonts, emPixels)
	s.writePrinted(&b)
	for y := range min(len(s.Lines), s.Rows) {
		s.writeLine(&b, y)
	}
	s.writeCursor(&b)
	b.WriteString("</g>\n</svg>\n")
	return []byte(b.String())
}

func (s *Screen) writeLine(b *strings.Builder, y int) {
	s.writeStrips(b, y, true)
	drawn := shapes{b: b}
	for _, p := range s.joinPieces(s.Lines[y]) {
		px, py := padding+p.x*cellWidth, padding+y*cellHeight
		r, shape := shapeOf(p)
		if shape {
			p.text = ""
		}
		writeStretch(b, p, px, py)
		if shape {
			drawn.addCharacter(r, px, py, p.look.fg)
		}
	}
	drawn.writePath()
	s.writeStrips(b, y, false)
}

// joinPieces joins pieces with the same look if they are ASCII, whose width is the same in all
// monospaced fonts.
func (s *Screen) joinPieces(l styled.Line) []piece {
	var joined []piece
	for p := range s.splitPieces(l) {
		if p.x >= s.Cols {
			break
		}
		if n := len(joined); n > 0 && joined[n-1].look == p.look && isASCII(joined[n-1].text) && isASCII(p.text) {
			joined[n-1].text += p.text
			joined[n-1].cells += p.cells
			continue
		}
		joined = append(joined, p)
	}
	return joined
}

func isASCII(s string) bool {
	return len(s) > 0 && s[0] < utf8.RuneSelf && s[len(s)-1] < utf8.RuneSelf
}

func writeStretch(b *strings.Builder, p piece, x, y int) {
	if w := p.cells * cellWidth; p.look.hasBackground {
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", x, y, w, cellHeight, hexColor(p.look.bg))
	}
	if p.look.hidden {
		return
	}
	for at, part := range p.splitAtSpaces() {
		fmt.Fprintf(b, `<text x="%d" y="%d" fill="%s" textLength="%d" lengthAdjust="spacingAndGlyphs"%s>%s</text>`+"\n",
			x+at*cellWidth, y+ascent, hexColor(p.look.fg), part.cells*cellWidth, textAttributes(p.look), escaper.Replace(strings.Map(xmlRune, part.text)))
	}
}

// splitAtSpaces splits a piece at sequences of spaces, because some programs collapse them and then
// stretch the rest. It yields each part with the number of cells before it. With a line along the
// text, it uses no-break spaces instead.
func (p piece) splitAtSpaces() iter.Seq2[int, piece] {
	return func(yield func(int, piece) bool) {
		if p.look.hasLine() {
			p.text = strings.ReplaceAll(p.text, " ", "\u00a0")
			yield(0, p)
			return
		}
		at := 0
		for _, text := range strings.Split(p.text, "  ") {
			inner := strings.TrimPrefix(text, " ")
			left := at + len(text) - len(inner)
			at += len(text) + len("  ")
			part := p
			part.text = strings.TrimSuffix(inner, " ")
			part.cells -= len(p.text) - len(part.text)
			if part.text != "" && !yield(left, part) {
				return
			}
		}
	}
}

// textAttributes returns the attributes of a look besides its colour.
func textAttributes(l look) string {
	var b strings.Builder
	if l.bold {
		b.WriteString(` font-weight="bold"`)
	}
	if l.italic {
		b.WriteString(` font-style="italic"`)
	}
	var lines []string
	if l.strike {
		lines = append(lines, "line-through")
	}
	if l.overline {
		lines = append(lines, "overline")
	}
	if l.underline != styled.UnderlineNone {
		lines = append(lines, "underline")
	}
	if len(lines) == 0 {
		return b.String()
	}
	fmt.Fprintf(&b, ` style="text-decoration:%s`, strings.Join(lines, " "))
	if l.underline != styled.UnderlineNone {
		fmt.Fprintf(&b, `;text-decoration-style:%s;text-decoration-color:%s`, decorations[l.underline], hexColor(l.ul))
	}
	b.WriteByte('"')
	return b.String()
}

// decorations are the CSS names of the underlines.
var decorations = [...]string{"none", "solid", "double", "wavy", "dotted", "dashed"}

// xmlRune replaces characters not allowed in XML 1.0.
func xmlRune(r rune) rune {
	if r < ' ' || r == 0xfffe || r == 0xffff {
		return utf8.RuneError
	}
	return r
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func (s *Screen) writeCursor(b *strings.Builder) {
	cur := s.Cursor
	if !cur.Visible || cur.X < 0 || cur.X >= s.Cols || cur.Y < 0 || cur.Y >= s.Rows {
		return
	}
	x, y, fg := padding+cur.X*cellWidth, padding+cur.Y*cellHeight, rgb(s.Palette.Cursor)
	w, h := cellWidth, cellHeight
	switch cur.Shape {
	case styled.CursorBar:
		w = 2
	case styled.CursorUnderline:
		y, h = y+cellHeight-2, 2
	default:
		under := s.pieceAt(cur.X, cur.Y)
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", x, y, under.cells*w, h, hexColor(fg))
		under.look = look{fg: rgb(s.Palette.Background)}
		writeStretch(b, under, x, y)
		return
	}
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", x, y, w, h, hexColor(fg))
}

func hexColor(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
