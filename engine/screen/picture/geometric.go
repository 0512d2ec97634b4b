package picture

import (
	"image"
	"image/color"
	"math"
	"slices"

	"golang.org/x/image/vector"

	"tandem/engine/screen/styled"
)

// A figure is a geometric symbol missing in the font: a regular polygon, a star or a circle in the
// centre of its cells.
type figure struct {
	corners int     // 0 means a circle
	turn    float64 // angle of the first corner, in quarter turns clockwise from the top
	star    bool
	hollow  bool
	dot     bool         // with a small dot in the centre
	half    float64      // start of the filled half, in quarter turns from the top; 0 for none
	size    float64      // relative size; 0 means 1
	fg      styled.Color // fixed colour; 0 means that of the text
}

// figures returns the symbols drawn as figures if the font lacks them.
func figures() map[rune]figure {
	const square = 0.5
	return map[rune]figure{
		'○': {hollow: true}, '◯': {hollow: true, size: 1.15}, '◌': {hollow: true}, '⚪': {hollow: true}, '◦': {hollow: true, size: 0.5},
		'●': {}, '⬤': {size: 1.15}, '⚫': {}, '⏺': {}, '◉': {hollow: true, dot: true}, '◎': {hollow: true, dot: true},
		'◐': {hollow: true, half: 2}, '◑': {hollow: true, half: 4}, '◒': {hollow: true, half: 1}, '◓': {hollow: true, half: 3},
		'■': {corners: 4, turn: square}, '◼': {corners: 4, turn: square}, '⬛': {corners: 4, turn: square}, '▪': {corners: 4, turn: square, size: 0.6},
		'□': {corners: 4, turn: square, hollow: true}, '◻': {corners: 4, turn: square, hollow: true}, '⬜': {corners: 4, turn: square, hollow: true},
		'☐': {corners: 4, turn: square, hollow: true}, '▢': {corners: 4, turn: square, hollow: true}, '▫': {corners: 4, turn: square, hollow: true, size: 0.6},
		'▣': {corners: 4, turn: square, hollow: true, dot: true},
		'▲': {corners: 3}, '▶': {corners: 3, turn: 1}, '▼': {corners: 3, turn: 2}, '◀': {corners: 3, turn: 3}, '⏵': {corners: 3, turn: 1},
		'▴': {corners: 3, size: 0.7}, '▸': {corners: 3, turn: 1, size: 0.7}, '▾': {corners: 3, turn: 2, size: 0.7}, '◂': {corners: 3, turn: 3, size: 0.7},
		'△': {corners: 3, hollow: true}, '▷': {corners: 3, turn: 1, hollow: true}, '▽': {corners: 3, turn: 2, hollow: true}, '◁': {corners: 3, turn: 3, hollow: true},
		'◆': {corners: 4}, '⬥': {corners: 4}, '◇': {corners: 4, hollow: true}, '⬦': {corners: 4, hollow: true}, '◈': {corners: 4, hollow: true, dot: true},
		'⬢': {corners: 6, turn: 1. / 3}, '⬡': {corners: 6, turn: 1. / 3, hollow: true},
		'★': {corners: 5, star: true}, '☆': {corners: 5, star: true, hollow: true}, '⭐': {corners: 5, star: true, fg: 0xf0c030},
		'🔴': {fg: 0xdd2e44}, '🟠': {fg: 0xf4900c}, '🟡': {fg: 0xfdcb58}, '🟢': {fg: 0x78b159}, '🔵': {fg: 0x55acee}, '🟣': {fg: 0xaa8ed6},
		'🟤': {fg: 0xc1694f}, '🟥': {corners: 4, turn: square, fg: 0xdd2e44}, '🟧': {corners: 4, turn: square, fg: 0xf4900c},
		'🟨': {corners: 4, turn: square, fg: 0xfdcb58}, '🟩': {corners: 4, turn: square, fg: 0x78b159}, '🟦': {corners: 4, turn: square, fg: 0x55acee},
		'🟪': {corners: 4, turn: square, fg: 0xaa8ed6}, '🟫': {corners: 4, turn: square, fg: 0xc1694f},
	}
}

type point struct{ x, y float64 }

// outline returns the figure's points clockwise around the origin, with corners at distance 1.
func (f figure) outline() (points []point) {
	n, turn := f.corners, f.turn*math.Pi/2
	if n == 0 {
		n = 48
	}
	steps := n
	if f.star {
		steps = 2 * n
	}
	for i := range steps {
		at, far := turn+2*math.Pi*float64(i)/float64(steps), 1.0
		if f.star && i%2 == 1 {
			far = 0.4
		}
		points = append(points, point{far * math.Sin(at), -far * math.Cos(at)})
	}
	return points
}

// drawFigure draws a symbol in its cells; ok is false if it is not a figure.
func (c *canvas) drawFigure(r rune, cells, x, y int, fg color.RGBA) (ok bool) {
	f, ok := figures()[r]
	if !ok {
		return false
	}
	if f.fg != 0 {
		fg = rgb(f.fg)
	}
	w, h := cells*c.w, c.h
	radius := 0.48 * math.Min(float64(w), 0.8*float64(h))
	if f.corners == 4 && f.turn != 0 { // an upright square: move its sides, not its corners, to the circle
		radius *= 1.2
	}
	if f.size != 0 {
		radius *= f.size
	}
	z := vector.NewRasterizer(w, h)
	middle := point{float64(w) / 2, 0.53 * float64(h)}
	points := f.outline()
	addOutline(z, points, middle, radius)
	if f.hollow {
		inner := slices.Clone(points)
		slices.Reverse(inner) // the opposite direction cuts a hole
		addOutline(z, inner, middle, max(radius-f.strokeWidth(c.thin), 0))
	}
	if f.dot {
		addOutline(z, points, middle, 0.45*radius)
	}
	if f.half != 0 {
		n := len(points)
		addOutline(z, append(slices.Clone(points), points...)[int(f.half)*n/4:][:n/2+1], middle, radius-f.strokeWidth(c.thin)/2)
	}
	z.Draw(c.img, image.Rect(x, y, x+w, y+h), image.NewUniform(fg), image.Point{})
	return true
}

// strokeWidth returns how far a corner of the inner outline is from the same corner of the outer one.
// It is more than the width of the line along the sides: the sharper the corner, the more.
func (f figure) strokeWidth(thin int) float64 {
	width := 1.2 * float64(thin)
	switch f.corners {
	case 3, 5:
		return 2 * width
	case 4:
		return 1.4 * width
	}
	return width
}

func addOutline(z *vector.Rasterizer, points []point, middle point, radius float64) {
	for i, p := range points {
		x, y := float32(middle.x+radius*p.x), float32(middle.y+radius*p.y)
		if i == 0 {
			z.MoveTo(x, y)
		} else {
			z.LineTo(x, y)
		}
	}
	z.ClosePath()
}
