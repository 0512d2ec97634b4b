package vt

import (
	"strconv"
	"strings"
)

// A colorTable holds the colours that a program has changed. Only colour
// queries see them: how cells look is up to the viewer's palette.
type colorTable struct {
	changed map[int]uint32 // by index 0…255, or one of the below
}

// Places behind the palette in a colorTable: the colours that stand for bold,
// underline, blink, reverse and italic (OSC 5), then the dynamic ones (OSC 10,
// 11, 12).
const (
	colorSpecial    = 256
	specialColors   = 5
	colorForeground = colorSpecial + specialColors + iota - 2
	colorBackground
	colorCursor
)

func (c *colorTable) set(n int, rgb uint32) {
	if c.changed == nil {
		c.changed = map[int]uint32{}
	}
	c.changed[n] = rgb
}

// color gives what a colour query is answered with.
func (t *host) color(n int) uint32 {
	if rgb, ok := t.colors.changed[n]; ok {
		return rgb
	}
	p := &t.o.Colors
	switch {
	case n < 16:
		return p.Colors[n]
	case n >= colorSpecial && n <= colorForeground: // special ones are the text's
		return t.foreground()
	case n == colorBackground:
		return p.Background
	case n == colorCursor:
		return p.Cursor
	case n >= 232:
		return uint32(8+10*(n-232)) * 0x010101
	}
	n -= 16
	return cubeLevel(n/36)<<16 | cubeLevel(n/6%6)<<8 | cubeLevel(n%6)
}

// DefaultPalette is light text on a dark ground; each of its sixteen colours but
// black can be read on it.
func DefaultPalette() Palette {
	return Palette{
		Foreground: 0xd8dee9, Background: 0x1e2128, Cursor: 0xd8dee9,
		Colors: [16]uint32{
			0x2e3440, 0xe06c75, 0x98c379, 0xe5c07b, 0x61afef, 0xc678dd, 0x56b6c2, 0xc8ccd4,
			0x7a8290, 0xff7a85, 0xb5e890, 0xffd68a, 0x82c4ff, 0xdd9cf0, 0x7ad7e0, 0xffffff,
		},
	}
}

// isLight says that a ground is one for dark text.
func isLight(rgb uint32) bool {
	r, g, b := rgb>>16&255, rgb>>8&255, rgb&255
	return 299*r+587*g+114*b >= 128*1000
}

// foreground is the colour of plain text as a program has it.
func (t *host) foreground() uint32 {
	if rgb, ok := t.colors.changed[colorForeground]; ok {
		return rgb
	}
	return t.o.Colors.Foreground
}

// cubeLevel is a component of xterm's 6×6×6 colour cube.
func cubeLevel(n int) uint32 {
	if n == 0 {
		return 0
	}
	return uint32(55 + 40*n)
}

// maxColorSpec is longer than any colour that parseColor knows.
const maxColorSpec = 64

// parseColor reads a colour as XParseColor does: rgb:r/g/b with one to four
// hex digits each, # and three equal parts of one to four hex digits, a name,
// or three numbers in one of spaceColor's spaces.
func parseColor(s string) (rgb uint32, ok bool) {
	if len(s) > maxColorSpec {
		return 0, false
	}
	if rest, found := strings.CutPrefix(s, "#"); found {
		n := len(rest) / 3
		if n < 1 || n > 4 || len(rest) != 3*n {
			return 0, false
		}
		return joinColor([]string{rest[:n], rest[n : 2*n], rest[2*n:]}, upperBits)
	}
	space, rest, found := strings.Cut(s, ":")
	if !found {
		return namedColor(s)
	}
	if space = strings.ToLower(space); space == "rgb" {
		return joinColor(strings.Split(rest, "/"), fraction)
	}
	return spaceColor(space, rest)
}

// joinColor makes a colour of three components that one reads, as 0…255.
func joinColor(parts []string, one func(string) (uint32, bool)) (rgb uint32, ok bool) {
	if len(parts) != 3 {
		return 0, false
	}
	for _, p := range parts {
		v, ok := one(p)
		if !ok {
			return 0, false
		}
		rgb = rgb<<8 | v
	}
	return rgb, true
}

// upperBits reads the upper bits of a 16-bit component.
func upperBits(s string) (uint32, bool) {
	v, err := strconv.ParseUint(s, 16, 16)
	return uint32(v) << (16 - 4*len(s)) >> 8, err == nil
}

// fraction reads a component of which all f is the most.
func fraction(s string) (uint32, bool) {
	if len(s) > 4 {
		return 0, false
	}
	v, err := strconv.ParseUint(s, 16, 16)
	full := uint64(1)<<(4*len(s)) - 1
	return uint32((v*255 + full/2) / max(full, 1)), err == nil
}

// appendRGB appends a colour in the form of replies.
func appendRGB(dst []byte, rgb uint32) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, "rgb:"...)
	for shift := 16; shift >= 0; shift -= 8 {
		hi, lo := hex[rgb>>(shift+4)&15], hex[rgb>>shift&15]
		dst = append(dst, hi, lo, hi, lo, '/')
	}
	return dst[:len(dst)-1]
}
