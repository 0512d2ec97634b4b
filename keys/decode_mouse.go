package keys

import "unicode/utf8"

// decodeX10Mouse decodes CSI M and three characters: bytes or, with encoding 1005, UTF-8.
func (d *Decoder) decodeX10Mouse(p []byte) (Event, int) {
	var values [3]int
	n := 3
	for i := range values {
		if n >= len(p) {
			return Event{}, 0
		}
		if p[n] < 0x20 {
			return Event{}, n
		}
		if !d.UTF8Mouse {
			values[i] = int(p[n])
			n++
			continue
		}
		if !utf8.FullRune(p[n:]) {
			return Event{}, 0
		}
		r, size := utf8.DecodeRune(p[n:])
		values[i] = int(r)
		n += size
	}
	return mouseEvent(values[0]-32, values[1]-32, values[2]-32, false), n
}

func sgrMouse(s *sequence) Event {
	if s.count != 3 {
		return Event{}
	}
	return mouseEvent(s.param(0), s.param(1), s.param(2), s.final == 'm')
}

func urxvtMouse(s *sequence) Event {
	return mouseEvent(s.param(0)-32, s.param(1), s.param(2), false)
}

// mouseEvent returns the event for the button code Cb of ctlseqs and a position counted from 1.
func mouseEvent(code, x, y int, isRelease bool) Event {
	if code < 0 || code > 0xff || x < 1 || y < 1 {
		return Event{}
	}
	e := Mouse{X: x - 1, Y: y - 1, Button: buttonOf(code)}
	if code&mouseShift != 0 {
		e.Mods |= Shift
	}
	if code&mouseAlt != 0 {
		e.Mods |= Alt
	}
	if code&mouseControl != 0 {
		e.Mods |= Ctrl
	}
	switch {
	case code&mouseMotion != 0:
		e.Kind = MouseMove
	case isRelease || e.Button == ButtonNone:
		e.Kind = MouseUp
	}
	return Event{Kind: EventMouse, Mouse: e}
}
