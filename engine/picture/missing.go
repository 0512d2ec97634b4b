package picture

import (
	"fmt"
	"image/color"
)

// digits are the sixteen hexadecimal ones in three by five dots, a row three bits.
const digits = "" +
	"75557" + "26227" + "71747" + "71717" + "55711" + "74717" + "74757" + "71122" +
	"75757" + "75717" + "25755" + "65656" + "34443" + "65556" + "74647" + "74644"

// The digits' size in dots, with the gap behind.
const (
	digitWidth  = 4
	digitHeight = 6
)

// missing stands for a character that no font has: a box with its number, as
// people know it from browsers.
func (c *canvas) missing(r rune, cells, x, y int, ink color.RGBA) {
	number := fmt.Sprintf("%04X", r)
	inRow := 2
	if cells > 1 && len(number) > 4 {
		inRow = 3
	}
	rows := (len(number) + inRow - 1) / inRow
	t := c.thin
	w, h := cells*c.w, min((rows*digitHeight+3)*t, c.h)
	y += (c.h - h + t) / 2
	c.fill(x, y, w, t, ink)
	c.fill(x, y+h-t, w, t, ink)
	c.fill(x, y, t, h, ink)
	c.fill(x+w-t, y, t, h, ink)
	x += (w - (inRow*digitWidth-1)*t) / 2
	y += 2 * t
	for i, digit := range number {
		c.digit(int(digit), x+i%inRow*digitWidth*t, y+i/inRow*digitHeight*t, ink)
	}
}

func (c *canvas) digit(digit, x, y int, ink color.RGBA) {
	n := digit - '0'
	if digit >= 'A' {
		n = digit - 'A' + 10
	}
	for row, bits := range digits[5*n : 5*n+5] {
		for column := range 3 {
			if bits&(4>>column) != 0 {
				c.fill(x+column*c.thin, y+row*c.thin, c.thin, c.thin, ink)
			}
		}
	}
}
