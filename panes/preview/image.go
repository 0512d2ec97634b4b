package preview

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"io"
	"time"

	"tandem/panes/kit/graphics"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// Limits for images: the bytes of the file, the pixels of the image, the time for decoding, and the
// pixels per side of the copies kept, for half blocks and for a terminal that draws pixels.
const (
	mostPictureBytes = 64 << 20
	mostPixels       = 40 << 20
	longestPicture   = 20 * time.Second
	keptPixels       = 512
	keptExact        = 1920
)

// A picturePreview is a downscaled image.
type picturePreview struct {
	format        string
	width, height int // of the original
	small         *image.RGBA
	large         *image.RGBA // nil until needed

	blocks encodeTarget // target of the cached rows
	colors int
	rows   []string

	wanted encodeTarget // target of exact
	exact  *graphics.Picture
	serial int // version of exact
}

// encodeTarget is the target of an encoded image.
type encodeTarget struct {
	w, h   int
	screen graphics.Screen
}

// decodePicture decodes an image. It returns false if the file is not an image.
func (part *Part) decodePicture(ctx context.Context, src Source, r Request, head []byte) bool {
	format := pictureFormatOf(head)
	if format.name == "" {
		what := describeOther(head)
		if what != "" {
			part.showMessage(what, "cannot be shown here")
		}
		return what != ""
	}
	ctx, cancel := context.WithTimeout(ctx, longestPicture)
	defer cancel()
	file := io.NewSectionReader(&fileReader{ctx: ctx, src: src, path: r.path, size: part.size, piece: head}, 0, part.size)
	what := format.name + " picture"
	config, err := format.config(file)
	if err == nil {
		what = describeSized(format.name, uint32(config.Width), uint32(config.Height))
	}
	switch {
	case part.size > mostPictureBytes, err == nil && tooManyPixels(config):
		part.showMessage(what, "too large to show here")
		return true
	case err != nil:
		part.showMessage(what, describeFault(err))
		return true
	}
	whole, err := format.decode(file)
	if err != nil || whole.Bounds().Empty() {
		part.showMessage(what, describeFault(err))
		return true
	}
	part.kind, part.lexer = previewImage, ""
	part.image = newPicturePreview(whole, format.name, config, readOrientation(head, file), r.screen.Exact())
	return true
}

// newPicturePreview returns what is kept of a decoded image: its description and smaller copies.
func newPicturePreview(whole image.Image, format string, config image.Config, way int, exact bool) *picturePreview {
	p := &picturePreview{format: format, width: config.Width, height: config.Height, small: rotate(shrinkTo(whole, keptPixels), way)}
	// The heading shows the size after rotation.
	if swapsSides(way) {
		p.width, p.height = config.Height, config.Width
	}
	if exact {
		// The large image takes memory, so keep it only for terminals that draw pixels.
		p.large = rotate(shrinkTo(whole, keptExact), way)
	}
	return p
}

// tooManyPixels reports whether decoding an image would take too much memory. A pixel with 16 bits
// per channel counts as two.
func tooManyPixels(c image.Config) bool {
	n := int64(c.Width) * int64(c.Height)
	if c.ColorModel == color.RGBA64Model || c.ColorModel == color.NRGBA64Model {
		n *= 2
	}
	return n > mostPixels
}

// shrinkTo scales an image down to fit into a square with sides of side pixels.
func shrinkTo(src image.Image, side int) *image.RGBA {
	w, h := graphics.Within(src.Bounds().Dx(), src.Bounds().Dy(), side, side)
	return graphics.Shrink(src, w, h)
}

// encode encodes an image for the terminal, decoding the file again if the kept image is too small.
func (part *Part) encode(ctx context.Context, src Source, r Request) {
	part.large = r.large
	if part.large == nil {
		data, _, err := src.ReadAt(ctx, r.path, 0, previewHead)
		again := Part{content: content{size: r.size}}
		if err != nil || !again.decodePicture(ctx, src, r, data) || again.image == nil {
			return
		}
		part.large = again.image.large
	}
	// Encoding is slow, and the result of a cancelled request is dropped anyway.
	if ctx.Err() == nil {
		part.exact, _ = graphics.Encode(part.large, r.screen, r.w, r.h) // on failure half blocks remain
	}
}

// wantsExact reports whether the image must still be encoded for the terminal at the current size.
func (p *Preview) wantsExact() bool {
	return p.kind == previewImage && p.image != nil && p.Screen.Exact() && p.w > 0 && p.image.wanted != encodeTarget{p.w, p.h, p.Screen}
}

func (p *Preview) takeExact(part Part) {
	if p.image == nil {
		return
	}
	p.image.wanted, p.image.exact, p.image.serial = part.wanted, part.exact, part.n
	if part.large != nil {
		p.image.large = part.large
	}
}

// Picture returns the image that the terminal must draw over the rows of the last Draw, at their
// top left; nil if there is none.
func (p *Preview) Picture() *graphics.Picture { return p.drawn }

// drawPicture returns the rows of an image. If the terminal draws the image itself, they are empty;
// otherwise they consist of half blocks.
func (p *Preview) drawPicture(w, h int, look *look.Look) []string {
	img := p.image
	switch {
	case p.Screen.Protocol == graphics.Off:
		return []string{look.Dim.Text(text.Fit(" a picture; pictures are switched off", w))}
	case img.exact != nil && !p.Covered && img.wanted == encodeTarget{w, h, p.Screen}:
		p.drawn = img.exact
		return img.emptyRows(w, h)
	}
	if rows := img.drawBlocks(w, h, p.Colors, p.Screen); rows != nil {
		return rows
	}
	return []string{look.Dim.Text(text.Fit(" a picture; this terminal has too few colours to show it", w))}
}

// emptyRows returns the rows over which the terminal draws an image. Their cells are concealed and
// have a colour that is unique to the image, so that the renderer rewrites them when the image
// goes. The cells extend beyond the image, so that no row ends in plain blanks, which renderers may
// merge with neighbouring text.
func (p *picturePreview) emptyRows(w, h int) []string {
	n := p.serial
	ink := fmt.Sprintf("\x1b[0;8;38;2;%d;%d;%dm", n>>16&0xff, n>>8&0xff, n&0xff)
	row := ink + text.Spaces(w) + text.SgrReset
	rows := make([]string, min(p.exact.Rows, h))
	for i := range rows {
		rows[i] = row
	}
	return rows
}
