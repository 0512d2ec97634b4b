package keys

import "fmt"

// otherKey reports whether modifyOtherKeys at this level applies to a key, and the code it reports.
// Level 1 exempts keys with a well-known encoding, level 2 only capital letters.
// https://invisible-island.net/xterm/modified-keys.html
func otherKey(k Key, level uint8) (code rune, ok bool) {
	mods := k.Mods & reportedMods
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
	if !isPrintable(k.Code) || mods == Shift {
		return 0, false
	}
	code = k.character()
	return code, level >= 2 || !isWellKnown(k)
}

// isWellKnown reports whether the legacy encoding can express a modified key: alt as a prefix, ctrl
// as a control character.
func isWellKnown(k Key) bool {
	if k.Mods&(Super|Hyper) != 0 {
		return false
	}
	if k.Mods&Ctrl == 0 {
		return true
	}
	if k.Mods&Shift != 0 && isLowercase(rune(k.Code)) {
		return false
	}
	_, ok := k.controlCharacter()
	return ok
}

// appendOtherKey appends CSI 27 ; modifiers ; code ~.
func appendOtherKey(dst []byte, code rune, mods Mod) []byte {
	return fmt.Appendf(dst, "\x1b[27;%d;%d~", int(mods&reportedMods)+1, code)
}
