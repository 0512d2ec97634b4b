package vt

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
