package picture

import (
	"image"
	"image/color"
	"math"
	"slices"

	"golang.org/x/image/vector"

	"tandem/engine/styled"
)

// A figure is a geometric sign that the font lacks: a regular polygon, a star or a
// circle in the middle of its cells.
type figure struct {
	corners int     // 0 is a circle
	turn    float64 // of the first corner, in quarters from the top, clockwise
	star    bool
	hollow  bool
	dot     bool         // a small one in the middle
	half    float64      // the half that is filled begins there, in quarters from the top; 0 for none
	size    float64      // of that of others; 0 is the same
	ink     styled.Color // of its own; 0 is that of the text
}

// figures are the signs that are drawn as figures where the font lacks them.
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
		'★': {corners: 5, star: true}, '☆': {corners: 5, star: true, hollow: true}, '⭐': {corners: 5, star: true, ink: 0xf0c030},
		'🔴': {ink: 0xdd2e44}, '🟠': {ink: 0xf4900c}, '🟡': {ink: 0xfdcb58}, '🟢': {ink: 0x78b159}, '🔵': {ink: 0x55acee}, '🟣': {ink: 0xaa8ed6},
		'🟤': {ink: 0xc1694f}, '🟥': {corners: 4, turn: square, ink: 0xdd2e44}, '🟧': {corners: 4, turn: square, ink: 0xf4900c},
		'🟨': {corners: 4, turn: square, ink: 0xfdcb58}, '🟩': {corners: 4, turn: square, ink: 0x78b159}, '🟦': {corners: 4, turn: square, ink: 0x55acee},
		'🟪': {corners: 4, turn: square, ink: 0xaa8ed6}, '🟫': {corners: 4, turn: square, ink: 0xc1694f},
	}
}

type point struct{ x, y float64 }

// outline is the figure around the origin, clockwise, its corners at a distance
// of 1.
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

// figure draws a sign in some cells; ok is false if it is none that is drawn.
func (c *canvas) figure(r rune, cells, x, y int, ink color.RGBA) (ok bool) {
	f, ok := figures()[r]
	if !ok {
		return false
	}
	if f.ink != 0 {
		ink = rgb(f.ink)
	}
	w, h := cells*c.w, c.h
	radius := 0.48 * math.Min(float64(w), 0.8*float64(h))
	if f.corners == 4 && f.turn != 0 { // its sides are as far as the circle
		radius *= 1.2
	}
	if f.size != 0 {
		radius *= f.size
	}
	z := vector.NewRasterizer(w, h)
	middle := point{float64(w) / 2, 0.53 * float64(h)}
	points := f.outline()
	trail(z, points, middle, radius)
	if f.hollow {
		inner := slices.Clone(points)
		slices.Reverse(inner) // what goes round the other way is left out
		trail(z, inner, middle, max(radius-f.stroke(c.thin), 0))
	}
	if f.dot {
		trail(z, points, middle, 0.45*radius)
	}
	if f.half != 0 {
		n := len(points)
		trail(z, append(slices.Clone(points), points...)[int(f.half)*n/4:][:n/2+1], middle, radius-f.stroke(c.thin)/2)
	}
	z.Draw(c.img, image.Rect(x, y, x+w, y+h), image.NewUniform(ink), image.Point{})
	return true
}

// stroke is how much less far the corners of the inner outline are: farther than
// its sides.
func (f figure) stroke(thin int) float64 {
	width := 1.2 * float64(thin)
	switch f.corners {
	case 3, 5:
		return 2 * width
	case 4:
		return 1.4 * width
	}
	return width
}

func trail(z *vector.Rasterizer, points []point, middle point, radius float64) {
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
