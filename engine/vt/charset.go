package vt

import "strings"

// A charset is a set of graphic characters for the codes 0x20 to 0x7e.
type charset uint8

// The sets; the national ones (ECMA-35, VT220) are in the order of national.
const (
	charsetASCII charset = iota
	charsetGraphics
	charsetUK
	charsetTechnical
	charsetLatin1 // the upper half, as a set of 96
	charsetNational
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

// nationalCodes are the codes that national sets replace.
const nationalCodes = "#@[\\]^_`{|}~"

// national are the national replacement sets: the final bytes that designate
// one, and what stands for nationalCodes.
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

// translate gives the character behind an ASCII code.
func (c charset) translate(b byte) rune {
	switch {
	case c == charsetGraphics && b >= 0x5F:
		return graphicRunes[b-0x5F]
	case c == charsetUK && b == '#':
		return '£'
	case c == charsetTechnical && b > ' ':
		return technicalRunes[b-'!']
	case c == charsetLatin1:
		return rune(b) + 0x80
	case c >= charsetNational:
		if i := strings.IndexByte(nationalCodes, b); i >= 0 {
			return national[c-charsetNational].runes[i]
		}
	}
	return rune(b)
}

// designate does SCS with a set of 94: what stands behind ESC and one of ( to
// +. Sets that we do not know count as ASCII, as their ASCII part is most
// alike; so do national sets where DECNRCM does not allow them.
func (t *writer) designate(slot int, final byte) {
	set := charsetASCII
	switch final {
	case '0', '2':
		set = charsetGraphics
	case 'A':
		set = charsetUK
	case '>':
		set = charsetTechnical
	default:
		for i := range national {
			if t.mode.national && strings.IndexByte(national[i].finals, final) >= 0 {
				set = charsetNational + charset(i)
			}
		}
	}
	t.cur.g[slot] = set
}

// designate96 does SCS with a set of 96, of which we have Latin-1.
func (t *writer) designate96(slot int, final byte) {
	t.cur.g[slot] = charsetASCII
	if final == 'A' {
		t.cur.g[slot] = charsetLatin1
	}
}

// appendDesignation appends the sequence that puts c into a slot.
func (c charset) appendDesignation(dst []byte, slot int) []byte {
	switch {
	case c == charsetLatin1:
		return append(dst, esc, " -./"[slot], 'A')
	case c >= charsetNational:
		dst = append(dst, "\x1b[?42h\x1b"...)
		dst = append(dst, "()*+"[slot], national[c-charsetNational].finals[0])
		return append(dst, "\x1b[?42l"...)
	}
	return append(dst, esc, "()*+"[slot], "B0A>"[c])
}
