package graphics

import (
	"bytes"
	"image"
	"image/png"
	"sync"

	"golang.org/x/image/draw"

	"tandem/engine/screen/styled"
)

// A Source is a picture printed by a session's program. It is immutable.
type Source struct {
	Size image.Point // unit of the placements' pixels
	PNG  []byte
}

// A Sheet is a picture in the place where a program has put it. It consists of whole cells, of
// which the picture may cover some only partly. It is safe for concurrent use.
type Sheet struct {
	Source *Source
	At     styled.Placement

	mu     sync.Mutex
	blocks *image.RGBA // two pixels per cell; nil until needed
}

// A Patch is a part of a sheet on the screen.
type Patch struct {
	Sheet *Sheet
	Cells image.Rectangle // of the sheet
	X, Y  int             // position of the first one
}

// bounds returns the cells of the screen covered by the patch.
func (p Patch) bounds() image.Rectangle {
	return image.Rectangle{Max: p.Cells.Size()}.Add(image.Pt(p.X, p.Y))
}

// AddRow adds a patch of one row. If it continues the patch above it, that patch is extended.
func AddRow(all []Patch, row Patch) []Patch {
	for i := range all {
		p := &all[i]
		if p.Sheet == row.Sheet && p.X == row.X && p.Cells.Dx() == row.Cells.Dx() && p.Cells.Min.X == row.Cells.Min.X &&
			p.Cells.Max.Y == row.Cells.Min.Y && p.Y+p.Cells.Dy() == row.Y {
			p.Cells.Max.Y++
			return all
		}
	}
	return append(all, row)
}

// CrossesRow reports whether the patch covers a row of the screen.
func (p Patch) CrossesRow(y int) bool { b := p.bounds(); return y >= b.Min.Y && y < b.Max.Y }

// IsBelowText reports whether text is drawn over the picture.
func (s *Sheet) IsBelowText() bool { return s.At.Z < 0 }

// drawPixels draws the whole sheet with w×h pixels per cell. It returns nil if the picture is
// damaged.
func (s *Sheet) drawPixels(w, h int) *image.RGBA {
	src, err := png.Decode(bytes.NewReader(s.Source.PNG))
	if err != nil {
		return nil
	}
	out := image.NewRGBA(image.Rect(0, 0, s.At.Cols*w, s.At.Rows*h))
	box, cell, from := s.At.Box, s.At.Cell, s.At.Source
	to := image.Rect(box.Min.X*w/cell.X, box.Min.Y*h/cell.Y, (box.Max.X*w+cell.X-1)/cell.X, (box.Max.Y*h+cell.Y-1)/cell.Y)
	size, has := s.Source.Size, src.Bounds()
	from = image.Rect(from.Min.X*has.Dx()/size.X, from.Min.Y*has.Dy()/size.Y, from.Max.X*has.Dx()/size.X, from.Max.Y*has.Dy()/size.Y).Add(has.Min)
	// Fast path: copy without scaling.
	if from.Size() == to.Size() {
		draw.Draw(out, to, src, from.Min, draw.Src)
	} else {
		draw.BiLinear.Scale(out, to, src, from, draw.Src, nil)
	}
	return out
}

// fitCell returns the size of a cell, scaled down so that the whole sheet has at most maxTotal
// pixels.
func (s *Sheet) fitCell(cell image.Point, maxTotal int) (w, h int) {
	for scale := 1.0; ; scale *= shrinkFactor {
		w, h = scaleSide(cell.X, scale), scaleSide(cell.Y, scale)
		if w*h*s.At.Cols*s.At.Rows <= maxTotal || w*h == 1 {
			return w, h
		}
	}
}

// BlockColors returns the colors of the upper and lower half of a cell; ok is false if it is
// transparent.
func (s *Sheet) BlockColors(x, y int, screen Screen) (upper, lower styled.Color, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blocks == nil {
		if s.blocks = s.drawPixels(1, 2); s.blocks == nil {
			s.blocks = image.NewRGBA(image.Rectangle{})
		}
	}
	up, low := s.blocks.RGBAAt(x, 2*y), s.blocks.RGBAAt(x, 2*y+1)
	if up.A < 128 && low.A < 128 {
		return 0, 0, false
	}
	over := func(c, backdrop, alpha uint8) styled.Color {
		return styled.Color(c) + styled.Color(uint32(backdrop)*uint32(255-alpha)/255)
	}
	on := func(r, g, b, a uint8) styled.Color {
		backdrop := screen.Backdrop
		return styled.ColorRGB | min(over(r, backdrop.R, a), 255)<<16 | min(over(g, backdrop.G, a), 255)<<8 | min(over(b, backdrop.B, a), 255)
	}
	return on(up.R, up.G, up.B, up.A), on(low.R, low.G, low.B, low.A), true
}

// EncodeKitty returns the sheet as a PNG, and the size of one cell in pixels. If the picture fills
// its cells exactly, it returns the program's own PNG.
func (s *Sheet) EncodeKitty(screen Screen) (text []byte, w, h int) {
	cols, rows, size := s.At.Cols, s.At.Rows, s.Source.Size
	full := image.Rect(0, 0, cols*s.At.Cell.X, rows*s.At.Cell.Y)
	config, err := png.DecodeConfig(bytes.NewReader(s.Source.PNG))
	if err != nil {
		return nil, 0, 0
	}
	if s.At.Box == full && s.At.Source == (image.Rectangle{Max: size}) && size == image.Pt(config.Width, config.Height) && size.X%cols == 0 && size.Y%rows == 0 {
		return s.Source.PNG, size.X / cols, size.Y / rows
	}
	w, h = s.fitCell(screen.cellSize(), maxKittyPixels)
	img := s.drawPixels(w, h)
	if img == nil {
		return nil, 0, 0
	}
	if text, err = encodePNG(img); err != nil {
		return nil, 0, 0
	}
	return text, w, h
}

// EncodeSixel returns a part of the sheet as a sixel sequence; nil if the picture is damaged or too
// large.
func (s *Sheet) EncodeSixel(cells image.Rectangle, screen Screen) []byte {
	cell := screen.cellSize()
	// Limit the size, which a program chooses, so that it cannot make the dashboard allocate any
	// amount of memory.
	if s.At.Cols*cell.X*s.At.Rows*cell.Y > 4*MaxPixels {
		return nil
	}
	img := s.drawPixels(cell.X, cell.Y)
	if img == nil {
		return nil
	}
	r := image.Rect(cells.Min.X*cell.X, cells.Min.Y*cell.Y, cells.Max.X*cell.X, cells.Max.Y*cell.Y)
	r.Max.Y = r.Min.Y + wholeBands(r.Dy())
	part, _ := img.SubImage(r).(*image.RGBA)
	return AppendSixel(nil, Over(part, screen.Backdrop))
}

// MaxPixels limits how many pixels of a sheet are drawn at once.
const MaxPixels = 4 << 20
