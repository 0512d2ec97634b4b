package graphics

import (
	"image"
	"image/color"
)

// Within are sides in the proportion of w and h that fit, at least 1 each.
// What fits stays as it is.
func Within(w, h, mostW, mostH int) (int, int) {
	if w <= mostW && h <= mostH {
		return w, h
	}
	if w*mostH > h*mostW {
		return mostW, max(h*mostW/w, 1)
	}
	return max(w*mostH/h, 1), mostH
}

// Shrink makes a picture w×h pixels, of which none may be more than it has;
// each is the mean of those that it stands for.
func Shrink(src image.Image, w, h int) *image.RGBA {
	b := src.Bounds()
	w, h = min(w, b.Dx()), min(h, b.Dy())
	out := image.NewRGBA(image.Rect(0, 0, w, h))
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
				mean(pix, src, x0, y0, x1, y1)
			}
		}
	}
	return out
}

// samples is how many pixels a side are looked at for a mean.
const samples = 8

func mean(pix []uint8, src image.Image, x0, y0, x1, y1 int) {
	var r, g, b, a, n uint64
	stepX, stepY := max((x1-x0)/samples, 1), max((y1-y0)/samples, 1)
	for y := y0; y < y1; y += stepY {
		for x := x0; x < x1; x += stepX {
			cr, cg, cb, ca := src.At(x, y).RGBA()
			r, g, b, a, n = r+uint64(cr), g+uint64(cg), b+uint64(cb), a+uint64(ca), n+1
		}
	}
	pix[0], pix[1], pix[2], pix[3] = uint8(r/n>>8), uint8(g/n>>8), uint8(b/n>>8), uint8(a/n>>8)
}

// meanRGBA is mean without a call for each pixel.
func meanRGBA(pix []uint8, src *image.RGBA, x0, y0, x1, y1 int) {
	var r, g, b, a, n uint32
	stepX, stepY := max((x1-x0)/samples, 1), max((y1-y0)/samples, 1)
	for y := y0; y < y1; y += stepY {
		for x := x0; x < x1; x += stepX {
			p := src.Pix[src.PixOffset(x, y):]
			r, g, b, a, n = r+uint32(p[0]), g+uint32(p[1]), b+uint32(p[2]), a+uint32(p[3]), n+1
		}
	}
	pix[0], pix[1], pix[2], pix[3] = uint8(r/n), uint8(g/n), uint8(b/n), uint8(a/n)
}

// Over lays a picture over a colour; what comes out is opaque.
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
