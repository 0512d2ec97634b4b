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
	"tandem/engine/screen/picture"
	"tandem/engine/screen/vt/graphics"
)

const (
	// maxPicture is the maximum size of a picture sent to a viewer, in bytes. A larger one is
	// scaled down, so that its sides are at most maxPictureSide pixels.
	maxPicture     = 8 << 20
	maxPictureSide = 1024
)

// A pictureCounter counts the changes of pictures, and the memory that they use.
type pictureCounter interface {
	PictureChanges() graphics.Changes
	PictureUsage() *graphics.Usage
}

// A gallery tracks the pictures held by one viewer.
type gallery struct {
	held  map[uint64]int // bytes by number
	order []uint64       // oldest first
	bytes int
	shows bool // a raw viewer was sent some of the screen's
	busy  bool // some were not sent because of the unpacking limit
}

// missing returns the pictures in lines that the viewer does not have. The screen
// must be locked.
func (g *gallery) missing(t picture.Terminal, lines []api.NumberedLine) (lacks []*graphics.Picture) {
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

// pictured is the part of a screen with pictures.
type pictured struct {
	lines []api.NumberedLine
	lacks []*graphics.Picture
}

func (g *gallery) picturedOf(t picture.Terminal) (p pictured) {
	_, first, end := t.Bounds()
	p.lines = slices.DeleteFunc(t.Lines(first, int(end-first)), func(l api.NumberedLine) bool { return len(l.Line.Pictures) == 0 })
	for i := range p.lines {
		p.lines[i].N -= first
	}
	p.lacks = g.missing(t, p.lines)
	return p
}

// sendApart sends a raw viewer the pictures on the screen. If there are none, it sends nothing,
// unless there were some before.
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

// send sends pictures, the newest first. It leaves out pictures that cannot be unpacked now because
// too many are being unpacked. The viewer drops its oldest pictures when the gallery does.
func (g *gallery) send(to stream, pictures []*graphics.Picture) error {
	slices.SortFunc(pictures, func(a, b *graphics.Picture) int { return cmp.Compare(b.Number, a.Number) })
	for _, p := range pictures {
		text, err := shrinkPicture(p)
		if errors.Is(err, graphics.ErrBusy) {
			g.busy = true
			continue
		}
		// The picture is damaged, and no viewer could show it.
		if err != nil {
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

// pictureRetry is the delay before pictures that could not be unpacked are sent again.
const pictureRetry = time.Second

// retryPictures schedules a repaint if some pictures on the screen were not sent.
func (a attachment) retryPictures() {
	if !a.gallery.busy {
		return
	}
	a.gallery.busy = false
	v := a.viewer
	time.AfterFunc(pictureRetry, func() {
		v.repaint.Store(true)
		raiseFlag(v.dirty)
	})
}

// shrinkPicture returns the bytes of a picture. A very large one is scaled down.
func shrinkPicture(p *graphics.Picture) ([]byte, error) {
	text, err := p.PNG()
	if err != nil || len(text) <= maxPicture {
		return text, err
	}
	img, err := p.Image()
	if err != nil {
		return nil, err
	}
	side := max(p.Size.X, p.Size.Y)
	small := image.NewRGBA(image.Rect(0, 0, max(p.Size.X*maxPictureSide/side, 1), max(p.Size.Y*maxPictureSide/side, 1)))
	draw.ApproxBiLinear.Scale(small, small.Rect, img, img.Bounds(), draw.Src, nil)
	var b bytes.Buffer
	err = png.Encode(&b, small)
	return b.Bytes(), err
}

// withoutPictures removes the pictures from lines.
func withoutPictures(lines []api.NumberedLine) {
	for i := range lines {
		lines[i].Line.Pictures = nil
	}
}
