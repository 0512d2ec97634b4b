package panes

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/gif"  // format
	_ "image/jpeg" // format
	_ "image/png"  // format
	"net/http"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Bounds of pictures that are shown: bytes of the file, pixels of the picture,
// and pixels a side of what is kept of it.
const (
	mostPictureBytes = 16 << 20
	mostPixels       = 40 << 20
	keptPixels       = 512
)

// A picturePreview is a picture, made smaller.
type picturePreview struct {
	format        string
	width, height int // of the whole
	small         *image.RGBA

	w, h, colors int // what rows are drawn for
	rows         []string
}

// picture reads a picture, if the file begins like one that can be shown.
func (part *PreviewPart) picture(ctx context.Context, src FileSource, r PreviewRequest, head []byte) bool {
	if !strings.HasPrefix(http.DetectContentType(head), "image/") {
		return false
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(head))
	if err != nil && int64(len(head)) == part.size || part.size > mostPictureBytes {
		return false
	}
	if err == nil && config.Width*config.Height > mostPixels {
		part.tell(fmt.Sprintf("%s picture, %d×%d", format, config.Width, config.Height), "too large to be shown here")
		return true
	}
	data, ok := readAll(ctx, src, r.path, head, part.size)
	if !ok {
		return false
	}
	config, format, err = image.DecodeConfig(bytes.NewReader(data))
	if err != nil || config.Width <= 0 || config.Height <= 0 || config.Width*config.Height > mostPixels {
		return false
	}
	whole, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return false
	}
	part.kind, part.lexer = previewImage, ""
	part.image = &picturePreview{format: format, width: config.Width, height: config.Height, small: shrink(whole, keptPixels, keptPixels)}
	return true
}

// readAll reads the rest of a file.
func readAll(ctx context.Context, src FileSource, path string, head []byte, size int64) ([]byte, bool) {
	data := bytes.Clone(head)
	for int64(len(data)) < size {
		more, _, err := src.ReadAt(ctx, path, int64(len(data)), min(size-int64(len(data)), 4<<20))
		if err != nil || len(more) == 0 {
			return nil, false
		}
		data = append(data, more...)
	}
	return data, true
}

// shrink makes a picture fit into w×h pixels; each is the mean of those that it
// stands for. A picture that fits stays as it is.
func shrink(src image.Image, w, h int) *image.RGBA {
	b := src.Bounds()
	w, h = within(b.Dx(), b.Dy(), w, h)
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		y0, y1 := b.Min.Y+y*b.Dy()/h, b.Min.Y+max((y+1)*b.Dy()/h, y*b.Dy()/h+1)
		for x := range w {
			x0, x1 := b.Min.X+x*b.Dx()/w, b.Min.X+max((x+1)*b.Dx()/w, x*b.Dx()/w+1)
			mean(out.Pix[out.PixOffset(x, y):], src, x0, y0, x1, y1)
		}
	}
	return out
}

// within are sides in the proportion of w and h that fit, at least 1 each.
func within(w, h, mostW, mostH int) (int, int) {
	if w <= mostW && h <= mostH {
		return w, h
	}
	if w*mostH > h*mostW {
		return mostW, max(h*mostW/w, 1)
	}
	return max(w*mostH/h, 1), mostH
}

// samples is how many pixels a side are looked at for a mean.
const samples = 8

func mean(pix []uint8, src image.Image, x0, y0, x1, y1 int) {
	var r, g, b, a, n uint64
	stepX, stepY := max((x1-x0)/samples, 1), max((y1-y0)/samples, 1)
	for y := y0; y < y1; y += stepY {
		for x := x0; x < x1; x += stepX {
			cr, cg, cb, ca := src.At(x, y).RGBA()
			r, g, b, a, n = r+uint64(cr), g+uint64(cg), b+uint64(cb), a+uint64(ca), n+1
		}
	}
	pix[0], pix[1], pix[2], pix[3] = uint8(r/n>>8), uint8(g/n>>8), uint8(b/n>>8), uint8(a/n>>8)
}

// draw gives rows of half blocks, two pixels a cell, and nothing where the
// terminal has no colours for it.
func (p *picturePreview) draw(w, h, colors int) []string {
	if p.w == w && p.h == h && p.colors == colors {
		return p.rows
	}
	p.w, p.h, p.colors, p.rows = w, h, colors, nil
	if colors < 256 || w <= 0 || h <= 0 {
		return nil
	}
	small := shrink(p.small, w, h*2)
	b := small.Bounds()
	for y := 0; y < b.Dy(); y += 2 {
		var row strings.Builder
		last := ""
		for x := range b.Dx() {
			sgr := "\x1b[0;" + p.color("38", small, x, y)
			glyph := "▀"
			if y+1 < b.Dy() {
				sgr += ";" + p.color("48", small, x, y+1)
			}
			if sgr += "m"; sgr != last {
				row.WriteString(sgr)
				last = sgr
			}
			row.WriteString(glyph)
		}
		row.WriteString(sgrReset)
		p.rows = append(p.rows, row.String()+Spaces(w-b.Dx()))
	}
	return p.rows
}

// color is a pixel as parameters of SGR; what can be seen through is dark.
func (p *picturePreview) color(layer string, img *image.RGBA, x, y int) string {
	c := img.RGBAAt(x, y)
	if p.colors <= 256 {
		return fmt.Sprintf("%s;5;%d", layer, ansi.Convert256(c))
	}
	return fmt.Sprintf("%s;2;%d;%d;%d", layer, c.R, c.G, c.B)
}
