package preview

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"io"
	"time"

	"tandem/panes/graphics"
	"tandem/panes/widget"
)

// Bounds of pictures that are shown: bytes of the file, pixels of the picture,
// how long they may take, and pixels a side of what is kept of them, for half
// blocks and for what is drawn with the terminal's own pixels.
const (
	mostPictureBytes = 64 << 20
	mostPixels       = 40 << 20
	longestPicture   = 20 * time.Second
	keptPixels       = 512
	keptExact        = 1920
)

// A picturePreview is a picture, made smaller.
type picturePreview struct {
	format        string
	width, height int // of the whole
	small         *image.RGBA
	large         *image.RGBA // nil until it is needed

	blocks exactFor // what rows are drawn for
	colors int
	rows   []string

	wanted exactFor // what exact is for
	exact  *graphics.Picture
	serial int // of exact
}

// exactFor is what a picture is encoded for.
type exactFor struct {
	w, h   int
	screen graphics.Screen
}

// picture reads a picture, if the file begins like one.
func (part *Part) picture(ctx context.Context, src Source, r Request, head []byte) bool {
	format := pictureFormatOf(head)
	if format.name == "" {
		what := otherPicture(head)
		if what != "" {
			part.tell(what, "cannot be shown here")
		}
		return what != ""
	}
	ctx, cancel := context.WithTimeout(ctx, longestPicture)
	defer cancel()
	file := io.NewSectionReader(&fileReader{ctx: ctx, src: src, path: r.path, size: part.size, piece: head}, 0, part.size)
	what := format.name + " picture"
	config, err := format.config(file)
	if err == nil {
		what = sizedPicture(format.name, uint32(config.Width), uint32(config.Height))
	}
	switch {
	case part.size > mostPictureBytes, err == nil && tooManyPixels(config):
		part.tell(what, "too large to show here")
		return true
	case err != nil:
		part.tell(what, faultOf(err))
		return true
	}
	whole, err := format.decode(file)
	if err != nil || whole.Bounds().Empty() {
		part.tell(what, faultOf(err))
		return true
	}
	part.kind, part.lexer = previewImage, ""
	part.image = shownPicture(whole, format.name, config, orientation(head, file), r.screen.Exact())
	return true
}

// shownPicture is what is kept of a picture.
func shownPicture(whole image.Image, format string, config image.Config, way int, exact bool) *picturePreview {
	p := &picturePreview{format: format, width: config.Width, height: config.Height, small: turned(shrinkTo(whole, keptPixels), way)}
	if sideways(way) {
		p.width, p.height = config.Height, config.Width
	}
	if exact {
		p.large = turned(shrinkTo(whole, keptExact), way)
	}
	return p
}

// tooManyPixels reports whether a picture takes more memory than is spent on
// one. Pixels of twice the usual depth count twice.
func tooManyPixels(c image.Config) bool {
	n := int64(c.Width) * int64(c.Height)
	if c.ColorModel == color.RGBA64Model || c.ColorModel == color.NRGBA64Model {
		n *= 2
	}
	return n > mostPixels
}

// shrinkTo makes a picture fit into a square.
func shrinkTo(src image.Image, side int) *image.RGBA {
	w, h := graphics.Within(src.Bounds().Dx(), src.Bounds().Dy(), side, side)
	return graphics.Shrink(src, w, h)
}

// encode makes a picture what the terminal takes, reading it again where too
// little of it is at hand.
func (part *Part) encode(ctx context.Context, src Source, r Request) {
	part.large = r.large
	if part.large == nil {
		data, _, err := src.ReadAt(ctx, r.path, 0, previewHead)
		again := Part{content: content{size: r.size}}
		if err != nil || !again.picture(ctx, src, r, data) || again.image == nil {
			return
		}
		part.large = again.image.large
	}
	if ctx.Err() == nil {
		part.exact, _ = graphics.Encode(part.large, r.screen, r.w, r.h) // without it half blocks stay
	}
}

// wantsExact reports whether the picture is to be encoded for what is seen now.
func (p *Preview) wantsExact() bool {
	return p.kind == previewImage && p.image != nil && p.Screen.Exact() && p.w > 0 && p.image.wanted != exactFor{p.w, p.h, p.Screen}
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

// Picture is what the terminal has to draw over the cells that Draw gave last,
// in their upper left corner; nil for nothing.
func (p *Preview) Picture() *graphics.Picture { return p.drawn }

// drawPicture gives the rows of a picture: empty ones where the terminal draws
// it, half blocks elsewhere.
func (p *Preview) drawPicture(w, h int, look *widget.Look) []string {
	img := p.image
	switch {
	case p.Screen.Protocol == graphics.Off:
		return []string{look.Dim.Text(widget.Fit(" a picture; pictures are switched off", w))}
	case img.exact != nil && !p.Covered && img.wanted == exactFor{w, h, p.Screen}:
		p.drawn = img.exact
		return img.room(w, h)
	}
	if rows := img.draw(w, h, p.Colors, p.Screen); rows != nil {
		return rows
	}
	return []string{look.Dim.Text(widget.Fit(" a picture; this terminal has too few colours to show it", w))}
}

// room is the empty cells below what the terminal draws. They are concealed and
// have a colour of their own, so that they are cells like no others: what comes
// after the picture is written anew there, whatever it is. They go on beside it,
// so that no row ends in plain blanks, which renderers may write along with what
// is before them.
func (p *picturePreview) room(w, h int) []string {
	n := p.serial
	ink := fmt.Sprintf("\x1b[0;8;38;2;%d;%d;%dm", n>>16&0xff, n>>8&0xff, n&0xff)
	row := ink + widget.Spaces(w) + widget.SgrReset
	rows := make([]string, min(p.exact.Rows, h))
	for i := range rows {
		rows[i] = row
	}
	return rows
}
