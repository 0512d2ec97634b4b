package preview

import (
	"fmt"
	"image"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"tandem/panes/kit/graphics"
	"tandem/panes/kit/text"
)

// drawBlocks draws the image in rows of half blocks, with two pixels per cell. It returns nil if
// the terminal has too few colours.
func (p *picturePreview) drawBlocks(w, h, colors int, screen graphics.Screen) []string {
	key := encodeTarget{w, h, screen}
	if p.blocks == key && p.colors == colors {
		return p.rows
	}
	p.blocks, p.colors, p.rows = key, colors, nil
	if colors < 256 || w <= 0 || h <= 0 {
		return nil
	}
	blocksW, blocksH := blocksWithin(p.small.Bounds().Size(), w, 2*h, screen.Cell)
	small := graphics.Over(graphics.Shrink(p.small, blocksW, blocksH), screen.Backdrop)
	b := small.Bounds()
	for y := 0; y < b.Dy(); y += 2 {
		var row strings.Builder
		last := ""
		for x := range b.Dx() {
			sgr := "\x1b[0;" + p.pixelColor("38", small, x, y)
			if y+1 < b.Dy() {
				sgr += ";" + p.pixelColor("48", small, x, y+1)
			}
			if sgr += "m"; sgr != last {
				row.WriteString(sgr)
				last = sgr
			}
			row.WriteString("▀")
		}
		row.WriteString(text.SgrReset)
		p.rows = append(p.rows, row.String()+text.Spaces(w-b.Dx()))
	}
	return p.rows
}

// blocksWithin returns the size at which an image fits into w×h half blocks, in half blocks. A half
// block is as wide as a cell and half as high.
func blocksWithin(size image.Point, w, h int, cell image.Point) (int, int) {
	if cell.X <= 0 || cell.Y <= 0 {
		cell = image.Pt(1, 2)
	}
	if size.X <= 0 || size.Y <= 0 {
		return 0, 0
	}
	fitW, fitH := size.X*cell.Y, size.Y*2*cell.X // in units of half blocks
	w, h = min(w, size.X), min(h, size.Y)
	if fitW*h > fitH*w {
		return w, max(fitH*w/fitW, 1)
	}
	return max(fitW*h/fitH, 1), h
}

// pixelColor returns the SGR parameters for a pixel.
func (p *picturePreview) pixelColor(layer string, img *image.RGBA, x, y int) string {
	c := img.RGBAAt(x, y)
	if p.colors <= 256 {
		return fmt.Sprintf("%s;5;%d", layer, ansi.Convert256(c))
	}
	return fmt.Sprintf("%s;2;%d;%d;%d", layer, c.R, c.G, c.B)
}
