package picture

import "image/color"

// Strokes of a box-drawing character. A digit 0 means none.
const (
	strokeLight  = '1'
	strokeHeavy  = '2'
	strokeDouble = '3'
)

// boxArms has five bytes for each character from U+2500: its strokes from the centre up, right,
// down and left, and a space. Diagonals have no strokes.
const boxArms = "" +
	"0101 0202 1010 2020 0101 0202 1010 2020 0101 0202 1010 2020 0110 0210 0120 0220 " +
	"0011 0012 0021 0022 1100 1200 2100 2200 1001 1002 2001 2002 1110 1210 2110 1120 " +
	"2120 2210 1220 2220 1011 1012 2011 1021 2021 2012 1022 2022 0111 0112 0211 0212 " +
	"0121 0122 0221 0222 1101 1102 1201 1202 2101 2102 2201 2202 1111 1112 1211 1212 " +
	"2111 1121 2121 2112 2211 1122 1221 2212 1222 2122 2221 2222 0101 0202 1010 2020 " +
	"0303 3030 0310 0130 0330 0013 0031 0033 1300 3100 3300 1003 3001 3003 1310 3130 " +
	"3330 1013 3031 3033 0313 0131 0333 1303 3101 3303 1313 3131 3333 0110 0011 1001 " +
	"1100 0000 0000 0000 0001 1000 0100 0010 0002 2000 0200 0020 0201 1020 0102 2010 "

const (
	firstBox, lastBox         = 0x2500, 0x257f
	firstDiagonal             = 0x2571
	firstBlock, lastBlock     = 0x2580, 0x259f
	firstBraille, lastBraille = 0x2800, 0x28ff
)

// isDrawn reports whether a character is drawn by this package instead of taken from the font,
// because it must meet its neighbours without a gap.
func isDrawn(r rune) bool {
	return r >= firstBox && r <= lastBlock || r >= firstBraille && r <= lastBraille
}

// drawSpecial draws a character for which isDrawn is true.
func (c *canvas) drawSpecial(r rune, x, y int, fg color.RGBA) {
	switch {
	case r >= firstBraille:
		c.drawBraille(r, x, y, fg)
	case r >= firstBlock:
		c.drawBlock(int(r-firstBlock), x, y, fg)
	case r >= firstDiagonal && r < firstDiagonal+3:
		c.drawDiagonal(r, x, y, fg)
	default:
		c.drawBox(r, x, y, fg)
	}
}

// drawBox draws the strokes of a box-drawing character.
func (c *canvas) drawBox(r rune, x, y int, fg color.RGBA) {
	at := 5 * int(r-firstBox)
	up, right, down, left := boxArms[at], boxArms[at+1], boxArms[at+2], boxArms[at+3]
	if r >= 0x256d && r <= 0x2570 {
		c.drawCorner(up == strokeLight, right == strokeLight, x, y, fg)
		return
	}
	gaps := dashCount(r)
	middle := c.strokeReach(up, right, down, left)
	c.drawStroke(up, x, y, false, 0, c.h/2+middle, gaps, fg)
	c.drawStroke(down, x, y, false, c.h/2-middle, c.h, gaps, fg)
	c.drawStroke(left, x, y, true, 0, c.w/2+middle, gaps, fg)
	c.drawStroke(right, x, y, true, c.w/2-middle, c.w, gaps, fg)
}

// strokeReach returns how far strokes extend beyond the centre so that they meet.
func (c *canvas) strokeReach(arms ...byte) int {
	reach := 0
	for _, a := range arms {
		switch a {
		case strokeDouble:
			reach = max(reach, c.thin+(c.thin+1)/2)
		case strokeHeavy:
			reach = max(reach, c.thin)
		case strokeLight:
			reach = max(reach, (c.thin+1)/2)
		}
	}
	return reach
}

// dashCount returns the number of dashes of a line.
func dashCount(r rune) int {
	switch {
	case r >= 0x2504 && r <= 0x2507:
		return 3
	case r >= 0x2508 && r <= 0x250b:
		return 4
	case r >= 0x254c && r <= 0x254f:
		return 2
	}
	return 1
}

// drawStroke draws one stroke between two offsets along an axis.
func (c *canvas) drawStroke(stroke byte, x, y int, across bool, from, to, pieces int, fg color.RGBA) {
	line := func(offset, thick int) {
		for p := range pieces {
			a, b := from+(to-from)*p/pieces, from+(to-from)*(p+1)/pieces
			if pieces > 1 {
				// The gap between dashes.
				b -= max(c.thin, (b-a)/4)
			}
			if across {
				c.fillRect(x+a, y+c.h/2+offset, b-a, thick, fg)
			} else {
				c.fillRect(x+c.w/2+offset, y+a, thick, b-a, fg)
			}
		}
	}
	switch stroke {
	case strokeLight:
		line(-c.thin/2, c.thin)
	case strokeHeavy:
		line(-c.thin, 2*c.thin)
	case strokeDouble:
		line(-c.thin-c.thin/2, c.thin)
		line(c.thin-c.thin/2, c.thin)
	}
}

// drawBlock draws the block element U+2580 + n.
func (c *canvas) drawBlock(n, x, y int, fg color.RGBA) {
	w, h := c.w, c.h
	switch {
	case n == 0:
		c.fillRect(x, y, w, h/2, fg)
	case n <= 8:
		c.fillRect(x, y+h-h*n/8, w, h*n/8, fg)
	case n <= 15:
		c.fillRect(x, y, w*(16-n)/8, h, fg)
	case n == 16:
		c.fillRect(x+w/2, y, w-w/2, h, fg)
	case n <= 19:
		c.shadeCell(x, y, float64(n-16)/4, fg)
	case n == 20:
		c.fillRect(x, y, w, h/8, fg)
	case n == 21:
		c.fillRect(x+w-w/8, y, w/8, h, fg)
	default:
		c.drawQuadrants(quadrants[n-22], x, y, fg)
	}
}

// quadrants are the quarters of U+2596 to U+259F: 1 upper left, 2 upper right, 4 lower left, 8
// lower right.
var quadrants = [...]uint8{4, 8, 1, 1 | 4 | 8, 1 | 8, 1 | 2 | 4, 1 | 2 | 8, 2, 2 | 4, 2 | 4 | 8}

func (c *canvas) drawQuadrants(set uint8, x, y int, fg color.RGBA) {
	w, h := c.w/2, c.h/2
	for i := range 4 {
		if set&(1<<i) == 0 {
			continue
		}
		cx, cy, cw, ch := x, y, w, h
		if i&1 != 0 {
			cx, cw = x+w, c.w-w
		}
		if i&2 != 0 {
			cy, ch = y+h, c.h-h
		}
		c.fillRect(cx, cy, cw, ch, fg)
	}
}

// brailleBits are the dots of a braille pattern by column and row, see chapter 21.1 of the Unicode
// standard.
var brailleBits = [2][4]uint8{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}

func (c *canvas) drawBraille(r rune, x, y int, fg color.RGBA) {
	size := max(c.w/5, 1)
	for column, bits := range brailleBits {
		for row, bit := range bits {
			if uint8(r)&bit != 0 {
				c.fillRect(x+c.w*(1+2*column)/4-size/2, y+c.h*(1+2*row)/8-size/2, size, size, fg)
			}
		}
	}
}
