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

// Places of the dynamic colours in a colorTable; OSC 10, 11, 12.
const (
	colorForeground = 256 + iota
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
func (t *Terminal) color(n int) uint32 {
	if rgb, ok := t.colors.changed[n]; ok {
		return rgb
	}
	p := &t.o.Colors
	switch {
	case n < 16:
		return p.Colors[n]
	case n == colorForeground:
		return p.Foreground
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

// cubeLevel is a component of xterm's 6×6×6 colour cube.
func cubeLevel(n int) uint32 {
	if n == 0 {
		return 0
	}
	return uint32(55 + 40*n)
}

// parseColor reads a colour as XParseColor does: rgb:r/g/b with one to four
// hex digits each, or # and three equal parts.
func parseColor(s string) (rgb uint32, ok bool) {
	var parts []string
	if rest, found := strings.CutPrefix(s, "rgb:"); found {
		parts = strings.Split(rest, "/")
	} else if rest, found := strings.CutPrefix(s, "#"); found && len(rest)%3 == 0 {
		n := len(rest) / 3
		parts = []string{rest[:n], rest[n : 2*n], rest[2*n:]}
	}
	if len(parts) != 3 {
		return 0, false
	}
	for _, p := range parts {
		v, err := strconv.ParseUint(p, 16, 16)
		if err != nil || len(p) > 4 {
			return 0, false
		}
		full := uint64(1)<<(4*len(p)) - 1
		if s[0] == '#' { // # gives the upper bits, not a fraction
			v, full = v<<(16-4*len(p)), 0xFFFF
		}
		rgb = rgb<<8 | uint32((v*255+full/2)/full)
	}
	return rgb, true
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
