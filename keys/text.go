package keys

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const locks = CapsLock | NumLock

// The private use area holds the kitty protocol's functional keys; a code in
// it is never a character.
const (
	privateFirst Code = 0xe000
	privateLast  Code = 0xf8ff
)

// A Chord is what a binding compares: a key without its phase, lock keys and
// layout, with shift folded into the character where it has made one.
type Chord struct {
	code Code
	mods Mod
}

// Chord reduces a key to what a person would call it, whichever encoding it
// came in: "%" is the same key when a terminal reports shift+5 that types "%".
func (k Key) Chord() Chord {
	k = k.normal()
	mods := k.Mods &^ locks
	if r, n := utf8.DecodeRuneInString(k.Text); n > 0 && n == len(k.Text) && mods&^Shift == 0 && k.Code < Up {
		if !control(r) && r != ' ' {
			return characterChord(r, 0)
		}
	}
	if mods&Shift != 0 && k.Shifted != 0 && printable(Code(k.Shifted)) && !capital(k.Shifted) {
		return Chord{Code(k.Shifted), mods &^ Shift}
	}
	return Chord{k.Code, mods}
}

func characterChord(r rune, mods Mod) Chord {
	if capital(r) {
		return Chord{Code(unicode.ToLower(r)), mods | Shift}
	}
	return Chord{Code(r), mods}
}

// LayoutChord is the chord at the same place of a US keyboard, so that letters
// bound by their place work on a Cyrillic or Greek layout.
func (k Key) LayoutChord() (Chord, bool) {
	if k.Base == 0 || Code(k.Base) == k.Code || k.Code < utf8.RuneSelf {
		return Chord{}, false
	}
	return Chord{Code(k.Base), k.Mods &^ locks}, true
}

// normal writes a capital letter as shift and the plain letter, as Code's
// meaning wants it.
func (k Key) normal() Key {
	if !capital(rune(k.Code)) {
		return k
	}
	k.Shifted = rune(k.Code)
	k.Code = Code(unicode.ToLower(rune(k.Code)))
	k.Mods |= Shift
	return k
}

// typed is the text that a press of the key types: none with a modifier other
// than shift. Where the key does not say, it is worked out from its code, on a
// US keyboard for shifted marks.
func (k Key) typed() string {
	if k.Mods&^(locks|Shift) != 0 {
		return ""
	}
	if k.Text != "" {
		if r, _ := utf8.DecodeRuneInString(k.Text); control(r) {
			return ""
		}
		return k.Text
	}
	if s, ok := keypadText(k.Code); ok && k.Code != KPEnter && k.Mods&NumLock != 0 {
		return s
	}
	if !printable(k.Code) {
		return ""
	}
	return string(k.character())
}

// knownText is what a key types as far as that does not depend on a layout.
func (k Key) knownText() string {
	if k.Mods&Shift != 0 && !lowercase(rune(k.Code)) && k.Shifted == 0 && k.Code != Space {
		return ""
	}
	return k.typed()
}

// character is the rune of a printable key with its shift and caps lock.
func (k Key) character() rune {
	r := rune(k.Code)
	shift := k.Mods&Shift != 0
	if lowercase(r) {
		if shift != (k.Mods&CapsLock != 0) {
			return unicode.ToUpper(r)
		}
		return r
	}
	if !shift {
		return r
	}
	if k.Shifted != 0 && !control(k.Shifted) {
		return k.Shifted
	}
	return shiftedUS(r)
}

func shiftedUS(r rune) rune {
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

func printable(c Code) bool {
	if c < Space || c >= Up || (c >= privateFirst && c <= privateLast) {
		return false
	}
	return unicode.IsPrint(rune(c))
}

func control(r rune) bool { return r < 0x20 || (r >= 0x7f && r < 0xa0) || r == utf8.RuneError }

// capital and lowercase hold for letters whose other case leads back to them.
func capital(r rune) bool {
	l := unicode.ToLower(r)
	return l != r && unicode.ToUpper(l) == r
}

func lowercase(r rune) bool {
	u := unicode.ToUpper(r)
	return u != r && unicode.ToLower(u) == r
}

// Same reports whether a and k are one key to a person, whichever encoding and
// layout they came with. Phases do not matter.
func (k Key) Same(a Key) bool {
	if k.Chord() == a.Chord() {
		return true
	}
	c, ok := k.LayoutChord()
	return ok && c == a.Chord()
}
