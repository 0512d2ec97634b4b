package terminal

import (
	"bytes"
	"cmp"
	"errors"
	"image"
	"image/png"
	"slices"
	"time"

	"golang.org/x/image/draw"

	"tandem/engine/api"
	"tandem/engine/vt/graphics"
)

const (
	// pictureMost bounds a picture that is sent to a viewer, in bytes, and
	// pictureSide the sides of a larger one, in pixels.
	pictureMost = 8 << 20
	pictureSide = 1024
)

// A gallery knows which pictures one viewer holds.
type gallery struct {
	held  map[uint64]int // bytes by number
	order []uint64       // oldest first
	bytes int
	shows bool // a raw viewer was told of some on the screen
	busy  bool // some were not sent because of the unpacking limit
}

// lacking are the pictures that lines show and the viewer has not. Runs on the screen
// goroutine.
func (g *gallery) lacking(t Emulator, lines []api.NumberedLine) (lacks []*graphics.Picture) {
	asked := map[uint64]bool{}
	for i := range lines {
		for _, s := range lines[i].Line.Pictures {
			if _, held := g.held[s.Picture]; held || asked[s.Picture] {
				continue
			}
			asked[s.Picture] = true
			if p := t.Picture(s.Picture); p != nil {
				lacks = append(lacks, p)
			}
		}
	}
	return lacks
}

// pictured is what of a screen shows pictures.
type pictured struct {
	lines []api.NumberedLine
	lacks []*graphics.Picture
}

func (g *gallery) picturedOf(t Emulator) (p pictured) {
	_, first, end := t.Bounds()
	p.lines = slices.DeleteFunc(t.Lines(first, int(end-first)), func(l api.NumberedLine) bool { return len(l.Line.Pictures) == 0 })
	for i := range p.lines {
		p.lines[i].N -= first
	}
	p.lacks = g.lacking(t, p.lines)
	return p
}

// sendApart sends a raw viewer the pictures on the screen; nothing if there are none, as
// there were before.
func (g *gallery) sendApart(to stream, p pictured) error {
	if len(p.lines) == 0 && !g.shows {
		return nil
	}
	g.shows = len(p.lines) > 0
	if err := g.send(to, p.lacks); err != nil {
		return err
	}
	return to.Send(api.Output{Lines: append([]api.NumberedLine{}, p.lines...)})
}

// send sends pictures, newest first, except those over the unpacking limit. The viewer drops its
// oldest pictures when the gallery does.
func (g *gallery) send(to stream, pictures []*graphics.Picture) error {
	slices.SortFunc(pictures, func(a, b *graphics.Picture) int { return cmp.Compare(b.Number, a.Number) })
	for _, p := range pictures {
		text, err := sized(p)
		if errors.Is(err, graphics.ErrBusy) {
			g.busy = true
			continue
		}
		if err != nil { // damaged: no viewer shows it
			text = nil
		}
		if g.held == nil {
			g.held = map[uint64]int{}
		}
		g.held[p.Number] = len(text)
		g.order = append(g.order, p.Number)
		for g.bytes += len(text); g.bytes > api.PicturesHeld && len(g.order) > 1; g.order = g.order[1:] {
			g.bytes -= g.held[g.order[0]]
			delete(g.held, g.order[0])
		}
		if err := to.Send(api.Output{Picture: &api.Picture{Number: p.Number, Size: p.Size, PNG: text}}); err != nil {
			return err
		}
	}
	return nil
}

// pictureRetry is how long to wait before resending pictures that exceeded the unpacking limit.
const pictureRetry = time.Second

// retryPictures schedules a repaint if some pictures of the screen were not sent.
func (a attachment) retryPictures() {
	if !a.gallery.busy {
		return
	}
	a.gallery.busy = false
	v := a.viewer
	time.AfterFunc(pictureRetry, func() {
		v.repaint.Store(true)
		raise(v.dirty)
	})
}

// sized is a picture as it is, or smaller if it is very large.
func sized(p *graphics.Picture) ([]byte, error) {
	text, err := p.PNG()
	if err != nil || len(text) <= pictureMost {
		return text, err
	}
	img, err := p.Image()
	if err != nil {
		return nil, err
	}
	side := max(p.Size.X, p.Size.Y)
	small := image.NewRGBA(image.Rect(0, 0, max(p.Size.X*pictureSide/side, 1), max(p.Size.Y*pictureSide/side, 1)))
	draw.ApproxBiLinear.Scale(small, small.Rect, img, img.Bounds(), draw.Src, nil)
	var b bytes.Buffer
	err = png.Encode(&b, small)
	return b.Bytes(), err
}

// withoutPictures are lines for a viewer that has not asked for pictures.
func withoutPictures(lines []api.NumberedLine) {
	for i := range lines {
		lines[i].Line.Pictures = nil
	}
}
