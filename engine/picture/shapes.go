package picture

import (
	"fmt"
	"image/color"
	"strings"
	"unicode/utf8"
)

// shapes collects what is drawn of a line and not taken from a font, so that in
// a document too it meets its neighbours, whatever font that is shown in.
type shapes struct {
	b    *strings.Builder
	ink  color.RGBA
	path strings.Builder // of ink
	last [4]int          // the rectangle that is not in the path yet: x, y, width, height
}

// shaped is the character of a piece that is drawn as shapes; ok is false for
// text.
func shaped(p piece) (r rune, ok bool) {
	r, n := utf8.DecodeRuneInString(p.text)
	diagonal := r >= firstDiagonal && r < firstDiagonal+3
	return r, n == len(p.text) && drawn(r) && !diagonal && !p.look.hidden && !p.look.lined()
}

// add draws a character in the cell at x, y.
func (s *shapes) add(r rune, x, y int, ink color.RGBA) {
	if ink != s.ink {
		s.flush()
		s.ink = ink
	}
	c := canvas{w: cellWidth, h: cellHeight, thin: 1, sink: s.fill}
	switch {
	case r >= 0x256d && r <= 0x2570:
		s.corner(r, x, y)
	case r >= firstBlock+17 && r <= firstBlock+19:
		fmt.Fprintf(s.b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s" fill-opacity="%.2f"/>`+"\n",
			x, y, cellWidth, cellHeight, hex(ink), float64(r-firstBlock-16)/4)
	default:
		c.drawSpecial(r, x, y, ink)
	}
}

// fill adds a rectangle; one that goes on where the last one ended makes that
// longer.
func (s *shapes) fill(x, y, w, h int, _ color.RGBA) {
	if s.last[2] > 0 && s.last[0]+s.last[2] >= x && s.last[0] <= x && s.last[1] == y && s.last[3] == h {
		s.last[2] = max(s.last[2], x+w-s.last[0])
		return
	}
	s.rest()
	if w > 0 && h > 0 {
		s.last = [4]int{x, y, w, h}
	}
}

// rest puts the rectangle that waits into the path.
func (s *shapes) rest() {
	if l := s.last; l[2] > 0 {
		fmt.Fprintf(&s.path, "M%d %dh%dv%dh-%dz", l[0], l[1], l[2], l[3], l[2])
	}
	s.last = [4]int{}
}

// corner draws a rounded corner as canvas.corner does.
func (s *shapes) corner(r rune, x, y int) {
	up, right := r == 0x256f || r == 0x2570, r == 0x256d || r == 0x2570
	mx, my := float64(x+cellWidth/2)+0.5, float64(y+cellHeight/2)+0.5
	ey, ex, radius := float64(y+cellHeight), float64(x), float64(cellWidth/2)
	ry, rx := my+radius, mx-radius
	if up {
		ey, ry = float64(y), my-radius
	}
	if right {
		ex, rx = float64(x+cellWidth), mx+radius
	}
	fmt.Fprintf(s.b, `<path d="M%g %gV%gQ%g %g %g %gH%g" fill="none" stroke="%s"/>`+"\n", mx, ey, ry, mx, my, rx, my, ex, hex(s.ink))
}

// flush writes what was collected.
func (s *shapes) flush() {
	s.rest()
	if s.path.Len() > 0 {
		fmt.Fprintf(s.b, `<path fill="%s" d="%s"/>`+"\n", hex(s.ink), s.path.String())
	}
	s.path.Reset()
}
