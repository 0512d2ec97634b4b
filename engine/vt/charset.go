package vt

// A charset is a set of graphic characters for the codes 0x20 to 0x7e.
type charset uint8

const (
	charsetASCII charset = iota
	charsetGraphics
	charsetUK
)

// graphicRunes are the codes 0x5f to 0x7e of the DEC special graphics set.
var graphicRunes = [...]rune{
	' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼',
	'⎺', '⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}

// translate gives the character behind an ASCII code.
func (c charset) translate(b byte) rune {
	switch {
	case c == charsetGraphics && b >= 0x5F:
		return graphicRunes[b-0x5F]
	case c == charsetUK && b == '#':
		return '£'
	}
	return rune(b)
}

// designate does SCS: what stands behind ESC and an intermediate from ( to +.
// Sets that we do not know count as ASCII, as their ASCII part is most alike.
func (t *Terminal) designate(slot int, final byte) {
	set := charsetASCII
	switch final {
	case '0', '2':
		set = charsetGraphics
	case 'A':
		set = charsetUK
	}
	t.cur.g[slot] = set
}
