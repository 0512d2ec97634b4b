package graphics

import (
	"fmt"
	"image"
)

// sixelRows is the height of a band.
const sixelRows = 6

// AppendSixel appends an opaque picture as a sixel sequence: DCS with P2=1, which leaves the
// surroundings unchanged, the raster attributes, at most 256 colors, and bands of six rows. The
// encoder of charmbracelet/x takes 25 times as long for a photograph, and 7 times with the palette
// chosen here.
func AppendSixel(dst []byte, img *image.RGBA) []byte {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	palette, pixels, few := exactPalette(img)
	if !few {
		palette = medianCutPalette(img)
		pixels = ditherPixels(img, palette)
	}
	dst = fmt.Appendf(dst, "\x1bP0;1;0q\"1;1;%d;%d", w, h)
	for i, c := range palette { // in percent
		dst = fmt.Appendf(dst, "#%d;2;%d;%d;%d", i, toPercent(c[0]), toPercent(c[1]), toPercent(c[2]))
	}
	band := newBand(w)
	for y := 0; y < h; y += sixelRows {
		if y > 0 {
			dst = append(dst, '-')
		}
		band.fillRows(pixels, y, min(y+sixelRows, h))
		dst = band.appendColors(dst)
	}
	return append(dst, "\x1b\\"...)
}

// A band is six rows of a picture. For each color it has a mask per column, which says which pixels
// have the color.
type band struct {
	w     int
	masks [maxColors][]uint8 // nil until needed
	used  []uint8            // colors in this band
	seen  [maxColors]bool
}

func newBand(w int) *band { return &band{w: w} }

// fillRows replaces the content with the rows from y0 up to y1.
func (b *band) fillRows(pixels []uint8, y0, y1 int) {
	// Clear only the colors used, and keep their masks for the next band.
	for _, c := range b.used {
		clear(b.masks[c])
		b.seen[c] = false
	}
	b.used = b.used[:0]
	for y := y0; y < y1; y++ {
		bit := uint8(1) << (y - y0)
		for x, c := range pixels[y*b.w : (y+1)*b.w] {
			if !b.seen[c] {
				b.seen[c] = true
				b.used = append(b.used, c)
				if b.masks[c] == nil {
					b.masks[c] = make([]uint8, b.w)
				}
			}
			b.masks[c][x] |= bit
		}
	}
}

// appendColors appends the pixels of each color, each from the left edge.
func (b *band) appendColors(dst []byte) []byte {
	for i, c := range b.used {
		if i > 0 {
			dst = append(dst, '$')
		}
		dst = fmt.Appendf(dst, "#%d", c)
		dst = appendRuns(dst, b.masks[c])
	}
	return dst
}

// appendRuns appends the masks of columns. Equal ones in a row are written once, with a count.
// Empty ones at the end are left out.
func appendRuns(dst []byte, mask []uint8) []byte {
	for len(mask) > 0 {
		n := 1
		for n < len(mask) && mask[n] == mask[0] {
			n++
		}
		sixel := '?' + mask[0]
		switch {
		case n == len(mask) && mask[0] == 0:
		case n > 3:
			dst = fmt.Appendf(dst, "!%d%c", n, sixel)
		default:
			for range n {
				dst = append(dst, sixel)
			}
		}
		mask = mask[n:]
	}
	return dst
}
