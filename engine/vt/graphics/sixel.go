package graphics

import (
	"bytes"
	"errors"
	"image"
	"math"
)

// MaxSixel bounds a sixel sequence, in bytes.
const MaxSixel = 16 << 20

// SixelColors is how many colours a sixel picture has at a time.
const SixelColors = 1024

// What a sequence may cost: a picture has at most so many pixels for each of its bytes, twice
// what a single colour takes, the rest below is cut off; and each pixel is painted so many
// times, on the average. A few bytes could have millions painted else, again and again.
const (
	sixelPixelsAByte = 8192
	sixelPaints      = 16
)

// sixelRows are the pixels of a sixel, one below the other.
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
	m.size.Y = min(m.size.Y, max(sixelPixelsAByte*len(b)/m.size.X, 1))
	c := sixelCover{w: m.size.X, h: m.size.Y}
	readSixels(b, &c)
	return &Picture{Size: m.size, sixels: bytes.Clone(b), unpacked: 4 * m.size.X * m.size.Y, opaque: c.opaque()}, below, nil
}

// paintSixels returns the pixels of sixel data, 4 bytes each.
func paintSixels(b []byte, size image.Point) []byte {
	area := size.X * size.Y
	d := sixelPixels{w: size.X, h: size.Y, pixels: make([]byte, 4*area), left: sixelPaints * area, colors: defaultColors()}
	readSixels(b, &d)
	return d.pixels
}

// A sixelReader is told what a sequence says.
type sixelReader interface {
	raster(w, h int)
	register(n int, define []int) // define: a colour's kind and components, or nothing
	paint(x, y, n int, bits byte) // n times from x on
}

// readSixels reads a sequence, and says how far down it ends.
func readSixels(b []byte, to sixelReader) (y int) {
	x := 0
	var params [8]int
	for i := 0; i < len(b); {
		c := b[i]
		i++
		switch {
		case c >= '?' && c <= '~':
			n := 1
			for i < len(b) && b[i] == c {
				i++
				n++
			}
			to.paint(x, y, n, c-'?')
			x = min(x+n, MaxSide)
		case c == '!':
			list, used := numbers(b[i:], params[:0])
			if i += used; i < len(b) && b[i] >= '?' && b[i] <= '~' {
				n := max(first(list), 1)
				to.paint(x, y, n, b[i]-'?')
				x = min(x+n, MaxSide)
				i++
			}
		case c == '#':
			list, used := numbers(b[i:], params[:0])
			i += used
			if len(list) > 0 {
				to.register(list[0], list[1:])
			}
		case c == '"':
			list, used := numbers(b[i:], params[:0])
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

func first(list []int) int {
	if len(list) == 0 {
		return 0
	}
	return list[0]
}

// numbers reads numbers with semicolons between them, as many as list has room for.
func numbers(b []byte, list []int) (read []int, used int) {
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

// A sixelSize finds out how large a picture is.
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
		c.finish()
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

// setBits sets the bits from from up to, but not including, to.
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

// finish counts the completely painted rows of the band.
func (c *sixelCover) finish() {
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

func (c *sixelCover) opaque() bool {
	c.finish()
	return c.full >= c.h
}

// sixelPixels are painted.
type sixelPixels struct {
	w, h   int
	pixels []byte
	left   int // how many may still be painted
	colors [SixelColors][3]byte
	color  [3]byte
}

func (d *sixelPixels) raster(int, int) {}

func (d *sixelPixels) register(n int, define []int) {
	n %= SixelColors
	if len(define) >= 4 {
		switch define[0] {
		case 1:
			d.colors[n] = hls(define[1], define[2], define[3])
		case 2:
			d.colors[n] = rgbOf(define[1:4]...)
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

// hls is a colour by hue, where blue is at 0° and red at 120°, lightness and saturation
// in percent.
func hls(h, l, s int) (rgb [3]byte) {
	light, saturation := float64(min(l, 100))/100, float64(min(s, 100))/100
	chroma := (1 - math.Abs(2*light-1)) * saturation
	for i, brightest := range [3]int{120, 240, 0} {
		away := float64((h - brightest + 720) % 360)
		part := min(max(2-min(away, 360-away)/60, 0), 1)
		rgb[i] = byte(255*(light-chroma/2+chroma*part) + 0.5)
	}
	return rgb
}

// defaultColors are the VT340's, which has 16.
func defaultColors() (all [SixelColors][3]byte) {
	for i, percent := range [16][3]int{
		{0, 0, 0}, {20, 20, 80}, {80, 13, 13}, {20, 80, 20}, {80, 20, 80}, {20, 80, 80}, {80, 80, 20}, {53, 53, 53},
		{26, 26, 26}, {33, 33, 60}, {60, 26, 26}, {33, 60, 33}, {60, 33, 60}, {33, 60, 60}, {60, 60, 33}, {80, 80, 80},
	} {
		all[i] = rgbOf(percent[0], percent[1], percent[2])
	}
	return all
}

// rgbOf is a colour by percentages.
func rgbOf(percent ...int) (rgb [3]byte) {
	for i, v := range percent {
		rgb[i] = byte((min(v, 100)*255 + 50) / 100)
	}
	return rgb
}
