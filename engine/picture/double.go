package picture

import (
	"fmt"
	"image"
	"image/draw"
	"strings"

	"tandem/engine/styled"
)

// size is how large the characters of a row are.
func (s *Screen) size(y int) styled.LineSize {
	if y < 0 || y >= len(s.Lines) {
		return styled.SingleSize
	}
	return s.Lines[y].Size
}

// half is the part of a screen that a row of double size shows: its first half,
// as a screen of one row with its own cursor.
func (s *Screen) half(y int) Screen {
	h := *s
	h.Cols, h.Rows, h.Lines = s.Cols/2, 1, s.Lines[y:y+1]
	h.Cursor.Y -= y
	return h
}

// double draws a row of double size with the cursor on it. It draws it twice as
// wide and as high, and takes of that what the row shows: all of it, pressed
// flat, or its upper or lower half.
func (c *canvas) double(s *Screen, y, margin int) error {
	if c.large == nil {
		var err error
		if c.large, err = newGlyphSet(2 * c.thin); err != nil {
			return err
		}
	}
	h := s.half(y)
	big := &canvas{img: image.NewRGBA(image.Rect(0, 0, h.Cols*2*c.w, 2*c.h)), w: 2 * c.w, h: 2 * c.h, thin: 2 * c.thin}
	big.fill(0, 0, h.Cols*big.w, big.h, rgb(s.Palette.Background))
	big.line(&h, h.Lines[0], 0, 0, c.large, newPrinter(&h, big.w, big.h))
	big.cursor(&h, 0, c.large)
	from := image.Point{}
	switch s.size(y) {
	case styled.DoubleWidth:
		big.flatten()
	case styled.DoubleBottom:
		from.Y = c.h
	}
	to := image.Rect(margin, margin+y*c.h, margin+h.Cols*2*c.w, margin+(y+1)*c.h)
	draw.Draw(c.img, to, big.img, from, draw.Src)
	return nil
}

// flatten presses an image into its upper half: each row becomes the mean of two.
func (c *canvas) flatten() {
	stride := c.img.Stride
	for y := range c.img.Rect.Dy() / 2 {
		into, two := c.img.Pix[y*stride:(y+1)*stride], c.img.Pix[2*y*stride:(2*y+2)*stride]
		for i := range into {
			into[i] = uint8((int(two[i]) + int(two[stride+i])) / 2)
		}
	}
}

// writeDouble writes a row of double size with the cursor on it: a picture of
// its own that is stretched into the row.
func (s *Screen) writeDouble(b *strings.Builder, y int) {
	h := s.half(y)
	if h.Cols == 0 {
		return
	}
	w, top, height := h.Cols*cellWidth, 0, cellHeight
	switch s.size(y) {
	case styled.DoubleTop:
		height /= 2
	case styled.DoubleBottom:
		top, height = cellHeight/2, cellHeight/2
	}
	fmt.Fprintf(b, `<svg x="%d" y="%d" width="%d" height="%d" viewBox="%d %d %d %d" preserveAspectRatio="none">`+"\n",
		padding, padding+y*cellHeight, 2*w, cellHeight, padding, padding+top, w, height)
	h.writeLine(b, 0)
	h.writeCursor(b)
	b.WriteString("</svg>\n")
}
