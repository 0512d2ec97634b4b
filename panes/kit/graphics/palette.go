package graphics

import (
	"image"
	"slices"
)

// maxColors is the number of colors in a sixel picture.
const maxColors = 256

// An rgb is an opaque color.
type rgb [3]uint8

// roundPercent returns a color with each channel rounded to whole percent, because sixel has no
// other colors.
func (c rgb) roundPercent() rgb {
	for i, v := range c {
		c[i] = uint8((toPercent(v)*255 + 50) / 100)
	}
	return c
}

func toPercent(v uint8) int { return (int(v)*100 + 127) / 255 }

// exactPalette returns the palette of a picture with at most maxColors colors, and the index of
// each pixel's color. ok is false for more colors.
func exactPalette(img *image.RGBA) (palette []rgb, pixels []uint8, ok bool) {
	b := img.Bounds()
	known := map[rgb]uint8{}
	pixels = make([]uint8, 0, b.Dx()*b.Dy())
	for i := 0; i+3 < len(img.Pix); i += 4 {
		c := rgb(img.Pix[i : i+3])
		at, seen := known[c]
		if !seen {
			// Give up early: a photograph has too many colors after a few rows.
			if len(palette) == maxColors {
				return nil, nil, false
			}
			at = uint8(len(palette))
			known[c] = at
			palette = append(palette, c.roundPercent())
		}
		pixels = append(pixels, at)
	}
	return palette, pixels, true
}

// binBits is the number of bits per channel when colors are grouped into bins to choose a palette.
const binBits = 5

// A bin is the pixels of nearly one color.
type bin struct {
	key rgb    // high bits of the color
	n   uint64 // number of pixels
	sum [3]uint64
}

func binIndex(c rgb) int {
	const low = 8 - binBits
	return int(c[0]>>low)<<(2*binBits) | int(c[1]>>low)<<binBits | int(c[2]>>low)
}

// medianCutPalette returns a palette for any picture by median cut: it cuts the box with the
// highest score in two until there are maxColors boxes.
func medianCutPalette(img *image.RGBA) []rgb {
	boxes := [][]bin{collectBins(img)}
	for len(boxes) < maxColors {
		at, axis, worst := -1, 0, uint64(0)
		for i, box := range boxes {
			if a, score := widestAxis(box); score > worst {
				at, axis, worst = i, a, score
			}
		}
		if at < 0 {
			break
		}
		a, b := cutBox(boxes[at], axis)
		boxes[at] = a
		boxes = append(boxes, b)
	}
	palette := make([]rgb, 0, len(boxes))
	for _, box := range boxes {
		palette = append(palette, boxColor(box).roundPercent())
	}
	return palette
}

func collectBins(img *image.RGBA) []bin {
	all := make([]bin, 1<<(3*binBits))
	for i := 0; i+3 < len(img.Pix); i += 4 {
		c := rgb(img.Pix[i : i+3])
		b := &all[binIndex(c)]
		b.key, b.n = c, b.n+1
		for k, v := range c {
			b.sum[k] += uint64(v)
		}
	}
	return slices.DeleteFunc(all, func(b bin) bool { return b.n == 0 })
}

// widestAxis returns the channel with the widest range of values in a box, and a score for cutting
// the box along it; 0 if the box has a single color.
func widestAxis(box []bin) (axis int, score uint64) {
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

// cutBox cuts a box of at least two bins into two boxes with about the same number of pixels.
func cutBox(box []bin, axis int) (a, b []bin) {
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

func boxColor(box []bin) (c rgb) {
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

// A matcher finds the nearest color of a palette and caches the results.
type matcher struct {
	palette []rgb
	found   [1 << (3 * binBits)]uint16 // index in the palette plus one
}

func (m *matcher) nearestColor(c rgb) uint8 {
	kept := &m.found[binIndex(c)]
	if *kept == 0 {
		*kept = uint16(m.searchPalette(c)) + 1
	}
	return uint8(*kept - 1)
}

func (m *matcher) searchPalette(c rgb) (at int) {
	best := -1
	for i, p := range m.palette {
		d := 0
		for k, weight := range [3]int{3, 6, 1} { // eyes are most sensitive to green
			e := int(c[k]) - int(p[k])
			d += weight * e * e
		}
		if best < 0 || d < best {
			at, best = i, d
		}
	}
	return at
}

// ditherPixels returns the palette index of each pixel. It passes the error of each on to its
// neighbors (Floyd and Steinberg).
func ditherPixels(img *image.RGBA, palette []rgb) []uint8 {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	match := &matcher{palette: palette}
	pixels := make([]uint8, 0, w*h)
	here, below := make([][3]int, w+2), make([][3]int, w+2) // with one more pixel on each side
	for y := range h {
		for x := range w {
			pix := img.Pix[y*img.Stride+4*x:]
			var want [3]int
			var c rgb
			for k := range c {
				want[k] = int(pix[k]) + here[x+1][k]/16
				c[k] = uint8(min(max(want[k], 0), 255))
			}
			at := match.nearestColor(c)
			pixels = append(pixels, at)
			for k := range c {
				e := int(c[k]) - int(palette[at][k])
				here[x+2][k] += 7 * e
				below[x][k] += 3 * e
				below[x+1][k] += 5 * e
				below[x+2][k] += e
			}
		}
		// Each row's errors reach only the next one, so two rows are enough.
		here, below = below, here
		clear(below)
	}
	return pixels
}
