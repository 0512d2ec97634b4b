package graphics

import (
	"image"
	"image/color"
)

// Within scales w and h in proportion to fit, to at least 1 each. Sides that fit are unchanged.
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
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	// Most pictures are RGBA already; reading their pixels directly is much faster.
	fast, _ := src.(*image.RGBA)
	for y := range h {
		y0 := b.Min.Y + y*b.Dy()/h
		y1 := max(b.Min.Y+(y+1)*b.Dy()/h, y0+1)
		for x := range w {
			x0 := b.Min.X + x*b.Dx()/w
			x1 := max(b.Min.X+(x+1)*b.Dx()/w, x0+1)
			pix := out.Pix[out.PixOffset(x, y):]
			if fast != nil {
				meanRGBA(pix, fast, x0, y0, x1, y1)
			} else {
				meanPixel(pix, src, x0, y0, x1, y1)
			}
		}
	}
	return out
}

// samplesPerSide limits the pixels read for a mean, in each direction.
const samplesPerSide = 8

func meanPixel(pix []uint8, src image.Image, x0, y0, x1, y1 int) {
	var r, g, b, a, n uint64
	stepX, stepY := max((x1-x0)/samplesPerSide, 1), max((y1-y0)/samplesPerSide, 1)
	for y := y0; y < y1; y += stepY {
		for x := x0; x < x1; x += stepX {
			cr, cg, cb, ca := src.At(x, y).RGBA()
			r, g, b, a, n = r+uint64(cr), g+uint64(cg), b+uint64(cb), a+uint64(ca), n+1
		}
	}
	pix[0], pix[1], pix[2], pix[3] = uint8(r/n>>8), uint8(g/n>>8), uint8(b/n>>8), uint8(a/n>>8)
}

// meanRGBA is meanPixel without a method call per pixel.
func meanRGBA(pix []uint8, src *image.RGBA, x0, y0, x1, y1 int) {
	var r, g, b, a, n uint32
	stepX, stepY := max((x1-x0)/samplesPerSide, 1), max((y1-y0)/samplesPerSide, 1)
	for y := y0; y < y1; y += stepY {
		for x := x0; x < x1; x += stepX {
			p := src.Pix[src.PixOffset(x, y):]
			r, g, b, a, n = r+uint32(p[0]), g+uint32(p[1]), b+uint32(p[2]), a+uint32(p[3]), n+1
		}
	}
	pix[0], pix[1], pix[2], pix[3] = uint8(r/n), uint8(g/n), uint8(b/n), uint8(a/n)
}

// Over draws a picture over a color. The result is opaque.
func Over(src *image.RGBA, backdrop color.RGBA) *image.RGBA {
	b := src.Bounds()
	out := image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	under := [3]uint32{uint32(backdrop.R), uint32(backdrop.G), uint32(backdrop.B)}
	for y := range b.Dy() {
		from := src.Pix[src.PixOffset(b.Min.X, b.Min.Y+y):]
		to := out.Pix[y*out.Stride : (y+1)*out.Stride]
		for i := 0; i < len(to); i += 4 {
			through := 255 - uint32(from[i+3])
			for c, u := range under {
				to[i+c] = uint8(min(uint32(from[i+c])+u*through/255, 255))
			}
			to[i+3] = 255
		}
	}
	return out
}
