package picture

import (
	"image"
	"image/color"
	"image/draw"

	"tandem/engine/screen/styled"

	"golang.org/x/image/vector"
)

// A canvas is an image with cells of w × h pixels.
type canvas struct {
	img  *image.RGBA
	w, h int
	thin int // thickness of a line, equal to the scale

	sink func(x, y, w, h int, fg color.RGBA) // receives filled rectangles instead of img
}

func (c *canvas) fillRect(x, y, w, h int, fg color.RGBA) {
	if c.sink != nil {
		c.sink(x, y, w, h, fg)
		return
	}
	r := image.Rect(x, y, x+w, y+h)
	draw.Draw(c.img, r, image.NewUniform(fg), image.Point{}, draw.Src)
}

// shadeCell blends the colour fg into a cell; part is its opacity.
func (c *canvas) shadeCell(x, y int, part float64, fg color.RGBA) {
	for py := y; py < y+c.h; py++ {
		for px := x; px < x+c.w; px++ {
			if (image.Point{X: px, Y: py}).In(c.img.Rect) {
				c.img.SetRGBA(px, py, blend(c.img.RGBAAt(px, py), fg, part))
			}
		}
	}
}

// drawMask draws the colour fg through a mask.
func (c *canvas) drawMask(m *image.Alpha, x, y int, fg color.RGBA) {
	r := m.Rect.Add(image.Pt(x, y))
	draw.DrawMask(c.img, r, image.NewUniform(fg), image.Point{}, m, m.Rect.Min, draw.Over)
}

// fillPolygon fills a polygon in the cell at x, y.
func (c *canvas) fillPolygon(x, y int, fg color.RGBA, points ...[2]float32) {
	z := vector.NewRasterizer(c.w, c.h)
	z.MoveTo(points[0][0], points[0][1])
	for _, p := range points[1:] {
		z.LineTo(p[0], p[1])
	}
	z.ClosePath()
	z.Draw(c.img, image.Rect(x, y, x+c.w, y+c.h), image.NewUniform(fg), image.Point{})
}

// drawDiagonal draws U+2571, U+2572 and U+2573.
func (c *canvas) drawDiagonal(r rune, x, y int, fg color.RGBA) {
	w, h, t := float32(c.w), float32(c.h), float32(c.thin)
	if r != firstDiagonal+1 {
		c.fillPolygon(x, y, fg, [2]float32{0, h}, [2]float32{0, h - t}, [2]float32{w - t, 0}, [2]float32{w, 0}, [2]float32{w, t}, [2]float32{t, h})
	}
	if r != firstDiagonal {
		c.fillPolygon(x, y, fg, [2]float32{0, 0}, [2]float32{t, 0}, [2]float32{w, h - t}, [2]float32{w, h}, [2]float32{w - t, h}, [2]float32{0, t})
	}
}

// drawCorner draws a rounded corner between a vertical and a horizontal stroke.
func (c *canvas) drawCorner(up, right bool, x, y int, fg color.RGBA) {
	t := float32(c.thin)
	mx, my := float32(c.w/2-c.thin/2), float32(c.h/2-c.thin/2)
	radius := min(mx, my)
	w, h := float32(c.w), float32(c.h)
	z := vector.NewRasterizer(c.w, c.h)
	// The coordinates below are those of a corner that goes down and right. The function at mirrors
	// them for the other corners.
	at := func(px, py float32) (float32, float32) {
		if !right {
			px = 2*mx + t - px
		}
		if up {
			py = 2*my + t - py
		}
		return px, py
	}
	move := func(px, py float32) { px, py = at(px, py); z.MoveTo(px, py) }
	line := func(px, py float32) { px, py = at(px, py); z.LineTo(px, py) }
	quad := func(ax, ay, bx, by float32) {
		ax, ay = at(ax, ay)
		bx, by = at(bx, by)
		z.QuadTo(ax, ay, bx, by)
	}
	move(mx, h+1)
	line(mx, my+radius+t)
	quad(mx, my, mx+radius+t, my)
	line(w+1, my)
	line(w+1, my+t)
	line(mx+radius+t, my+t)
	quad(mx+t, my+t, mx+t, my+radius+t)
	line(mx+t, h+1)
	z.ClosePath()
	z.Draw(c.img, image.Rect(x, y, x+c.w, y+c.h), image.NewUniform(fg), image.Point{})
}

// drawLines draws the strike-through, overline and underline of a cluster.
func (c *canvas) drawLines(p piece, x, y, baseline int) {
	w := p.cells * c.w
	if p.look.strike {
		c.fillRect(x, y+c.h*11/20, w, c.thin, p.look.fg)
	}
	if p.look.overline {
		c.fillRect(x, y, w, c.thin, p.look.fg)
	}
	under := y + baseline + 2*c.thin
	switch p.look.underline {
	case styled.UnderlineNone:
	case styled.UnderlineDouble:
		c.fillRect(x, under, w, c.thin, p.look.ul)
		c.fillRect(x, under+2*c.thin, w, c.thin, p.look.ul)
	case styled.UnderlineCurly:
		for i := range w {
			// By absolute position, so that the wave continues across clusters.
			step := (x + i) / c.thin % 4
			c.fillRect(x+i, under+[4]int{0, c.thin, 2 * c.thin, c.thin}[step], 1, c.thin, p.look.ul)
		}
	case styled.UnderlineDotted, styled.UnderlineDashed:
		on := 1
		if p.look.underline == styled.UnderlineDashed {
			on = 3
		}
		for i := range w {
			if (x+i)/c.thin%(on+1) < on {
				c.fillRect(x+i, under, 1, c.thin, p.look.ul)
			}
		}
	default:
		c.fillRect(x, under, w, c.thin, p.look.ul)
	}
}
