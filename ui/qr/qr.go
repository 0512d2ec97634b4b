// Package qr draws QR codes in a terminal.
package qr

import (
	"strings"

	"rsc.io/qr"
)

// quiet is the light border that a QR code needs, in modules (ISO/IEC 18004 asks for four;
// cameras do with two).
const quiet = 2

// Lines is a QR code in half blocks, two rows of modules a line: dark modules are the
// foreground.
func Lines(text string) ([]string, error) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return nil, err
	}
	var lines []string
	for y := -quiet; y < code.Size+quiet; y += 2 {
		var b strings.Builder
		for x := -quiet; x < code.Size+quiet; x++ {
			b.WriteString(half(code.Black(x, y), code.Black(x, y+1)))
		}
		lines = append(lines, b.String())
	}
	return lines, nil
}

func half(upper, lower bool) string {
	switch {
	case upper && lower:
		return "█"
	case upper:
		return "▀"
	case lower:
		return "▄"
	}
	return " "
}

// Painted is a line of Lines, dark on light whatever the terminal's colours are.
func Painted(line string) string { return "\x1b[38;5;16;48;5;231m" + line + "\x1b[0m" }
