// Package charset contains the sets of graphic characters that a terminal can show in place of
// ASCII: DEC's special and technical ones, Latin-1 and the national ones.
package charset

import "strings"

// A Set is a set of graphic characters for the codes 0x20 to 0x7e, or to 0x7f in a set of 96.
type Set uint8

// The sets. The national ones (ECMA-35, VT220) follow firstNational in the order of the table
// national.
const (
	ASCII Set = iota
	graphics
	uk
	technical
	Latin1 // the upper half, as a set of 96
	firstNational
)

// graphicRunes are the codes 0x5f to 0x7e of the DEC special graphics set.
var graphicRunes = [...]rune{
	' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼',
	'⎺', '⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}

// technicalRunes are the codes 0x21 to 0x7e of the DEC technical set.
var technicalRunes = [...]rune{
	'⎷', '┌', '─', '⌠', '⌡', '│', '⎡', '⎣', '⎤', '⎦', '⎛', '⎝', '⎞', '⎠', '⎨',
	'⎬', '\uFFFD', '\uFFFD', '\uFFFD', '\uFFFD', '\uFFFD', '\uFFFD', '\uFFFD',
	'\uFFFD', '\uFFFD', '\uFFFD', '\uFFFD', '≤', '≠', '≥', '∫',
	'∴', '∝', '∞', '÷', 'Δ', '∇', 'Φ', 'Γ', '∼', '≃', 'Θ', '×', 'Λ', '⇔', '⇒', '≡',
	'Π', 'Ψ', '\uFFFD', 'Σ', '\uFFFD', '\uFFFD', '√', 'Ω', 'Ξ', 'Υ', '⊂', '⊃', '∩', '∪', '∧', '∨',
	'¬', 'α', 'β', 'χ', 'δ', 'ε', 'φ', 'γ', 'η', 'ι', 'θ', 'κ', 'λ', '\uFFFD', 'ν', '∂',
	'π', 'ψ', 'ρ', 'σ', 'τ', '\uFFFD', 'ƒ', 'ω', 'ξ', 'υ', 'ζ', '←', '↑', '→', '↓',
}

// nationalCodes are the codes replaced by national sets.
const nationalCodes = "#@[\\]^_`{|}~"

// national lists the national replacement sets: the final bytes that designate each, and its
// replacements of nationalCodes.
var national = [...]struct {
	finals string
	runes  [len(nationalCodes)]rune
}{
	{"4", [...]rune{'£', '¾', 'ĳ', '½', '|', '^', '_', '`', '¨', 'ƒ', '¼', '´'}},   // Dutch
	{"5C", [...]rune{'#', '@', 'Ä', 'Ö', 'Å', 'Ü', '_', 'é', 'ä', 'ö', 'å', 'ü'}},  // Finnish
	{"Rf", [...]rune{'£', 'à', '°', 'ç', '§', '^', '_', '`', 'é', 'ù', 'è', '¨'}},  // French
	{"Q9", [...]rune{'#', 'à', 'â', 'ç', 'ê', 'î', '_', 'ô', 'é', 'ù', 'è', 'û'}},  // French Canadian
	{"K", [...]rune{'#', '§', 'Ä', 'Ö', 'Ü', '^', '_', '`', 'ä', 'ö', 'ü', 'ß'}},   // German
	{"Y", [...]rune{'£', '§', '°', 'ç', 'é', '^', '_', 'ù', 'à', 'ò', 'è', 'ì'}},   // Italian
	{"`E6", [...]rune{'#', 'Ä', 'Æ', 'Ø', 'Å', 'Ü', '_', 'ä', 'æ', 'ø', 'å', 'ü'}}, // Norwegian, Danish
	{"Z", [...]rune{'£', '§', '¡', 'Ñ', '¿', '^', '_', '`', '°', 'ñ', 'ç', '~'}},   // Spanish
	{"7H", [...]rune{'#', 'É', 'Ä', 'Ö', 'Å', 'Ü', '_', 'é', 'ä', 'ö', 'å', 'ü'}},  // Swedish
	{"=", [...]rune{'ù', 'à', 'é', 'ç', 'ê', 'î', 'è', 'ô', 'ä', 'ö', 'ü', 'û'}},   // Swiss
}

// Has96 reports whether c is a set of 96 characters.
func (c Set) Has96() bool { return c == Latin1 }

// Translate returns the character for an ASCII code.
func (c Set) Translate(b byte) rune {
	switch {
	case c == graphics && b >= 0x5F:
		return graphicRunes[b-0x5F]
	case c == uk && b == '#':
		return '£'
	case c == technical && b > ' ':
		return technicalRunes[b-'!']
	case c == Latin1:
		return rune(b) + 0x80
	case c >= firstNational:
		if i := strings.IndexByte(nationalCodes, b); i >= 0 {
			return national[c-firstNational].runes[i]
		}
	}
	return rune(b)
}

// ForFinalByte returns the set of 94 designated by a final byte (SCS). Unknown sets are treated as
// ASCII, which is closest to them, and so are national sets unless allowNational is set (DECNRCM).
func ForFinalByte(final byte, allowNational bool) Set {
	switch final {
	case '0':
		return graphics
	case 'A':
		return uk
	case '>':
		return technical
	}
	set := ASCII
	for i := range national {
		if allowNational && strings.IndexByte(national[i].finals, final) >= 0 {
			set = firstNational + Set(i)
		}
	}
	return set
}

// AppendDesignation appends the sequence that designates c to a slot.
func (c Set) AppendDesignation(dst []byte, slot int) []byte {
	switch {
	case c == Latin1:
		return append(dst, 0x1B, " -./"[slot], 'A')
	case c >= firstNational:
		dst = append(dst, "\x1b[?42h\x1b"...)
		dst = append(dst, "()*+"[slot], national[c-firstNational].finals[0])
		return append(dst, "\x1b[?42l"...)
	}
	return append(dst, 0x1B, "()*+"[slot], "B0A>"[c])
}
