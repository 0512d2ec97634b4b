package graphics

import (
	"image"
	"image/color"
	"image/draw"
)

// Within returns w×h scaled down in proportion to fit into maxW×maxH, each side at least 1. A size
// that fits is returned unchanged.
func Within(w, h, maxW, maxH int) (int, int) {
	if w <= maxW && h <= maxH {
		return w, h
	}
	if w*maxH > h*maxW {
		return maxW, max(h*maxW/w, 1)
	}
	return max(w*maxH/h, 1), maxH
}

// Shrink scales a picture down to w×h pixels, or to its own size if that is smaller. Each pixel is
// the mean of those it replaces.
func Shrink(src image.Image, w, h int) *image.RGBA {
	b := src.Bounds()
	w, h = min(w, b.Dx()), min(h, b.Dy())
	// The pictures of all decoders have this interface, which reads pixels without allocating.
	pixels, ok := src.(image.RGBA64Image)
	if !ok {
		copied := image.NewRGBA(b)
		draw.Draw(copied, b, src, b.Min, draw.Src)
		pixels = copied
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		y0 := b.Min.Y + y*b.Dy()/h
		y1 := max(b.Min.Y+(y+1)*b.Dy()/h, y0+1)
		for x := range w {
			x0 := b.Min.X + x*b.Dx()/w
			x1 := max(b.Min.X+(x+1)*b.Dx()/w, x0+1)
			meanPixel(out.Pix[out.PixOffset(x, y):], pixels, x0, y0, x1, y1)
		}
	}
	return out
}

// samplesPerSide limits how many pixels are read, in each direction, to compute a mean.
const samplesPerSide = 8

func meanPixel(pix []uint8, src image.RGBA64Image, x0, y0, x1, y1 int) {
	var r, g, b, a, n uint32
	stepX, stepY := max((x1-x0)/samplesPerSide, 1), max((y1-y0)/samplesPerSide, 1)
	for y := y0; y < y1; y += stepY {
		for x := x0; x < x1; x += stepX {
			c := src.RGBA64At(x, y)
			r, g, b, a, n = r+uint32(c.R), g+uint32(c.G), b+uint32(c.B), a+uint32(c.A), n+1
		}
	}
	pix[0], pix[1], pix[2], pix[3] = uint8(r/n>>8), uint8(g/n>>8), uint8(b/n>>8), uint8(a/n>>8)
}

// Over draws a picture over a color. The result is opaque.
func Over(src *image.RGBA, backdrop color.RGBA) *image.RGBA {
	out := image.NewRGBA(image.Rectangle{Max: src.Bounds().Size()})
	draw.Draw(out, out.Bounds(), image.NewUniform(backdrop), image.Point{}, draw.Src)
	draw.Draw(out, out.Bounds(), src, src.Bounds().Min, draw.Over)
	return out
}
