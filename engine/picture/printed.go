package picture

import (
	"encoding/base64"
	"fmt"
	"image"
	"maps"
	"slices"
	"strings"

	"golang.org/x/image/draw"

	"tandem/engine/styled"
	"tandem/engine/vt/graphics"
)

// mostScaled bounds a picture that is scaled as a whole, in pixels; of a larger one
// each row is, which is less smooth.
const mostScaled = 16 << 20

// printedOf are the pictures that lines show.
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

// A printer draws the pictures that programs have printed.
type printer struct {
	of      map[uint64]*graphics.Picture
	decoded map[uint64]image.Image
	scaled  map[uint64]*image.RGBA // by placement: what its box shows
}

func newPrinter(s *Screen) *printer {
	return &printer{of: s.Printed, decoded: map[uint64]image.Image{}, scaled: map[uint64]*image.RGBA{}}
}

// picture is a picture's pixels; nil if there are none, or they are damaged.
func (p *printer) picture(number uint64) image.Image {
	img, known := p.decoded[number]
	if from := p.of[number]; !known && from != nil {
		img, _ = from.Image() // what is damaged is left out
		p.decoded[number] = img
	}
	return img
}

// boxOf is where a strip's placement has its picture, if the cells are w×h pixels and the
// strip's line begins at a point.
func boxOf(s styled.Strip, w, h int, at image.Point) image.Rectangle {
	x, y := at.X+s.X*w, at.Y-s.Row*h
	return image.Rect(x+s.Box.Min.X*w/s.Cell.X, y+s.Box.Min.Y*h/s.Cell.Y, x+s.Box.Max.X*w/s.Cell.X, y+s.Box.Max.Y*h/s.Cell.Y)
}

// strips draws the pictures in a line that are below its text, or those above it.
func (c *canvas) strips(l styled.Line, y, margin int, below bool, p *printer) {
	for _, s := range l.Pictures {
		src := p.picture(s.Picture)
		if (s.Z < 0) != below || src == nil {
			continue
		}
		at := image.Pt(margin, margin+y*c.h)
		box := boxOf(s, c.w, c.h, at)
		to, _ := c.img.SubImage(image.Rect(at.X+s.From*c.w, at.Y, at.X+s.To*c.w, at.Y+c.h)).(*image.RGBA)
		if to == nil || box.Empty() {
			continue
		}
		source := s.Source.Add(src.Bounds().Min)
		if box.Dx()*box.Dy() > mostScaled {
			draw.ApproxBiLinear.Scale(to, box, src, source, draw.Over, nil)
			continue
		}
		whole := p.scaled[s.ID]
		if whole == nil {
			whole = image.NewRGBA(image.Rectangle{Max: box.Size()})
			scaler(source.Size(), box.Size()).Scale(whole, whole.Rect, src, source, draw.Src, nil)
			p.scaled[s.ID] = whole
		}
		draw.Draw(to, box.Intersect(to.Rect), whole, box.Intersect(to.Rect).Min.Sub(box.Min), draw.Over)
	}
}

// scaler is what takes pixels of one size to another: as they are, or smoothly.
func scaler(from, to image.Point) draw.Scaler {
	if from == to {
		return draw.NearestNeighbor
	}
	return draw.BiLinear
}

// writePrinted writes what pictures there are, to be used by number.
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

// writeStrips writes the pictures in a row that are below its text, or those above it.
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
