package wire

import (
	"encoding/binary"
	"image"
	"math"

	"tandem/engine/api"
)

// Lines with pictures are followed by the placements, and by the strips of each line: the index of
// the line, the index of the placement, and the position. Only viewers that have asked for pictures
// get such lines.

// minPlacementBytes and minStripBytes are the minimum sizes of a placement and of a strip.
const (
	minPlacementBytes = 14
	minStripBytes     = 6
)

// appendStrips appends the placements and strips of lines. If there are none, it appends nothing.
func appendStrips(dst []byte, lines []api.NumberedLine) []byte {
	var placed []*api.Placement
	index := map[*api.Placement]int{}
	n := 0
	for i := range lines {
		for _, s := range lines[i].Line.Pictures {
			if _, known := index[s.Placement]; !known {
				index[s.Placement] = len(placed)
				placed = append(placed, s.Placement)
			}
			n++
		}
	}
	// Without pictures, the message is the same as in releases before pictures were added.
	if n == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(len(placed)))
	for _, p := range placed {
		dst = appendPlacement(dst, p)
	}
	dst = binary.AppendUvarint(dst, uint64(n))
	for i := range lines {
		for _, s := range lines[i].Line.Pictures {
			dst = appendSmalls(binary.AppendUvarint(binary.AppendUvarint(dst, uint64(i)), uint64(index[s.Placement])), s.Row, s.X, s.From, s.To)
		}
	}
	return dst
}

func appendPlacement(dst []byte, p *api.Placement) []byte {
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, p.ID), p.Picture)
	dst = appendSmalls(dst, p.Source.Min.X, p.Source.Min.Y, p.Source.Max.X, p.Source.Max.Y)
	dst = appendSmalls(dst, p.Cols, p.Rows, p.Cell.X, p.Cell.Y)
	return appendSmalls(dst, p.Box.Min.X, p.Box.Min.Y, p.Box.Max.X, p.Box.Max.Y, int(p.Z))
}

func appendSmalls(dst []byte, ns ...int) []byte {
	for _, n := range ns {
		dst = binary.AppendVarint(dst, int64(n))
	}
	return dst
}

// strips decodes the output of appendStrips into lines, if there is any.
func (d *decoder) strips(lines []api.NumberedLine) {
	if d.err != nil || len(d.b) == 0 {
		return
	}
	placed := make([]api.Placement, d.count(minPlacementBytes))
	for i := range placed {
		p := &placed[i]
		p.ID, p.Picture = d.uvarint(math.MaxUint64), d.uvarint(math.MaxUint64)
		p.Source = d.rectangle()
		p.Cols, p.Rows, p.Cell = d.small(), d.small(), d.point()
		p.Box, p.Z = d.rectangle(), int32(d.small())
		if p.Cols <= 0 || p.Rows <= 0 || p.Cell.X <= 0 || p.Cell.Y <= 0 || p.Source.Empty() || p.Box.Empty() {
			d.fail()
		}
	}
	for range d.count(minStripBytes) {
		line, at := d.uvarint(math.MaxInt32), d.uvarint(math.MaxInt32)
		s := api.Strip{Row: d.small(), X: d.small(), From: d.small(), To: d.small()}
		if d.err != nil || line >= uint64(len(lines)) || at >= uint64(len(placed)) || s.From < 0 || s.To < s.From {
			d.fail()
			return
		}
		s.Placement = &placed[at]
		l := &lines[line].Line
		l.Pictures = append(l.Pictures, s)
	}
}

func (d *decoder) point() image.Point { return image.Pt(d.small(), d.small()) }

func (d *decoder) rectangle() image.Rectangle {
	return image.Rectangle{Min: d.point(), Max: d.point()}
}

// appendPicture appends a picture.
func appendPicture(dst []byte, p *api.Picture) []byte {
	dst = appendSmalls(binary.AppendUvarint(dst, p.Number), p.Size.X, p.Size.Y)
	return append(dst, p.PNG...)
}

func (d *decoder) picture() *api.Picture {
	p := &api.Picture{Number: d.uvarint(math.MaxUint64), Size: d.point()}
	p.PNG = append([]byte{}, d.rest()...)
	return p
}
