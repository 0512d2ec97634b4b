package terminal

import (
	"context"
	"image"

	"tandem/engine/api"
	"tandem/engine/vt"
	"tandem/keys"
)

// wheelLines is how many arrow keys a turn of the wheel is on an alternate
// screen that wants no mouse.
const wheelLines = 3

// receive does what the viewer asks for until its connection or ctx ends.
func (a attachment) receive(ctx context.Context) {
	for {
		in, err := a.to.Receive()
		if err != nil || a.accept(ctx, in) != nil {
			return
		}
	}
}

// accept does what one message asks for. Input that a session does not take,
// because it has ended or the viewer only reads, is dropped.
func (a attachment) accept(ctx context.Context, in api.Input) error {
	s, v := a.session, a.viewer
	switch {
	case in.Resize != nil:
		s.viewers.setSize(v, *in.Resize)
		s.DecideSize(ctx)
	case in.Display != nil:
		s.viewers.setDisplay(v, *in.Display)
		s.DecideSize(ctx)
		if v.direct && s.Modes().MouseEncoding == keys.MouseSGRPixels { // which may pass in another way now
			v.repaint.Store(true)
		}
		raise(v.dirty) // from now on it is told of the person's cursor
	case in.AskColors:
		v.asks.Store(true)
		raise(v.dirty)
	case in.Focus != nil:
		if s.keyboard.accepts(v) {
			s.focused(v, *in.Focus)
		}
	case in.Lines != nil:
		select {
		case v.lines <- *in.Lines:
		case <-ctx.Done():
		}
	case in.Mark != nil:
		v.marks.add(*in.Mark, func() { raise(v.dirty) })
	case in.Anchors != nil:
		s.viewers.setPlaces(v, in.Anchors)
	case in.Reset:
		if s.keyboard.accepts(v) {
			_ = s.onScreen(ctx, func(Emulator) { s.screen.resetModes() }) // fails only if the session has ended
		}
	case in.Hand != nil:
		return a.hand(*in.Hand)
	case in.Typed != nil:
		if s.keyboard.accepts(v) {
			a.typed(ctx)
			s.keyboard.noteTyped(v.as, in.Typed)
		}
	case s.keyboard.accepts(v):
		if asTyped(in) {
			v.eager.Store(true)
			a.typed(ctx)
		}
		s.keyboard.typeAs(ctx, v.as, encode(in, s.Modes(), s.screen.cell()), v.whenAccepted(in))
	default:
		v.noteAccepted(in)
	}
	return ctx.Err()
}

// whenAccepted returns what to call when the terminal has accepted in; nil if it is no text.
func (v *viewer) whenAccepted(in api.Input) func() {
	if in.Bytes == nil && in.Paste == nil {
		return nil
	}
	return func() { v.noteAccepted(in) }
}

// noteAccepted counts text that has left the engine.
func (v *viewer) noteAccepted(in api.Input) {
	n := len(in.Bytes)
	if in.Paste != nil {
		n += len(*in.Paste)
	}
	if n > 0 && v.progress {
		v.accepted.Add(int64(n))
		raise(v.dirty)
	}
}

// asTyped reports whether input shows that a person works in this viewer.
func asTyped(in api.Input) bool {
	return in.Bytes != nil || in.Key != nil || in.Paste != nil ||
		(in.Mouse != nil && in.Mouse.Kind == keys.MouseDown)
}

// typed makes the viewer decide the size, and notes what the program told as heard.
func (a attachment) typed(ctx context.Context) {
	news := a.session.viewers.typed(a.viewer)
	heard := a.session.facts.hear()
	if news {
		a.session.DecideSize(ctx)
	}
	if news || heard {
		a.session.facts.touch()
	}
}

// encode gives the bytes that input is for a program that has set these modes, on a
// terminal with cells of so many pixels.
func encode(in api.Input, m vt.Modes, cell image.Point) []byte {
	switch {
	case in.Bytes != nil:
		return in.Bytes
	case in.Key != nil:
		return keys.Encode(nil, *in.Key, m.Modes)
	case in.Paste != nil:
		return keys.EncodePaste(nil, *in.Paste, m.Modes)
	case in.Mouse != nil:
		e := *in.Mouse
		e.PixelX, e.PixelY = e.X*cell.X+cell.X/2, e.Y*cell.Y+cell.Y/2 // the middle, as nobody knows better
		return encodeMouse(e, m)
	}
	return nil
}

// encodeMouse encodes a mouse event; the wheel is arrow keys for a program on
// the alternate screen that asked for no mouse (mode 1007).
func encodeMouse(e keys.Mouse, m vt.Modes) []byte {
	arrow := map[keys.Button]keys.Code{keys.WheelUp: keys.Up, keys.WheelDown: keys.Down}[e.Button]
	if m.Mouse != keys.MouseOff || !m.Alt || !m.AlternateScroll || arrow == 0 {
		return keys.EncodeMouse(nil, e, m.Modes)
	}
	var out []byte
	for range wheelLines {
		out = keys.Encode(out, keys.Key{Code: arrow}, m.Modes)
	}
	return out
}
