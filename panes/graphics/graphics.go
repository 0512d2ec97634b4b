// Package graphics makes of pictures what terminals take: kitty's graphics
// protocol and sixel. It scales and encodes; when and where a picture is shown
// is for others to say.
package graphics

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
)

// A Protocol is how pictures reach the screen.
type Protocol int

// The protocols. Blocks, half blocks of text, need nothing of the terminal.
const (
	Blocks Protocol = iota
	Off             // no pictures at all
	Kitty           // sw.kovidgoyal.net/kitty/graphics-protocol
	Sixel           // DEC STD 070, as VT340 and xterm do it
)

// A Screen is what a terminal does with pictures.
type Screen struct {
	Protocol Protocol
	Cell     image.Point // pixels of a cell; zero if that is not known
	Backdrop color.RGBA  // behind what can be seen through; opaque
}

// Exact reports whether pictures are drawn with the terminal's own pixels.
func (s Screen) Exact() bool { return s.Protocol == Kitty || s.Protocol == Sixel }

// usualCell is the size of a cell where the terminal does not tell.
var usualCell = image.Pt(10, 20)

// cell is the size of a cell, or a usual one.
func (s Screen) cell() image.Point {
	if s.Cell.X <= 0 || s.Cell.Y <= 0 {
		return usualCell
	}
	return s.Cell
}

// Bounds of what is sent to a terminal for one picture.
const (
	mostKittyPixels = 3 << 19 // 1.5 million
	mostSixelPixels = 3 << 18
	mostSixelSide   = 1000 // what xterm shows, unless it was told otherwise
	mostBytes       = 3 << 20
)

// A Picture is a picture for one place of a terminal. It does not change.
type Picture struct {
	Protocol   Protocol
	Cols, Rows int    // cells that it covers
	Data       []byte // a PNG for Kitty, the whole sequence for Sixel
}

// errNothing is that of a picture or a place without any pixels.
var errNothing = errors.New("encode picture: nothing of it is visible")

// Encode makes a picture fit into cols×rows cells, in its proportions and no
// larger than it is, as the screen takes it. It takes a while.
func Encode(src *image.RGBA, s Screen, cols, rows int) (*Picture, error) {
	cell, size := s.cell(), src.Bounds().Size()
	if cols <= 0 || rows <= 0 || size.X <= 0 || size.Y <= 0 {
		return nil, errNothing
	}
	w, h := Within(size.X, size.Y, cols*cell.X, rows*cell.Y)
	if s.Protocol == Sixel {
		return encodeSixel(src, s, w, h)
	}
	return encodeKitty(src, cell, w, h)
}

// cellsFor is how many cells n pixels take.
func cellsFor(n, cell int) int { return max((n+cell-1)/cell, 1) }

// encodeKitty makes a PNG that fills whole cells: what the picture leaves of
// the last ones can be seen through, so that nothing is stretched. One with
// more pixels or bytes than are sent is smaller, and the terminal enlarges it.
func encodeKitty(src *image.RGBA, cell image.Point, w, h int) (*Picture, error) {
	cols, rows := cellsFor(w, cell.X), cellsFor(h, cell.Y)
	for scale := 1.0; ; scale *= smaller {
		full := image.Pt(scaled(cols*cell.X, scale), scaled(rows*cell.Y, scale))
		if full.X*full.Y > mostKittyPixels {
			continue
		}
		data, err := padded(Shrink(src, scaled(w, scale), scaled(h, scale)), full)
		if err != nil {
			return nil, err
		}
		if len(data) <= mostBytes || full.X*full.Y == 1 {
			return &Picture{Protocol: Kitty, Cols: cols, Rows: rows, Data: data}, nil
		}
	}
}

// smaller is what the sides of a picture are made when it is too much to send.
const smaller = 0.8

// scaled is a side made smaller, at least 1.
func scaled(n int, scale float64) int { return max(int(float64(n)*scale), 1) }

// padded is a picture in the corner of a PNG of a size.
func padded(src *image.RGBA, full image.Point) ([]byte, error) {
	whole := image.NewRGBA(image.Rectangle{Max: full})
	b := src.Bounds()
	for y := range min(b.Dy(), full.Y) {
		copy(whole.Pix[y*whole.Stride:(y+1)*whole.Stride], src.Pix[y*src.Stride:y*src.Stride+4*b.Dx()])
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&out, whole); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// encodeSixel makes a sixel sequence. A picture that would take more than is
// sent is shown smaller.
func encodeSixel(src *image.RGBA, s Screen, w, h int) (*Picture, error) {
	cell := s.cell()
	w, h = Within(w, h, mostSixelSide, mostSixelSide)
	for ; ; w, h = scaled(w, smaller), scaled(h, smaller) {
		if w*h > mostSixelPixels {
			continue
		}
		small := Over(Shrink(src, w, wholeBands(h)), s.Backdrop)
		b := small.Bounds()
		data := AppendSixel(nil, small)
		if len(data) <= mostBytes || w*h == 1 {
			return &Picture{Protocol: Sixel, Cols: cellsFor(b.Dx(), cell.X), Rows: cellsFor(b.Dy(), cell.Y), Data: data}, nil
		}
	}
}

// wholeBands is a height that a terminal that draws whole bands only does not
// exceed.
func wholeBands(h int) int {
	if h < sixelRows {
		return h
	}
	return h - h%sixelRows
}
