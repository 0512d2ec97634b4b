package picture

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"image"
	"maps"
	"slices"
	"strings"

	"golang.org/x/image/draw"

	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/graphics"
)

const (
	// maxDrawn is the maximum number of picture pixels to draw on one screen. A screen with more
	// pixels of its own has that number as its maximum.
	maxDrawn = 4 << 20
	// maxSmooth limits bilinear scaling, which takes 32 bytes per source row and drawn column.
	// Larger pictures are scaled less smoothly.
	maxSmooth = 1 << 19
)

// printedOf returns the pictures on the lines.
func printedOf(t Terminal, lines []styled.Line) map[uint64]*graphics.Picture {
	var printed map[uint64]*graphics.Picture
	for _, l := range lines {
		for _, s := range l.Pictures {
			if printed == nil {
				printed = map[uint64]*graphics.Picture{}
			}
			if p := t.Picture(s.Picture); p != nil {
				printed[s.Picture] = p
			}
		}
	}
	return printed
}

// A printer holds the scaled pictures of a screen.
type printer struct {
	scaled map[uint64]*image.RGBA // visible part of each placement, by ID
}

// A placement is one picture to draw on a screen.
type placement struct {
	strip styled.Strip
	size  image.Point     // size of the scaled picture in pixels
	seen  image.Rectangle // visible part of the scaled picture
}

// newPrinter scales the pictures on a screen with cells of w×h pixels. It begins with the topmost
// picture, and stops at maxDrawn pixels or, if that is more, the number of pixels of the screen. It
// unpacks each picture once, and one at a time.
func newPrinter(s *Screen, w, h int) *printer {
	p := &printer{scaled: map[uint64]*image.RGBA{}}
	all := s.placements(w, h)
	left := max(maxDrawn, s.Cols*w*s.Rows*h)
	drawn := map[uint64][]*placement{}
	var order []uint64
	// placements returns the topmost first. They hide the others, so they are drawn in any case.
	for _, one := range all {
		if left -= one.seen.Dx() * one.seen.Dy(); left < 0 {
			break
		}
		if number := one.strip.Picture; drawn[number] == nil {
			order = append(order, number)
		}
		drawn[one.strip.Picture] = append(drawn[one.strip.Picture], one)
	}
	for _, number := range order {
		if img, err := s.Printed[number].Image(); err == nil { // skip damaged pictures
			for _, one := range drawn[number] {
				p.scaled[one.strip.ID] = one.scale(img)
			}
		}
	}
	return p
}

// placements returns the visible placements of a screen, topmost first.
func (s *Screen) placements(w, h int) (all []*placement) {
	known := map[uint64]*placement{}
	screen := image.Rect(0, 0, s.Cols*w, s.Rows*h)
	for y, l := range s.Lines[:min(len(s.Lines), s.Rows)] {
		for _, one := range l.Pictures {
			if s.Printed[one.Picture] == nil {
				continue
			}
			box := boxOf(one, w, h, image.Pt(0, y*h))
			// Only the visible part is scaled, and counts towards maxDrawn.
			seen := image.Rect(one.From*w, y*h, one.To*w, (y+1)*h).Intersect(box).Intersect(screen).Sub(box.Min)
			if at := known[one.ID]; at != nil {
				at.seen = at.seen.Union(seen)
			} else if !seen.Empty() {
				known[one.ID] = &placement{one, box.Size(), seen}
				all = append(all, known[one.ID])
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *placement) int {
		return cmp.Or(cmp.Compare(b.strip.Z, a.strip.Z), cmp.Compare(b.strip.ID, a.strip.ID))
	})
	return all
}

// scale returns the visible part of img, scaled to its size on the screen.
func (d *placement) scale(img image.Image) *image.RGBA {
	to := image.NewRGBA(d.seen)
	source := d.strip.Source.Add(img.Bounds().Min)
	var scaler draw.Scaler = draw.ApproxBiLinear
	switch {
	case source.Size() == d.size:
		scaler = draw.NearestNeighbor
	case d.size.X < source.Dx() && d.size.X*source.Dy() <= maxSmooth:
		scaler = draw.BiLinear
	}
	scaler.Scale(to, image.Rectangle{Max: d.size}, img, source, draw.Src, nil)
	return to
}

// boxOf returns the rectangle of the picture that a strip belongs to. Cells have w×h pixels, and at
// is the start of the strip's line.
func boxOf(s styled.Strip, w, h int, at image.Point) image.Rectangle {
	x, y := at.X+s.X*w, at.Y-s.Row*h
	return image.Rect(x+s.Box.Min.X*w/s.Cell.X, y+s.Box.Min.Y*h/s.Cell.Y, x+s.Box.Max.X*w/s.Cell.X, y+s.Box.Max.Y*h/s.Cell.Y)
}

// drawStrips draws the pictures of a line: those under its text if below is set, otherwise those
// over it.
func (c *canvas) drawStrips(l styled.Line, y, margin int, below bool, p *printer) {
	for _, s := range l.Pictures {
		whole := p.scaled[s.ID]
		if (s.Z < 0) != below || whole == nil {
			continue
		}
		at := image.Pt(margin, margin+y*c.h)
		box := boxOf(s, c.w, c.h, at)
		to := box.Intersect(image.Rect(at.X+s.From*c.w, at.Y, at.X+s.To*c.w, at.Y+c.h)).Intersect(whole.Rect.Add(box.Min))
		draw.Draw(c.img, to, whole, to.Min.Sub(box.Min), draw.Over)
	}
}

// writePrinted defines the pictures, for reference by number.
func (s *Screen) writePrinted(b *strings.Builder) {
	if len(s.Printed) == 0 {
		return
	}
	b.WriteString("<defs>\n")
	for _, number := range slices.Sorted(maps.Keys(s.Printed)) {
		p := s.Printed[number]
		png, err := p.PNG()
		if err != nil {
			continue
		}
		fmt.Fprintf(b, `<image id="p%d" width="%d" height="%d" preserveAspectRatio="none" href="data:image/png;base64,%s"/>`+"\n",
			number, p.Size.X, p.Size.Y, base64.StdEncoding.EncodeToString(png))
	}
	b.WriteString("</defs>\n")
}

// writeStrips writes the pictures of a row: those under its text if below is set, otherwise those
// over it.
func (s *Screen) writeStrips(b *strings.Builder, y int, below bool) {
	at := image.Pt(padding, padding+y*cellHeight)
	for _, one := range s.Lines[y].Pictures {
		p := s.Printed[one.Picture]
		box := boxOf(one, cellWidth, cellHeight, at)
		seen := box.Intersect(image.Rect(at.X+one.From*cellWidth, at.Y, at.X+one.To*cellWidth, at.Y+cellHeight))
		if (one.Z < 0) != below || p == nil || seen.Empty() {
			continue
		}
		fmt.Fprintf(b, `<svg x="%d" y="%d" width="%d" height="%d"><use href="#p%d" transform="translate(%d %d) scale(%g %g) translate(%d %d)"/></svg>`+"\n",
			seen.Min.X, seen.Min.Y, seen.Dx(), seen.Dy(), one.Picture, box.Min.X-seen.Min.X, box.Min.Y-seen.Min.Y,
			float64(box.Dx())/float64(one.Source.Dx()), float64(box.Dy())/float64(one.Source.Dy()), -one.Source.Min.X, -one.Source.Min.Y)
	}
}
