package keys

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

const esc = 0x1b

// reportedMods are the modifiers that a legacy sequence can carry.
const reportedMods = Shift | Alt | Ctrl | Super | Hyper | Meta

// A function is the sequence of a function key: CSI number final or, for a final other than '~',
// CSI final or SS3 final.
type function struct {
	number int
	final  byte
}

// functions lists the sequences of the keys from Up to F24: "PC-Style Function Keys" and
// "VT220-Style Function Keys" in xterm's ctlseqs, continued from F21 on as in xterm.
var functions = [...]function{
	{1, 'A'}, {1, 'B'}, {1, 'C'}, {1, 'D'}, {1, 'H'}, {1, 'F'},
	{5, '~'}, {6, '~'}, {2, '~'}, {3, '~'},
	{1, 'P'}, {1, 'Q'}, {1, 'R'}, {1, 'S'},
	{15, '~'}, {17, '~'}, {18, '~'}, {19, '~'}, {20, '~'}, {21, '~'}, {23, '~'}, {24, '~'},
	{25, '~'}, {26, '~'}, {28, '~'}, {29, '~'}, {31, '~'}, {32, '~'}, {33, '~'}, {34, '~'},
	{42, '~'}, {43, '~'}, {44, '~'}, {45, '~'},
}

// functionCode returns the key of a sequence.
func functionCode(f function) (Code, bool) {
	i := slices.Index(functions[:], f)
	return Up + Code(i), i >= 0
}

func functionOf(c Code) (function, bool) {
	if c == Menu {
		return function{29, '~'}, true
	}
	if i := int(c - Up); i >= 0 && i < len(functions) {
		return functions[i], true
	}
	return function{}, false
}

// appendLegacy encodes a key like xterm without a keyboard protocol.
func appendLegacy(dst []byte, k Key, m Modes) []byte {
	if f, ok := functionOf(k.Code); ok {
		return appendFunction(dst, k, f, m)
	}
	if k.Code >= KP0 && k.Code <= KPSeparator {
		return appendKeypad(dst, k, m)
	}
	switch k.Code {
	case Enter:
		dst = appendAlt(dst, k.Mods)
		if m.Newline {
			return append(dst, '\r', '\n')
		}
		return append(dst, '\r')
	case Tab:
		dst = appendAlt(dst, k.Mods)
		if k.Mods&Shift != 0 {
			return append(dst, esc, '[', 'Z')
		}
		return append(dst, '\t')
	case Escape:
		return append(appendAlt(dst, k.Mods), esc)
	case Backspace:
		dst = appendAlt(dst, k.Mods)
		if k.Mods&Ctrl != 0 {
			return append(dst, 0x08)
		}
		return append(dst, 0x7f)
	}
	return appendText(dst, k)
}

func appendFunction(dst []byte, k Key, f function, m Modes) []byte {
	mods := k.Mods & reportedMods
	switch {
	case mods != 0:
		return fmt.Appendf(dst, "\x1b[%d;%d%c", f.number, int(mods)+1, f.final)
	case f.final == '~':
		return fmt.Appendf(dst, "\x1b[%d~", f.number)
	// F1 to F4 use SS3 in every mode.
	case m.AppCursor || f.final >= 'P':
		return append(dst, esc, 'O', f.final)
	}
	return append(dst, esc, '[', f.final)
}

// keypadLetters are the letters after SS3 in application mode, from KP0 on (ctlseqs, "VT220-Style
// Keypad").
const keypadLetters = "pqrstuvwxynojmkMXl"

// appendKeypad encodes a keypad key: its character, or SS3 and a letter in application mode, unless
// num lock makes it a character.
func appendKeypad(dst []byte, k Key, m Modes) []byte {
	dst = appendAlt(dst, k.Mods)
	if m.AppKeypad && (k.Text == "" && k.Mods&NumLock == 0 || k.Code == KPEnter) {
		return append(dst, esc, 'O', keypadLetters[k.Code-KP0])
	}
	if k.Code == KPEnter && m.Newline {
		return append(dst, '\r', '\n')
	}
	text, _ := keypadText(k.Code)
	return append(dst, text...)
}

func appendAlt(dst []byte, mods Mod) []byte {
	if mods&(Alt|Meta) != 0 {
		return append(dst, esc)
	}
	return dst
}

// appendText encodes a key with a character: its text, or the control character with ctrl, after an
// escape with alt.
func appendText(dst []byte, k Key) []byte {
	if text := k.textIfPressed(); text != "" {
		return append(dst, text...)
	}
	if k.Mods&(Super|Hyper) != 0 || !isPrintable(k.Code) {
		return dst
	}
	dst = appendAlt(dst, k.Mods)
	if k.Mods&Ctrl == 0 {
		return utf8.AppendRune(dst, k.character())
	}
	if c, ok := k.controlCharacter(); ok {
		return append(dst, c)
	}
	return utf8.AppendRune(dst, k.character())
}

// controlCharacter returns the control character of a key with ctrl: from the C0 table, the digits
// of the VT220 or, for a non-Latin key, the letter at its position on a US keyboard.
func (k Key) controlCharacter() (byte, bool) {
	r := rune(k.Code)
	if r >= utf8.RuneSelf && k.Base != 0 {
		r = k.Base
	}
	if k.Mods&Shift != 0 {
		if c, ok := controlOf(shiftRune(k, r)); ok {
			return c, true
		}
	}
	return controlOf(r)
}

func shiftRune(k Key, r rune) rune {
	if k.Shifted != 0 && k.Shifted < utf8.RuneSelf {
		return k.Shifted
	}
	return shiftUS(r)
}

func controlOf(r rune) (byte, bool) {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '[' && r <= '_', r == '@':
		return byte(r) & 0x1f, true
	case r == ' ', r == '2':
		return 0, true
	case r >= '3' && r <= '7':
		return byte(r-'3') + 0x1b, true
	case r == '~', r == '`':
		return 0x1e, true
	case r == '/':
		return 0x1f, true
	case r == '8', r == '?':
		return 0x7f, true
	}
	return 0, false
}
