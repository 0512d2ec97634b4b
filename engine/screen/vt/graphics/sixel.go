package graphics

import (
	"bytes"
	"errors"
	"image"
	"math"
)

// MaxSixel limits a sixel sequence, in bytes.
const MaxSixel = 16 << 20

// SixelColors is the number of colour registers of a sixel picture.
const SixelColors = 1024

// Limits of a sequence. Without them, a few bytes could paint millions of pixels again and again.
// maxSixelPixelsPerByte is twice the need of a single-coloured picture; rows beyond it are cut off.
// maxSixelPaints is the maximum number of times pixels may be painted on average.
const (
	maxSixelPixelsPerByte = 8192
	maxSixelPaints        = 16
)

// sixelRows is the height of a sixel in pixels.
const sixelRows = 6

var errNoSixels = errors.New("a sixel sequence without pixels")

// FromSixels makes a picture of b, the data of a sixel sequence without its final byte and terminator
// (DEC STD 070, chapter 9). The pixels are painted on the first use; unpainted ones are transparent.
// Pixels are always square, and each picture starts with the colours of a VT340. below is the top
// edge of the next row of sixels. The decoder of charmbracelet/x is not used because it trusts
// counts, sizes and registers.
func FromSixels(b []byte) (p *Picture, below int, err error) {
	var m sixelSize
	if below = readSixels(b, &m); m.size.X == 0 || m.size.Y == 0 {
		return nil, 0, errNoSixels
	}
	m.size.Y = min(m.size.Y, max(maxSixelPixelsPerByte*len(b)/m.size.X, 1))
	c := sixelCover{w: m.size.X, h: m.size.Y}
	// The second pass finds out whether the picture is opaque, without painting it.
	readSixels(b, &c)
	return &Picture{Size: m.size, sixels: bytes.Clone(b), unpacked: 4 * m.size.X * m.size.Y, opaque: c.isOpaque()}, below, nil
}

// paintSixels returns the pixels of sixel data, 4 bytes each.
func paintSixels(b []byte, size image.Point) []byte {
	area := size.X * size.Y
	d := sixelPixels{w: size.X, h: size.Y, pixels: make([]byte, 4*area), left: maxSixelPaints * area, colors: defaultColors()}
	readSixels(b, &d)
	return d.pixels
}

// A sixelHandler receives the elements of a sixel sequence.
type sixelHandler interface {
	raster(w, h int)
	register(n int, define []int) // define: a colour's kind and components, or nothing
	paint(x, y, n int, bits byte) // n times from x on
}

// readSixels parses a sequence and returns the top edge of its last row of sixels.
func readSixels(b []byte, to sixelHandler) (y int) {
	x := 0
	var params [8]int
	for i := 0; i < len(b); {
		c := b[i]
		i++
		switch {
		case c >= '?' && c <= '~':
			n := 1
			// Runs without a repeat count are combined too: painting them at once is faster.
			for i < len(b) && b[i] == c {
				i++
				n++
			}
			to.paint(x, y, n, c-'?')
			x = min(x+n, MaxSide)
		case c == '!':
			list, used := parseNumbers(b[i:], params[:0])
			if i += used; i < len(b) && b[i] >= '?' && b[i] <= '~' {
				n := max(firstOrZero(list), 1)
				to.paint(x, y, n, b[i]-'?')
				x = min(x+n, MaxSide)
				i++
			}
		case c == '#':
			list, used := parseNumbers(b[i:], params[:0])
			i += used
			if len(list) > 0 {
				to.register(list[0], list[1:])
			}
		case c == '"':
			list, used := parseNumbers(b[i:], params[:0])
			if i += used; len(list) >= 4 {
				to.raster(list[2], list[3])
			}
		case c == '$':
			x = 0
		case c == '-':
			x, y = 0, min(y+sixelRows, MaxSide)
		}
	}
	return y
}

func firstOrZero(list []int) int {
	if len(list) == 0 {
		return 0
	}
	return list[0]
}

// parseNumbers parses numbers separated by semicolons, as many as list has capacity for.
func parseNumbers(b []byte, list []int) (read []int, used int) {
	n, digits := 0, false
	put := func() {
		if len(list) < cap(list) {
			list = append(list, n)
		}
		n, digits = 0, false
	}
	for used < len(b) {
		switch c := b[used]; {
		case c >= '0' && c <= '9':
			n, digits = min(n*10+int(c-'0'), math.MaxInt16), true
		case c == ';':
			put()
		default:
			if digits {
				put()
			}
			return list, used
		}
		used++
	}
	if digits {
		put()
	}
	return list, used
}

// A sixelSize measures a picture.
type sixelSize struct{ size image.Point }

func (m *sixelSize) raster(w, h int) {
	m.size.X, m.size.Y = min(max(m.size.X, w), MaxSide), min(max(m.size.Y, h), MaxSide)
}

func (m *sixelSize) register(int, []int) {}

