package picture

import (
	"fmt"
	"image/color"
)

// digits are the sixteen hexadecimal digits in 3 × 5 dots, with one octal digit per row.
const digits = "" +
	"75557" + "26227" + "71747" + "71717" + "55711" + "74717" + "74757" + "71122" +
	"75757" + "75717" + "25755" + "65656" + "34443" + "65556" + "74647" + "74644"

// Size of a digit in dots, including the gap after it.
const (
	digitWidth  = 4
	digitHeight = 6
)

// drawMissing draws the box with the code point's number shown for a character missing in all fonts,
// as in browsers.
func (c *canvas) drawMissing(r rune, cells, x, y int, fg color.RGBA) {
	number := fmt.Sprintf("%04X", r)
	inRow := 2
	if cells > 1 && len(number) > 4 {
		inRow = 3
	}
	rows := (len(number) + inRow - 1) / inRow
	t := c.thin
	w, h := cells*c.w, min((rows*digitHeight+3)*t, c.h)
	y += (c.h - h + t) / 2
	c.fillRect(x, y, w, t, fg)
	c.fillRect(x, y+h-t, w, t, fg)
	c.fillRect(x, y, t, h, fg)
	c.fillRect(x+w-t, y, t, h, fg)
	x += (w - (inRow*digitWidth-1)*t) / 2
	y += 2 * t
	for i, digit := range number {
		c.drawDigit(int(digit), x+i%inRow*digitWidth*t, y+i/inRow*digitHeight*t, fg)
	}
}

func (c *canvas) drawDigit(digit, x, y int, fg color.RGBA) {
	n := digit - '0'
	if digit >= 'A' {
		n = digit - 'A' + 10
	}
	for row, bits := range digits[5*n : 5*n+5] {
		for column := range 3 {
			if bits&(4>>column) != 0 {
				c.fillRect(x+column*c.thin, y+row*c.thin, c.thin, c.thin, fg)
			}
		}
	}
}
