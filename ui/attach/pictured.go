package attach

import (
	"sync/atomic"

	"tandem/panes/kit/graphics"
	"tandem/ui/pictures"
)

// A pictureState tracks the pictures of the session's program. They pass unchanged as long
// as the terminal supports them. After the first unsupported one, all are converted.
type pictureState struct {
	kitty, sixel atomic.Bool // such pictures have arrived
	convert      atomic.Bool

	converter *pictures.Converter            // used by the main goroutine; nil if nothing is converted
	prologue  []byte                         // to write before the converter's output
	shape     atomic.Pointer[pictures.Shape] // the terminal's new properties, not applied yet; nil if there are none
}

// needsConversion records the arrival of pictures. It returns true once: when the terminal
// is found not to support them, and the session must be attached again.
func (r *run) needsConversion(kitty, sixel bool) bool {
	p := &r.pictures
	if kitty {
		p.kitty.Store(true)
	}
	if sixel {
		p.sixel.Store(true)
	}
	if !p.kitty.Load() && !p.sixel.Load() {
		return false
	}
	r.known.mu.Lock()
	knowsKitty, knowsSixel, known := r.known.term.SupportsPictures(r.Pictures)
	r.known.mu.Unlock()
	if !known || (knowsKitty || !p.kitty.Load()) && (knowsSixel || !p.sixel.Load()) {
		return false
	}
	return p.convert.CompareAndSwap(false, true)
}

// pictureShape returns the terminal's properties for pictures; ok is false if its size is
// unknown.
func (r *run) pictureShape() (s pictures.Shape, ok bool) {
	size := r.terminal.currentSize()
	term := r.known.snapshot(size)
	return pictures.Shape{Cols: size.Cols, Rows: size.Rows, On: term.PictureScreen(r.Pictures, true)}, size.Cols > 0 && size.Rows > 0
}

// deletePictures deletes all pictures drawn through kitty's protocol.
const deletePictures = "\x1b\\\x1b_Ga=d,d=A,q=2\x1b\\"

// restartConverter starts a new converter for a repainted screen, if pictures are
// converted.
func (r *run) restartConverter() {
	p := &r.pictures
	s, ok := r.pictureShape()
	if !ok || !p.convert.Load() {
		return
	}
	p.converter = pictures.New(&r.filter, s)
	if p.prologue = nil; s.On.Protocol == graphics.Kitty {
		p.prologue = append([]byte(deletePictures), r.terminal.forget...)
	}
}

// updateShape passes changed properties of the terminal to the converter.
func (r *run) updateShape() {
	if s, ok := r.pictureShape(); ok && r.pictures.convert.Load() {
		r.pictures.shape.Store(&s)
	}
}

// filterOutput filters a piece of output. fetch reports whether the screen must be fetched
// again.
func (r *run) filterOutput(p []byte) (out []byte, fetch bool) {
	c := r.pictures.converter
	if c == nil {
		out, left := r.filter.Pass(p)
		return out, left || r.needsConversion(r.filter.Kitty, r.filter.Sixel)
	}
	if s := r.pictures.shape.Swap(nil); s != nil {
		c.SetShape(*s)
	}
	out = append(r.pictures.prologue, c.ConvertOutput(p)...)
	r.pictures.prologue = nil
	r.terminal.setForget(c.AppendForget)
	return out, false
}
