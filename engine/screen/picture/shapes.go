package picture

import (
	"fmt"
	"image/color"
	"strings"
	"unicode/utf8"
)

// shapes collects the characters of a line drawn as shapes, so that in a document they meet their
// neighbours in any font.
type shapes struct {
	b    *strings.Builder
	fg   color.RGBA
	path strings.Builder // path to fill with fg
	last [4]int          // x, y, width and height of the rectangle not in the path yet
}

// shapeOf returns the character of a piece to draw as a shape; ok is false for text.
func shapeOf(p piece) (r rune, ok bool) {
	r, n := utf8.DecodeRuneInString(p.text)
	diagonal := r >= firstDiagonal && r < firstDiagonal+3
	return r, n == len(p.text) && isDrawn(r) && !diagonal && !p.look.hidden && !p.look.hasLine()
}

// addCharacter draws a character in the cell at x, y.
func (s *shapes) addCharacter(r rune, x, y int, fg color.RGBA) {
	// A path has one colour.
	if fg != s.fg {
		s.writePath()
		s.fg = fg
	}
	c := canvas{w: cellWidth, h: cellHeight, thin: 1, sink: s.addRect}
	switch {
	case r >= 0x256d && r <= 0x2570:
		s.addCorner(r, x, y)
	case r >= firstBlock+17 && r <= firstBlock+19:
		fmt.Fprintf(s.b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s" fill-opacity="%.2f"/>`+"\n",
			x, y, cellWidth, cellHeight, hexColor(fg), float64(r-firstBlock-16)/4)
	default:
		c.drawSpecial(r, x, y, fg)
	}
}

// addRect adds a rectangle. If it continues the last one, it extends that.
func (s *shapes) addRect(x, y, w, h int, _ color.RGBA) {
	if s.last[2] > 0 && s.last[0]+s.last[2] >= x && s.last[0] <= x && s.last[1] == y && s.last[3] == h {
		s.last[2] = max(s.last[2], x+w-s.last[0])
		return
	}
	s.addLastRect()
	if w > 0 && h > 0 {
		s.last = [4]int{x, y, w, h}
	}
}

// addLastRect adds the last rectangle to the path.
func (s *shapes) addLastRect() {
	if l := s.last; l[2] > 0 {
		fmt.Fprintf(&s.path, "M%d %dh%dv%dh-%dz", l[0], l[1], l[2], l[3], l[2])
	}
	s.last = [4]int{}
}

// addCorner draws a rounded corner like canvas.drawCorner.
func (s *shapes) addCorner(r rune, x, y int) {
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
	fmt.Fprintf(s.b, `<path d="M%g %gV%gQ%g %g %g %gH%g" fill="none" stroke="%s"/>`+"\n", mx, ey, ry, mx, my, rx, my, ex, hexColor(s.fg))
}

// writePath writes the collected path.
func (s *shapes) writePath() {
	s.addLastRect()
	if s.path.Len() > 0 {
		fmt.Fprintf(s.b, `<path fill="%s" d="%s"/>`+"\n", hexColor(s.fg), s.path.String())
	}
	s.path.Reset()
}
