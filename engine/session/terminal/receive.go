package terminal

import (
	"context"
	"errors"
	"image"

	"tandem/engine/api"
	"tandem/engine/screen/vt"
	"tandem/keys"
)

// wheelLines is how many arrow keys one turn of the mouse wheel sends, on an alternate screen
// without mouse reporting.
const wheelLines = 3

// receiveInput handles the viewer's messages until its connection or ctx ends.
func (a attachment) receiveInput(ctx context.Context) {
	for {
		in, err := a.to.Receive()
		if err != nil || a.handleInput(ctx, in) != nil {
			return
		}
	}
}

// handleInput handles one message. Input is dropped if the session has ended or the viewer is
// read-only.
func (a attachment) handleInput(ctx context.Context, in api.Input) error {
	s, v := a.session, a.viewer
	typed := (in.Bytes != nil || in.Key != nil || in.Mouse != nil || in.Paste != nil) && s.keyboard.acceptsFrom(v)
	if in.Numbered() && !typed && errors.Is(s.keyboard.skip(v), errReplaced) {
		return errReplaced
	}
	switch {
	case in.Resize != nil:
		s.viewers.setSize(v, *in.Resize)
		s.DecideSize(ctx)
	case in.Display != nil:
		s.viewers.setDisplay(v, *in.Display)
		s.DecideSize(ctx)
		// The mode may pass differently now.
		if v.options.Direct && s.Modes().MouseEncoding == keys.MouseSGRPixels {
			v.repaint.Store(true)
		}
		// It is now told of the user's cursor.
		raiseFlag(v.dirty)
	case in.AskColors:
		v.queryColors.Store(true)
		raiseFlag(v.dirty)
	case in.Focus != nil:
		if s.keyboard.acceptsFrom(v) {
			s.noteFocus(v, *in.Focus)
		}
	case in.Lines != nil:
		select {
		case v.lines <- *in.Lines:
		case <-ctx.Done():
		}
	case in.Mark != nil:
		v.marks.addMark(*in.Mark, func() { raiseFlag(v.dirty) })
	case in.Anchors != nil:
		s.viewers.setPlaces(v, in.Anchors)
	case in.Reset:
		if s.keyboard.acceptsFrom(v) {
			// Fails only if the session has ended.
			_ = s.onScreen(ctx, func(Emulator) { s.screen.resetModes() })
		}
	case in.Hand != nil:
		return a.acceptHandover(*in.Hand)
	case in.Typed != nil:
		if s.keyboard.acceptsFrom(v) {
			a.noteDirectInput(ctx, in.Typed)
		}
	case in.Master:
		if v.options.Master {
			a.askMaster()
		}
	case typed:
		if isUserInput(in) {
			v.eager.Store(true)
			a.noteUserInput(ctx)
		}
		if err := s.keyboard.typeAs(ctx, v.as, encodeInput(in, s.Modes(), s.screen.cell()), v); errors.Is(err, errReplaced) {
			return err
		}
	}
	return ctx.Err()
}

// isUserInput reports whether input shows that the user is active in this viewer.
func isUserInput(in api.Input) bool {
	return in.Bytes != nil || in.Key != nil || in.Paste != nil ||
		(in.Mouse != nil && in.Mouse.Kind == keys.MouseDown)
}

// noteDirectInput records input written to the PTY by the viewer itself. If another client has
// typed since, that one stays the last typist.
func (a attachment) noteDirectInput(ctx context.Context, p []byte) {
	v, k := a.viewer, a.session.keyboard
	if v.options.Master && !v.loan.held.Load() {
		k.noteInput(p)
		return
	}
	v.loan.echoes.Store(maxEchoes)
	a.noteUserInput(ctx)
	k.noteTyped(v.as, p)
}

// noteUserInput lets this viewer decide the size from now on, and clears the program's notices.
func (a attachment) noteUserInput(ctx context.Context) {
	news := a.session.viewers.noteTyping(a.viewer)
	heard := a.session.facts.clearNotices()
	if news {
		a.session.DecideSize(ctx)
	}
	if news || heard {
		a.session.facts.touch()
	}
}

// encodeInput returns the bytes that a program in these modes expects for the input. cell is the
// size of a cell in pixels.
func encodeInput(in api.Input, m vt.Modes, cell image.Point) []byte {
	switch {
	case in.Bytes != nil:
		return in.Bytes
	case in.Key != nil:
		return keys.Encode(nil, *in.Key, m.Modes)
	case in.Paste != nil:
		return keys.EncodePaste(nil, *in.Paste, m.Modes)
	case in.Mouse != nil:
		e := *in.Mouse
		// Report the middle of the cell, because the exact position is unknown.
		e.PixelX, e.PixelY = e.X*cell.X+cell.X/2, e.Y*cell.Y+cell.Y/2
		return encodeMouse(e, m)
	}
	return nil
}

// encodeMouse encodes a mouse event. On the alternate screen without mouse reporting, the wheel
// sends arrow keys (mode 1007).
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