func (m *sixelSize) paint(x, y, n int, bits byte) {
	if bits == 0 || x >= MaxSide || y >= MaxSide {
		return
	}
	m.size.X = min(max(m.size.X, x+n), MaxSide)
	height := 0
	for ; bits != 0; bits >>= 1 {
		height++
	}
	m.size.Y = min(max(m.size.Y, y+height), MaxSide)
}

// A sixelCover determines without painting whether a picture's sixels cover all its pixels.
type sixelCover struct {
	w, h    int
	band    int                             // top edge of the current row of sixels
	painted [sixelRows][MaxSide / 64]uint64 // bitmap of that row
	full    int                             // completely painted rows of pixels, from the top
}

func (c *sixelCover) raster(int, int) {}

func (c *sixelCover) register(int, []int) {}

func (c *sixelCover) paint(x, y, n int, bits byte) {
	if y != c.band {
		c.finishBand()
		c.band, c.painted = y, [sixelRows][MaxSide / 64]uint64{}
	}
	n = min(n, c.w-x)
	if n <= 0 || c.full < c.band { // a row above is incomplete
		return
	}
	for row := 0; bits != 0; bits, row = bits>>1, row+1 {
		if bits&1 != 0 {
			setBits(&c.painted[row], x, x+n)
		}
	}
}

// setBits sets the bits between two positions: it includes from and excludes to.
func setBits(words *[MaxSide / 64]uint64, from, to int) {
	for from < to {
		end := min((from|63)+1, to)
		mask := ^uint64(0) << (from & 63)
		if end&63 != 0 {
			mask &= 1<<(end&63) - 1
		}
		words[from/64] |= mask
		from = end
	}
}

// finishBand counts the completely painted rows of the band.
func (c *sixelCover) finishBand() {
	for row := range c.painted {
		if c.full != c.band+row {
			return
		}
		for x := 0; x < c.w; x += 64 {
			want := ^uint64(0)
			if left := c.w - x; left < 64 {
				want = 1<<left - 1
			}
			if c.painted[row][x/64]&want != want {
				return
			}
		}
		c.full++
	}
}

func (c *sixelCover) isOpaque() bool {
	c.finishBand()
	return c.full >= c.h
}

// A sixelPixels paints a picture.
type sixelPixels struct {
	w, h   int
	pixels []byte
	left   int // remaining pixels to paint
	colors [SixelColors][3]byte
	color  [3]byte
}

func (d *sixelPixels) raster(int, int) {}

func (d *sixelPixels) register(n int, define []int) {
	n %= SixelColors
	if len(define) >= 4 {
		switch define[0] {
		case 1:
			d.colors[n] = hlsToRGB(define[1], define[2], define[3])
		case 2:
			d.colors[n] = percentToRGB(define[1:4]...)
		}
	}
	d.color = d.colors[n]
}

func (d *sixelPixels) paint(x, y, n int, bits byte) {
	n = min(n, d.w-x)
	for ; bits != 0 && y < d.h; bits, y = bits>>1, y+1 {
		if bits&1 == 0 || d.left <= 0 {
			continue
		}
		d.left -= max(n, 0)
		row := d.pixels[4*(y*d.w+x):]
		for i := range max(n, 0) {
			row[4*i], row[4*i+1], row[4*i+2], row[4*i+3] = d.color[0], d.color[1], d.color[2], 255
		}
	}
}

// hlsToRGB converts a colour from hue, with blue at 0° and red at 120°, and lightness and
// saturation in percent.
func hlsToRGB(h, l, s int) (rgb [3]byte) {
	light, saturation := float64(min(l, 100))/100, float64(min(s, 100))/100
	chroma := (1 - math.Abs(2*light-1)) * saturation
	for i, brightest := range [3]int{120, 240, 0} {
		distance := float64((h - brightest + 720) % 360)
		part := min(max(2-min(distance, 360-distance)/60, 0), 1)
		rgb[i] = byte(255*(light-chroma/2+chroma*part) + 0.5)
	}
	return rgb
}

// defaultColors returns the 16 colours of the VT340.
func defaultColors() (all [SixelColors][3]byte) {
	for i, percent := range [16][3]int{
		{0, 0, 0}, {20, 20, 80}, {80, 13, 13}, {20, 80, 20}, {80, 20, 80}, {20, 80, 80}, {80, 80, 20}, {53, 53, 53},
		{26, 26, 26}, {33, 33, 60}, {60, 26, 26}, {33, 60, 33}, {60, 33, 60}, {33, 60, 60}, {60, 60, 33}, {80, 80, 80},
	} {
		all[i] = percentToRGB(percent[0], percent[1], percent[2])
	}
	return all
}

// percentToRGB converts a colour from percentages.
func percentToRGB(percent ...int) (rgb [3]byte) {
	for i, v := range percent {
		rgb[i] = byte((min(v, 100)*255 + 50) / 100)
	}
	return rgb
}
