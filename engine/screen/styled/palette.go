package styled

// A Palette is the colours of a terminal: each is ColorRGB with a colour, or 0 if unknown.
type Palette struct {
	Foreground, Background, Cursor Color
	Colors                         [16]Color
}

// DefaultPalette returns light text on a dark background. All of its sixteen colours except black
// are readable on it.
func DefaultPalette() Palette {
	p := Palette{
		Foreground: 0xd8dee9, Background: 0x1e2128, Cursor: 0xd8dee9,
		Colors: [16]Color{
			0x2e3440, 0xe06c75, 0x98c379, 0xe5c07b, 0x61afef, 0xc678dd, 0x56b6c2, 0xc8ccd4,
			0x7a8290, 0xff7a85, 0xb5e890, 0xffd68a, 0x82c4ff, 0xdd9cf0, 0x7ad7e0, 0xffffff,
		},
	}
	for _, c := range p.All() {
		*c |= ColorRGB
	}
	return p
}

// All returns pointers to the colours of a palette in a fixed order.
func (p *Palette) All() []*Color {
	all := []*Color{&p.Foreground, &p.Background, &p.Cursor}
	for i := range p.Colors {
		all = append(all, &p.Colors[i])
	}
	return all
}

// WithDefaults returns p with unknown colours taken from the default palette. Unknown colours of
// text and cursor are chosen to be visible on the background.
func (p Palette) WithDefaults() Palette {
	base := DefaultPalette()
	// The default text is light and would be invisible on a light background.
	if p.Light() {
		base.Foreground, base.Background = base.Background, base.Foreground
	}
	if p.Foreground != 0 {
		base.Foreground = p.Foreground
	}
	base.Cursor = base.Foreground
	own, into := p.All(), base.All()
	for i, c := range own {
		if *c&ColorRGB != 0 {
			*into[i] = *c & (ColorRGB | 0xFFFFFF)
		}
	}
	return base
}

// Light reports whether the background is known to be light.
func (p Palette) Light() bool {
	c := p.Background
	r, g, b := c>>16&255, c>>8&255, c&255
	return c&ColorRGB != 0 && 299*r+587*g+114*b >= 128*1000
}

// Lookup returns the colour with a number, 0 to 255. Colours from 16 on are the same in all
// palettes.
func (p *Palette) Lookup(n int) Color {
	switch {
	case n < 16:
		return p.Colors[n]
	case n >= 232:
		return ColorRGB | Color(8+10*(n-232))*0x010101
	}
	n -= 16
	return ColorRGB | cubeLevel(n/36)<<16 | cubeLevel(n/6%6)<<8 | cubeLevel(n%6)
}

// cubeLevel returns a component of xterm's 6×6×6 colour cube.
func cubeLevel(n int) Color {
	if n == 0 {
		return 0
	}
	return Color(55 + 40*n)
}

// ColorChanges are a program's changes to its terminal's palette.
type ColorChanges struct {
	Foreground, Background Color         // 0 if unchanged
	Indexed                map[int]Color // changed colours of the 256
}
