package graphics

import (
	"image"
	"slices"
)

// mostColors is how many colours a sixel picture has.
const mostColors = 256

// A rgb is an opaque colour.
type rgb [3]uint8

// percent is a colour as a terminal makes it of percentages, in which sixel
// names colours.
func (c rgb) percent() rgb {
	for i, v := range c {
		c[i] = uint8((percentOf(v)*255 + 50) / 100)
	}
	return c
}

func percentOf(v uint8) int { return (int(v)*100 + 127) / 255 }

// fewColors are the colours of a picture that has no more than fit, and which
// of them each pixel is.
func fewColors(img *image.RGBA) (palette []rgb, pixels []uint8, ok bool) {
	b := img.Bounds()
	known := map[rgb]uint8{}
	pixels = make([]uint8, 0, b.Dx()*b.Dy())
	for i := 0; i+3 < len(img.Pix); i += 4 {
		c := rgb(img.Pix[i : i+3])
		at, seen := known[c]
		if !seen {
			if len(palette) == mostColors {
				return nil, nil, false
			}
			at = uint8(len(palette))
			known[c] = at
			palette = append(palette, c.percent())
		}
		pixels = append(pixels, at)
	}
	return palette, pixels, true
}

// binBits is how exactly colours are told apart, a channel, when a palette is
// chosen.
const binBits = 5

// A bin is all pixels of nearly one colour.
type bin struct {
	key rgb    // the high bits of the colour
	n   uint64 // pixels
	sum [3]uint64
}

func binOf(c rgb) int {
	const low = 8 - binBits
	return int(c[0]>>low)<<(2*binBits) | int(c[1]>>low)<<binBits | int(c[2]>>low)
}

// manyColors is a palette for a picture of any number of colours, by median
// cut: the box of colours that is worst is cut in two until there are enough.
func manyColors(img *image.RGBA) []rgb {
	boxes := [][]bin{binsOf(img)}
	for len(boxes) < mostColors {
		at, axis, worst := -1, 0, uint64(0)
		for i, box := range boxes {
			if a, score := spread(box); score > worst {
				at, axis, worst = i, a, score
			}
		}
		if at < 0 {
			break
		}
		a, b := cut(boxes[at], axis)
		boxes[at] = a
		boxes = append(boxes, b)
	}
	palette := make([]rgb, 0, len(boxes))
	for _, box := range boxes {
		palette = append(palette, meanOf(box).percent())
	}
	return palette
}

func binsOf(img *image.RGBA) []bin {
	all := make([]bin, 1<<(3*binBits))
	for i := 0; i+3 < len(img.Pix); i += 4 {
		c := rgb(img.Pix[i : i+3])
		b := &all[binOf(c)]
		b.key, b.n = c, b.n+1
		for k, v := range c {
			b.sum[k] += uint64(v)
		}
	}
	return slices.DeleteFunc(all, func(b bin) bool { return b.n == 0 })
}

// spread is the channel in which a box is widest, and how much a cut there
// would do: nothing if it is of one colour.
func spread(box []bin) (axis int, score uint64) {
	if len(box) < 2 {
		return 0, 0
	}
	var n uint64
	low, high := box[0].key, box[0].key
	for i := range box {
		n += box[i].n
		for k, v := range box[i].key {
			low[k], high[k] = min(low[k], v), max(high[k], v)
		}
	}
	width := 0
	for k := range low {
		if d := int(high[k]) - int(low[k]); d > width {
			axis, width = k, d
		}
	}
	return axis, n * uint64(width)
}

// cut halves a box of at least two bins, so that both have about as many
// pixels.
func cut(box []bin, axis int) (a, b []bin) {
	slices.SortFunc(box, func(a, b bin) int { return int(a.key[axis]) - int(b.key[axis]) })
	var all, sum uint64
	for i := range box {
		all += box[i].n
	}
	at := 0
	for at < len(box)-1 && (at == 0 || sum+box[at].n <= all/2) {
		sum += box[at].n
		at++
	}
	return box[:at:at], box[at:]
}

func meanOf(box []bin) (c rgb) {
	var n uint64
	var sum [3]uint64
	for i := range box {
		n += box[i].n
		for k := range sum {
			sum[k] += box[i].sum[k]
		}
	}
	for k := range c {
		c[k] = uint8(sum[k] / max(n, 1))
	}
	return c
}

// A matcher finds the nearest colour of a palette; what it found it keeps.
type matcher struct {
	palette []rgb
	found   [1 << (3 * binBits)]uint16 // one more than the place in the palette
}

func (m *matcher) nearest(c rgb) uint8 {
	kept := &m.found[binOf(c)]
	if *kept == 0 {
		*kept = uint16(m.search(c)) + 1
	}
	return uint8(*kept - 1)
}

func (m *matcher) search(c rgb) (at int) {
	least := -1
	for i, p := range m.palette {
		d := 0
		for k, weight := range [3]int{3, 6, 1} { // green is what eyes see best
			e := int(c[k]) - int(p[k])
			d += weight * e * e
		}
		if least < 0 || d < least {
			at, least = i, d
		}
	}
	return at
}

// dither chooses a colour for each pixel and passes on what it is wrong by to
// those that follow (Floyd and Steinberg).
func dither(img *image.RGBA, palette []rgb) []uint8 {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	match := &matcher{palette: palette}
	pixels := make([]uint8, 0, w*h)
	here, below := make([][3]int, w+2), make([][3]int, w+2) // of one pixel more on each side
	for y := range h {
		for x := range w {
			pix := img.Pix[y*img.Stride+4*x:]
			var want [3]int
			var c rgb
			for k := range c {
				want[k] = int(pix[k]) + here[x+1][k]/16
				c[k] = uint8(min(max(want[k], 0), 255))
			}
			at := match.nearest(c)
			pixels = append(pixels, at)
			for k := range c {
				e := int(c[k]) - int(palette[at][k])
				here[x+2][k] += 7 * e
				below[x][k] += 3 * e
				below[x+1][k] += 5 * e
				below[x+2][k] += e
			}
		}
		here, below = below, here
		clear(below)
	}
	return pixels
}
