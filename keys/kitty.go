package keys

import "strconv"

// Numbers in the kitty protocol's table of functional keys.
// https://sw.kovidgoyal.net/kitty/keyboard-protocol/#functional-key-definitions
const (
	kittyCapsLock      = 57358
	kittyNumLock       = 57360
	kittyF13           = 57376
	kittyKP0           = 57399
	kittyKPSeparator   = 57416
	kittyKPLeft        = 57417
	kittyKPBegin       = 57427
	kittyFirstModifier = 57441
	kittyLastModifier  = 57454
)

// kittyOthers are the numbers of the keys from Menu on.
var kittyOthers = [...]int{57363, 57361, 57362, 57359}

// appendKitty encodes a key in the kitty keyboard protocol, for the flags in m. A key that types
// text is sent as text unless all keys are requested as escape codes. Enter, tab and backspace are
// too, so that a shell remains usable after a program that did not reset the flags.
func appendKitty(dst []byte, k Key, m Modes) []byte {
	if m.Kitty&KittyEventTypes == 0 {
		if k.Phase == Release {
			return dst
		}
		k.Phase = Press
	}
	if m.Kitty&KittyAllKeys != 0 {
		return appendKittyCode(dst, k, m)
	}
	// A lock key must not turn text into an escape code.
	if k.Code.isTextual() {
		k.Mods &^= lockKeys
	}
	switch k.Code {
	case Enter, Tab, Backspace:
		if k.Phase == Release {
			return dst
		}
		if k.Mods == 0 {
			return appendLegacy(dst, k, m)
		}
	}
	if k.Phase != Release {
		if text := k.textIfPressed(); text != "" {
			return append(dst, text...)
		}
		if m.Kitty&KittyDisambiguate == 0 && k.Phase == Press {
			return appendLegacy(dst, k, m)
		}
	}
	if k.Code.isModifier() {
		return dst
	}
	return appendKittyCode(dst, k, m)
}

// isTextual reports whether the lock keys are left out of the key's report.
func (c Code) isTextual() bool {
	return isPrintable(c) || c == Enter || c == Tab || c == Backspace
}

func (c Code) isModifier() bool {
	return c == kittyCapsLock || c == kittyNumLock || (c >= kittyFirstModifier && c <= kittyLastModifier)
}

// IsModifier reports whether the key itself is a modifier, such as shift or caps lock, which some
// terminals report like other keys.
func (k Key) IsModifier() bool { return k.Code.isModifier() }

// appendKittyCode appends CSI code[:shifted[:base]] ; modifiers[:event] ; text u, or the older form
// of a function key.
func appendKittyCode(dst []byte, k Key, m Modes) []byte {
	number, final := kittyNumber(k.Code)
	text := ""
	if m.Kitty&KittyAllKeys != 0 && m.Kitty&KittyText != 0 && k.Phase != Release {
		text = k.textIfPressed()
	}
	if number == 0 && text == "" {
		return dst
	}
	more := k.Mods != 0 || k.Phase != Press
	dst = append(dst, esc, '[')
	if final == 'u' || final == '~' || more {
		dst = strconv.AppendInt(dst, int64(number), 10)
	}
	if final == 'u' && m.Kitty&KittyAlternateKeys != 0 {
		dst = appendAlternates(dst, k)
	}
	if more || text != "" {
		dst = append(dst, ';')
	}
	if more {
		dst = strconv.AppendInt(dst, int64(k.Mods)+1, 10)
	}
	if k.Phase != Press {
		dst = append(dst, ':', '1'+byte(k.Phase))
	}
	if text != "" {
		dst = appendCodePoints(append(dst, ';'), text)
	}
	return append(dst, final)
}

func kittyNumber(c Code) (number int, final byte) {
	switch {
	case c == F3:
		return 13, '~' // CSI R would be a cursor position report
	case c >= F13 && c <= F24:
		return kittyF13 + int(c-F13), 'u'
	case c >= KP0 && c <= KPSeparator:
		return kittyKP0 + int(c-KP0), 'u'
	}
	if i := int(c - Menu); i >= 0 && i < len(kittyOthers) {
		return kittyOthers[i], 'u'
	}
	if f, ok := functionOf(c); ok {
		return f.number, f.final
	}
	if c < 0 || c >= Up {
		return 0, 'u'
	}
	return int(c), 'u'
}

func appendAlternates(dst []byte, k Key) []byte {
	shifted := k.Mods&Shift != 0 && isPrintable(k.Code) && (k.Shifted != 0 || isLowercase(rune(k.Code)))
	if shifted {
		dst = append(dst, ':')
		dst = strconv.AppendInt(dst, int64(Key{Code: k.Code, Mods: Shift, Shifted: k.Shifted}.character()), 10)
	}
	if k.Base == 0 || Code(k.Base) == k.Code {
		return dst
	}
	if !shifted {
		dst = append(dst, ':')
	}
	return strconv.AppendInt(append(dst, ':'), int64(k.Base), 10)
}

func appendCodePoints(dst []byte, text string) []byte {
	for i, r := range text {
		if isControl(r) {
			continue // the protocol allows no control characters here
		}
		if i > 0 {
			dst = append(dst, ':')
		}
		dst = strconv.AppendInt(dst, int64(r), 10)
	}
	return dst
}
