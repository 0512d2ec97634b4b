package keys

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const lockKeys = CapsLock | NumLock

// The private use area has the kitty protocol's functional keys; a code in it is never a character.
const (
	privateFirst Code = 0xe000
	privateLast  Code = 0xf8ff
)

// A Chord is the part of a key compared by bindings: without phase, lock keys and layout, and with
// shift merged into the character it produces.
type Chord struct {
	code Code
	mods Mod
}

// Chord returns the key as a user would name it, independent of the encoding: a "%" reported as
// shift+5 has the same chord as a plain "%".
func (k Key) Chord() Chord {
	k = k.normalize()
	mods := k.Mods &^ lockKeys
	if r, n := utf8.DecodeRuneInString(k.Text); n > 0 && n == len(k.Text) && mods&^Shift == 0 && k.Code < Up {
		if !isControl(r) && r != ' ' {
			return characterChord(r, 0)
		}
	}
	if mods&Shift != 0 && k.Shifted != 0 && isPrintable(Code(k.Shifted)) && !isCapital(k.Shifted) {
		return Chord{Code(k.Shifted), mods &^ Shift}
	}
	return Chord{k.Code, mods}
}

func characterChord(r rune, mods Mod) Chord {
	if isCapital(r) {
		return Chord{Code(unicode.ToLower(r)), mods | Shift}
	}
	return Chord{Code(r), mods}
}

// LayoutChord returns the chord of the key at the same position on a US keyboard, so that bindings
// of letters work on a Cyrillic or Greek layout.
func (k Key) LayoutChord() (Chord, bool) {
	if k.Base == 0 || Code(k.Base) == k.Code || k.Code < utf8.RuneSelf {
		return Chord{}, false
	}
	return Chord{Code(k.Base), k.Mods &^ lockKeys}, true
}

// normalize replaces a capital letter with shift and the small letter, as required by Code.
func (k Key) normalize() Key {
	if !isCapital(rune(k.Code)) {
		return k
	}
	k.Shifted = rune(k.Code)
	k.Code = Code(unicode.ToLower(rune(k.Code)))
	k.Mods |= Shift
	return k
}

// textIfPressed returns the text typed by a press of the key; none with a modifier other than shift. If
// unknown, it is derived from the code, assuming a US keyboard for shifted symbols.
func (k Key) textIfPressed() string {
	if k.Mods&^(lockKeys|Shift) != 0 {
		return ""
	}
	if k.Text != "" {
		if r, _ := utf8.DecodeRuneInString(k.Text); isControl(r) {
			return ""
		}
		return k.Text
	}
	if s, ok := keypadText(k.Code); ok && k.Code != KPEnter && k.Mods&NumLock != 0 {
		return s
	}
	if !isPrintable(k.Code) {
		return ""
	}
	return string(k.character())
}

// knownText is like textIfPressed, but returns nothing if the text depends on the layout.
func (k Key) knownText() string {
	if k.Mods&Shift != 0 && !isLowercase(rune(k.Code)) && k.Shifted == 0 && k.Code != Space {
		return ""
	}
	return k.textIfPressed()
}

// character returns the rune of a printable key, taking shift and caps lock into account.
func (k Key) character() rune {
	r := rune(k.Code)
	shift := k.Mods&Shift != 0
	if isLowercase(r) {
		if shift != (k.Mods&CapsLock != 0) {
			return unicode.ToUpper(r)
		}
		return r
	}
	if !shift {
		return r
	}
	if k.Shifted != 0 && !isControl(k.Shifted) {
		return k.Shifted
	}
	return shiftUS(r)
}

func shiftUS(r rune) rune {
	const plain, shifted = "`1234567890-=[]\\;',./", "~!@#$%^&*()_+{}|:\"<>?"
	if i := strings.IndexRune(plain, r); i >= 0 {
		return rune(shifted[i])
	}
	return r
}

func keypadText(c Code) (string, bool) {
	const characters = "0123456789./*-+\r=,"
	if c < KP0 || c > KPSeparator {
		return "", false
	}
	i := c - KP0
	return characters[i : i+1], true
}

func isPrintable(c Code) bool {
	if c < Space || c >= Up || (c >= privateFirst && c <= privateLast) {
		return false
	}
	return unicode.IsPrint(rune(c))
}

func isControl(r rune) bool { return r < 0x20 || (r >= 0x7f && r < 0xa0) || r == utf8.RuneError }

// isCapital and isLowercase are true only for letters whose other case maps back to them.
func isCapital(r rune) bool {
	l := unicode.ToLower(r)
	return l != r && unicode.ToUpper(l) == r
}

func isLowercase(r rune) bool {
	u := unicode.ToUpper(r)
	return u != r && unicode.ToLower(u) == r
}

// Same reports whether a and k are the same key to the user, whatever their encoding and layout.
// Phases are ignored.
func (k Key) Same(a Key) bool {
	if k.Chord() == a.Chord() {
		return true
	}
	c, ok := k.LayoutChord()
	return ok && c == a.Chord()
}
