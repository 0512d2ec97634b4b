package graphics

import (
	"encoding/base64"
	"fmt"
	"image"
	"slices"
)

const (
	maxShown = 8 << 20 // maximum bytes of PNGs written to a terminal
	ownIDs   = 1 << 31 // first ID for images without one
	chunk    = 3 << 10 // bytes of a PNG in one command
)

// A visibleRect is a visible rectangle of a placement.
type visibleRect struct {
	at    *Placement
	cells image.Rectangle // relative to the placement
	x, y  int
}

// AppendShown appends commands of kitty's protocol to draw the pictures of the visible screen on a
// clean terminal. The program's images keep their IDs, so its later commands still find them.
func (p *Pictures) AppendShown(dst []byte) []byte {
	var all []visibleRect
	p.screen.EachRow(p.screen.Alt(), func(y int, s *Strips) *Strips {
		for _, one := range s.topStrips(maxCells) {
			if y >= 0 {
				all = addVisible(all, visibleRect{one.at, image.Rect(int(one.from-one.x), int(one.row), int(one.to-one.x), int(one.row)+1), int(one.from), y})
			}
		}
		return s
	})
	sent := map[*Image]bool{}
	size := 0
	for _, s := range slices.Backward(all) { // the newest if not all fit
		i := s.at.image
		png, err := i.Picture.PNG()
		if sent[i] || err != nil || size+len(png) > maxShown {
			continue
		}
		sent[i] = true
		size += len(png)
		dst = appendTransmit(dst, i.wireID(), png)
	}
	for _, s := range all {
		if sent[s.at.image] {
			dst = s.appendPlacement(dst)
		}
	}
	return dst
}

// wireID returns the image's ID in the written commands.
func (i *Image) wireID() uint32 {
	if i.ID != 0 {
		return i.ID
	}
	return ownIDs | uint32(i.Picture.Number)
}

// addVisible adds a row of cells, extending the rectangle above it if the two fit together.
func addVisible(all []visibleRect, row visibleRect) []visibleRect {
	for n := range all {
		s := &all[n]
		if s.at == row.at && s.x == row.x && s.cells.Min.X == row.cells.Min.X && s.cells.Max.X == row.cells.Max.X &&
			s.cells.Max.Y == row.cells.Min.Y && s.y+s.cells.Dy() == row.y {
			s.cells.Max.Y++
			return all
		}
	}
	return append(all, row)
}

// appendTransmit appends the commands that transmit a PNG as the image id, a chunk in each.
func appendTransmit(dst []byte, id uint32, png []byte) []byte {
	keys := fmt.Sprintf("a=t,f=%d,i=%d,", formatPNG, id) // only in the first command
	for more := 1; more == 1; keys = "" {
		piece := png[:min(len(png), chunk)]
		if png = png[len(piece):]; len(png) == 0 {
			more = 0
		}
		dst = fmt.Appendf(dst, "\x1b_G%sq=2,m=%d;", keys, more)
		dst = append(base64.StdEncoding.AppendEncode(dst, piece), "\x1b\\"...)
	}
	return dst
}

// appendPlacement appends a command to draw the visible part of the picture over its cells.
func (s visibleRect) appendPlacement(dst []byte) []byte {
	at, cell := &s.at.Placement, s.at.Cell
	box := image.Rect(s.cells.Min.X*cell.X, s.cells.Min.Y*cell.Y, s.cells.Max.X*cell.X, s.cells.Max.Y*cell.Y).Intersect(at.Box)
	if box.Empty() {
		return dst
	}
	from := box.Sub(at.Box.Min)
	scale := func(n, of, to int) int { return (n*of + to/2) / to }
	src := image.Rect(scale(from.Min.X, at.Source.Dx(), at.Box.Dx()), scale(from.Min.Y, at.Source.Dy(), at.Box.Dy()),
		scale(from.Max.X, at.Source.Dx(), at.Box.Dx()), scale(from.Max.Y, at.Source.Dy(), at.Box.Dy())).Add(at.Source.Min)
	if src.Empty() {
		return dst
	}
	dst = fmt.Appendf(dst, "\x1b[%d;%dH\x1b_Ga=p,q=2,C=1,i=%d", s.y+1, s.x+1, s.at.image.wireID())
	if s.at.id != 0 {
		dst = fmt.Appendf(dst, ",p=%d", s.at.id)
	}
	return fmt.Appendf(dst, ",x=%d,y=%d,w=%d,h=%d,c=%d,r=%d,z=%d\x1b\\", src.Min.X, src.Min.Y, src.Dx(), src.Dy(), s.cells.Dx(), s.cells.Dy(), at.Z)
}
