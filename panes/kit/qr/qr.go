// Package qr draws QR codes in a terminal.
package qr

import (
	"strings"

	"rsc.io/qr"
)

// quietZone is the width of the light border around a QR code, in modules. ISO/IEC 18004
// requires four; cameras manage with two.
const quietZone = 2

// DrawLines draws a QR code in half blocks, two rows of modules per line. Dark modules
// have the foreground colour.
func DrawLines(text string) ([]string, error) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return nil, err
	}
	var lines []string
	for y := -quietZone; y < code.Size+quietZone; y += 2 {
		var b strings.Builder
		for x := -quietZone; x < code.Size+quietZone; x++ {
			b.WriteString(halfBlock(code.Black(x, y), code.Black(x, y+1)))
		}
		lines = append(lines, b.String())
	}
	return lines, nil
}

func halfBlock(upper, lower bool) string {
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

// PaintLine colours a line returned by DrawLines, so that it is dark on light whatever the
// terminal's colours are.
func PaintLine(line string) string { return "\x1b[38;5;16;48;5;231m" + line + "\x1b[0m" }
