package keys

import "strconv"

// otherKey tells whether modifyOtherKeys of this level reports a key, and the
// code it reports. Level 1 spares keys with a well-known meaning, level 2
// reports every modified key but a capital letter.
// https://invisible-island.net/xterm/modified-keys.html
func otherKey(k Key, level uint8) (code rune, ok bool) {
	mods := k.Mods & reported
	if mods == 0 {
		return 0, false
	}
	switch k.Code {
	case Tab:
		return '\t', mods != Shift
	case Backspace:
		return 0x7f, level >= 2
	case Enter:
		return '\r', true
	case Escape:
		return esc, mods != Shift
	}
	if !printable(k.Code) || mods == Shift {
		return 0, false
	}
	code = k.character()
	return code, level >= 2 || !wellKnown(k)
}

// wellKnown reports whether legacy encoding has a meaning of its own for a
// key: alt as a prefix, ctrl as a control character.
func wellKnown(k Key) bool {
	if k.Mods&(Super|Hyper) != 0 {
		return false
	}
	if k.Mods&Ctrl == 0 {
		return true
	}
	if k.Mods&Shift != 0 && lowercase(rune(k.Code)) {
		return false
	}
	_, ok := k.controlCharacter()
	return ok
}

// appendOtherKey appends CSI 27 ; modifiers ; code ~.
func appendOtherKey(dst []byte, code rune, mods Mod) []byte {
	dst = append(dst, esc, '[', '2', '7', ';')
	dst = strconv.AppendInt(dst, int64(mods&reported)+1, 10)
	dst = append(dst, ';')
	dst = strconv.AppendInt(dst, int64(code), 10)
	return append(dst, '~')
}
