package picture

import "image/color"

// Strokes of a box-drawing character: none, light, heavy or double.
const (
	strokeLight  = '1'
	strokeHeavy  = '2'
	strokeDouble = '3'
)

// boxArms has five bytes for each character from U+2500 on: its strokes up,
// right, down and left from the middle, and a space. Diagonals have none.
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

// drawn reports whether a character is drawn here and not taken from the font,
// because it has to meet its neighbours without a gap.
func drawn(r rune) bool {
	return r >= firstBox && r <= lastBlock || r >= firstBraille && r <= lastBraille
}

// drawSpecial draws a character that is drawn.
func (c *canvas) drawSpecial(r rune, x, y int, ink color.RGBA) {
	switch {
	case r >= firstBraille:
		c.braille(r, x, y, ink)
	case r >= firstBlock:
		c.block(int(r-firstBlock), x, y, ink)
	case r >= firstDiagonal && r < firstDiagonal+3:
		c.diagonal(r, x, y, ink)
	default:
		c.box(r, x, y, ink)
	}
}

// box draws the arms of a box-drawing character.
func (c *canvas) box(r rune, x, y int, ink color.RGBA) {
	at := 5 * int(r-firstBox)
	up, right, down, left := boxArms[at], boxArms[at+1], boxArms[at+2], boxArms[at+3]
	if r >= 0x256d && r <= 0x2570 {
		c.corner(up == strokeLight, right == strokeLight, x, y, ink)
		return
	}
	gaps := dashes(r)
	middle := c.reach(up, right, down, left)
	c.arm(up, x, y, false, 0, c.h/2+middle, gaps, ink)
	c.arm(down, x, y, false, c.h/2-middle, c.h, gaps, ink)
	c.arm(left, x, y, true, 0, c.w/2+middle, gaps, ink)
	c.arm(right, x, y, true, c.w/2-middle, c.w, gaps, ink)
}

// reach is how far arms go beyond the middle so that they meet.
func (c *canvas) reach(arms ...byte) int {
	most := 0
	for _, a := range arms {
		switch a {
		case strokeDouble:
			most = max(most, c.thin+(c.thin+1)/2)
		case strokeHeavy:
			most = max(most, c.thin)
		case strokeLight:
			most = max(most, (c.thin+1)/2)
		}
	}
	return most
}

// dashes is in how many pieces a line is broken.
func dashes(r rune) int {
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

// arm draws one stroke from one offset to another along an axis.
func (c *canvas) arm(stroke byte, x, y int, across bool, from, to, pieces int, ink color.RGBA) {
	line := func(offset, thick int) {
		for p := range pieces {
			a, b := from+(to-from)*p/pieces, from+(to-from)*(p+1)/pieces
			if pieces > 1 {
				b -= max(c.thin, (b-a)/4)
			}
			if across {
				c.fill(x+a, y+c.h/2+offset, b-a, thick, ink)
			} else {
				c.fill(x+c.w/2+offset, y+a, thick, b-a, ink)
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

// block draws one of the block elements, by its number from U+2580 on.
func (c *canvas) block(n, x, y int, ink color.RGBA) {
	w, h := c.w, c.h
	switch {
	case n == 0:
		c.fill(x, y, w, h/2, ink)
	case n <= 8:
		c.fill(x, y+h-h*n/8, w, h*n/8, ink)
	case n <= 15:
		c.fill(x, y, w*(16-n)/8, h, ink)
	case n == 16:
		c.fill(x+w/2, y, w-w/2, h, ink)
	case n <= 19:
		c.shade(x, y, float64(n-16)/4, ink)
	case n == 20:
		c.fill(x, y, w, h/8, ink)
	case n == 21:
		c.fill(x+w-w/8, y, w/8, h, ink)
	default:
		c.quadrants(quadrants[n-22], x, y, ink)
	}
}

// quadrants are the quarters of U+2596 to U+259F: 1 upper left, 2 upper right,
// 4 lower left, 8 lower right.
var quadrants = [...]uint8{4, 8, 1, 1 | 4 | 8, 1 | 8, 1 | 2 | 4, 1 | 2 | 8, 2, 2 | 4, 2 | 4 | 8}

func (c *canvas) quadrants(set uint8, x, y int, ink color.RGBA) {
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
		c.fill(cx, cy, cw, ch, ink)
	}
}

// brailleBits are the dots of a braille pattern by column and row (Unicode,
// chapter 21.1).
var brailleBits = [2][4]uint8{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}

func (c *canvas) braille(r rune, x, y int, ink color.RGBA) {
	size := max(c.w/5, 1)
	for column, bits := range brailleBits {
		for row, bit := range bits {
			if uint8(r)&bit != 0 {
				c.fill(x+c.w*(1+2*column)/4-size/2, y+c.h*(1+2*row)/8-size/2, size, size, ink)
			}
		}
	}
}
