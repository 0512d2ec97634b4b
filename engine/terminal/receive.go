package terminal

import (
	"context"

	"tandem/engine/api"
	"tandem/engine/vt"
	"tandem/keys"
)

// wheelLines is how many arrow keys a turn of the wheel is on an alternate
// screen that wants no mouse.
const wheelLines = 3

// receive takes a viewer's input until its connection or ctx ends.
func (s *Session) receive(ctx context.Context, v *viewer, from stream) {
	for {
		in, err := from.Receive()
		if err != nil || s.accept(ctx, v, in) != nil {
			return
		}
	}
}

// accept does what one message asks for. Input that a session does not take,
// because it has ended or the viewer only reads, is dropped.
func (s *Session) accept(ctx context.Context, v *viewer, in api.Input) error {
	switch {
	case in.Resize != nil:
		s.viewers.setSize(v, *in.Resize)
		s.DecideSize(ctx)
	case in.Lines != nil:
		select {
		case v.lines <- *in.Lines:
		case <-ctx.Done():
		}
	case in.Anchors != nil:
		s.viewers.setPlaces(v, in.Anchors)
	case s.takesInput(v):
		if asTyped(in) {
			v.eager.Store(true)
			s.typedBy(ctx, v)
		}
		if p := encode(in, *s.modes.Load()); len(p) > 0 {
			s.noteInput(v.actor(), p)
			s.input.write(ctx, p)
		}
	}
	return ctx.Err()
}

// takesInput reports whether what a viewer types reaches the program.
func (s *Session) takesInput(v *viewer) bool {
	return !v.readOnly && !(v.agent && s.locked.Load()) && !(v.outside && !s.open.Load())
}

// asTyped reports whether input shows that a person works in this viewer.
func asTyped(in api.Input) bool {
	return in.Bytes != nil || in.Key != nil || in.Paste != nil ||
		(in.Mouse != nil && in.Mouse.Kind == keys.MouseDown)
}

// typedBy makes v decide the size, and takes the bell as heard.
func (s *Session) typedBy(ctx context.Context, v *viewer) {
	news := s.viewers.typed(v)
	s.mu.Lock()
	rang := s.known.Rang
	s.known.Rang = false
	s.mu.Unlock()
	if news {
		s.DecideSize(ctx)
	}
	if news || rang {
		s.pace.touch()
	}
}

// encode gives the bytes that input is for a program that has set these modes.
func encode(in api.Input, m vt.Modes) []byte {
	switch {
	case in.Bytes != nil:
		return in.Bytes
	case in.Key != nil:
		return keys.Encode(nil, *in.Key, m.Modes)
	case in.Paste != nil:
		return keys.EncodePaste(nil, *in.Paste, m.Modes)
	case in.Mouse != nil:
		return encodeMouse(*in.Mouse, m)
	case in.Focus != nil && m.FocusReports && *in.Focus:
		return []byte("\x1b[I")
	case in.Focus != nil && m.FocusReports:
		return []byte("\x1b[O")
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
