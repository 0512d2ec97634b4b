// Package graphics encodes pictures for terminals: in kitty's graphics protocol, as sixels, or as
// half blocks. It scales and encodes, and tracks the pictures a terminal has. Other packages decide
// what to show where.
package graphics

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/png"
)

// A Protocol is a way to show pictures.
type Protocol int

// The ways to show pictures. Blocks draws them with half-block characters, which every terminal
// has.
const (
	Blocks Protocol = iota
	Off             // no pictures
	Kitty           // sw.kovidgoyal.net/kitty/graphics-protocol
	Sixel           // DEC STD 070, as in the VT340 and xterm
)

// A Screen describes how a terminal shows pictures.
type Screen struct {
	Protocol Protocol
	Cell     image.Point // pixels of a cell; zero if unknown
	Backdrop color.RGBA  // background of transparent pixels; opaque
}

// Exact reports whether pictures have the terminal's full resolution.
func (s Screen) Exact() bool { return s.Protocol == Kitty || s.Protocol == Sixel }

// defaultCell is the size of a cell if the terminal does not report it.
var defaultCell = image.Pt(10, 20)

// cellSize returns the size of a cell, or the default.
func (s Screen) cellSize() image.Point {
	if s.Cell.X <= 0 || s.Cell.Y <= 0 {
		return defaultCell
	}
	return s.Cell
}

// Limits of the data sent to a terminal for one picture.
const (
	maxKittyPixels = 3 << 19 // 1.5 million
	maxSixelPixels = 3 << 18
	maxSixelSide   = 1000 // xterm's default limit
	maxBytes       = 3 << 20
)

// A Picture is an encoded picture. It is immutable.
type Picture struct {
	Protocol   Protocol
	Cols, Rows int    // cells covered
	Data       []byte // a PNG for Kitty, the whole sequence for Sixel
}

// errNothing is the error for a picture or an area without pixels.
var errNothing = errors.New("encode picture: no part of it is visible")

// Encode encodes a picture to fit into cols×rows cells, in its proportions and not enlarged. It may
// take long.
func Encode(src *image.RGBA, s Screen, cols, rows int) (*Picture, error) {
	cell, size := s.cellSize(), src.Bounds().Size()
	if cols <= 0 || rows <= 0 || size.X <= 0 || size.Y <= 0 {
		return nil, errNothing
	}
	w, h := Within(size.X, size.Y, cols*cell.X, rows*cell.Y)
	if s.Protocol == Sixel {
		return encodeSixel(src, s, w, h)
	}
	return encodeKitty(src, cell, w, h)
}

// cellsFor returns how many cells n pixels cover.
func cellsFor(n, cell int) int { return max((n+cell-1)/cell, 1) }

// encodeKitty encodes a PNG that fills whole cells. kitty would stretch the picture to whole cells,
// so the unused part of the last cells is transparent pixels. A picture over the limits is sent
// smaller, and the terminal enlarges it.
func encodeKitty(src *image.RGBA, cell image.Point, w, h int) (*Picture, error) {
	cols, rows := cellsFor(w, cell.X), cellsFor(h, cell.Y)
	for scale := 1.0; ; scale *= shrinkFactor {
		full := image.Pt(scaleSide(cols*cell.X, scale), scaleSide(rows*cell.Y, scale))
		// Scaling a picture this large would be wasted work.
		if full.X*full.Y > maxKittyPixels {
			continue
		}
		data, err := encodePadded(Shrink(src, scaleSide(w, scale), scaleSide(h, scale)), full)
		if err != nil {
			return nil, err
		}
		if len(data) <= maxBytes || full.X*full.Y == 1 {
			return &Picture{Protocol: Kitty, Cols: cols, Rows: rows, Data: data}, nil
		}
	}
}

// shrinkFactor is applied to the sides of a picture over the limits until it fits.
const shrinkFactor = 0.8

// scaleSide scales a side, to at least 1.
func scaleSide(n int, scale float64) int { return max(int(float64(n)*scale), 1) }

// encodePadded encodes src as a PNG of the size full: the picture in the top left corner, the rest
// transparent.
func encodePadded(src *image.RGBA, full image.Point) ([]byte, error) {
	whole := image.NewRGBA(image.Rectangle{Max: full})
	draw.Draw(whole, whole.Bounds(), src, src.Bounds().Min, draw.Src)
	return encodePNG(whole)
}

func encodePNG(img image.Image) ([]byte, error) {
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	err := encoder.Encode(&out, img)
	return out.Bytes(), err
}

// encodeSixel encodes a sixel sequence. A picture over the limits is shown smaller.
func encodeSixel(src *image.RGBA, s Screen, w, h int) (*Picture, error) {
	cell := s.cellSize()
	w, h = Within(w, h, maxSixelSide, maxSixelSide)
	for ; ; w, h = scaleSide(w, shrinkFactor), scaleSide(h, shrinkFactor) {
		if w*h > maxSixelPixels {
			continue
		}
		small := Over(Shrink(src, w, wholeBands(h)), s.Backdrop)
		b := small.Bounds()
		data := AppendSixel(nil, small)
		if len(data) <= maxBytes || w*h == 1 {
			return &Picture{Protocol: Sixel, Cols: cellsFor(b.Dx(), cell.X), Rows: cellsFor(b.Dy(), cell.Y), Data: data}, nil
		}
	}
}

// wholeBands rounds a height down to whole bands, because some terminals draw only whole ones.
func wholeBands(h int) int {
	if h < sixelRows {
		return h
	}
	return h - h%sixelRows
}
