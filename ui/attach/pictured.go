package attach

import (
	"sync/atomic"

	"tandem/panes/graphics"
	"tandem/ui/pictures"
)

// pictured is what a run knows of the pictures of its program. As long as the terminal knows
// those that have come, they pass as they are; from the first that it does not know on, all
// are converted.
type pictured struct {
	kitty, sixel atomic.Bool // have come
	convert      atomic.Bool

	converter *pictures.Converter            // of the main goroutine; nil if nothing is converted
	before    []byte                         // to be written before what it gives
	shape     atomic.Pointer[pictures.Shape] // of the terminal, to be taken over; nil if it is
}

// lacks takes in which pictures have come. It reports whether the terminal does not know
// them, the first time that this is so: the session is to be attached again.
func (r *run) lacks(kitty, sixel bool) bool {
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
	r.told.mu.Lock()
	knowsKitty, knowsSixel, known := r.told.term.Knows(r.Pictures)
	r.told.mu.Unlock()
	if !known || (knowsKitty || !p.kitty.Load()) && (knowsSixel || !p.sixel.Load()) {
		return false
	}
	return p.convert.CompareAndSwap(false, true)
}

// shape is what the terminal is like for pictures; ok is false if its size is unknown.
func (r *run) shape() (s pictures.Shape, ok bool) {
	size := r.terminal.size()
	term := r.told.now(size)
	return pictures.Shape{Cols: size.Cols, Rows: size.Rows, On: term.Pictures(r.Pictures, true)}, size.Cols > 0 && size.Rows > 0
}

// forgetAll takes off the terminal what has passed by kitty's protocol.
const forgetAll = "\x1b\\\x1b_Ga=d,d=A,q=2\x1b\\"

// convert begins anew with a screen that is painted, if pictures are converted.
func (r *run) convert() {
	p := &r.pictures
	s, ok := r.shape()
	if !ok || !p.convert.Load() {
		return
	}
	p.converter = pictures.New(&r.filter, s)
	if p.before = nil; s.On.Protocol == graphics.Kitty {
		p.before = append([]byte(forgetAll), r.terminal.forget...)
	}
}

// reshape has the pictures drawn for what the terminal is like now.
func (r *run) reshape() {
	if s, ok := r.shape(); ok && r.pictures.convert.Load() {
		r.pictures.shape.Store(&s)
	}
}

// pass gives what is written of a piece of output; fetch is whether the screen is to be
// fetched again.
func (r *run) pass(p []byte) (out []byte, fetch bool) {
	c := r.pictures.converter
	if c == nil {
		out, left := r.filter.Pass(p)
		return out, left || r.lacks(r.filter.Kitty, r.filter.Sixel)
	}
	if s := r.pictures.shape.Swap(nil); s != nil {
		c.Fit(*s)
	}
	out = append(r.pictures.before, c.Pass(p)...)
	r.pictures.before = nil
	r.terminal.forgets(c.AppendForget)
	return out, false
}
