package passthrough

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// An edit is p with changes, made from start to end. Without changes, the result is p itself.
type edit struct {
	p, out []byte
	done   int // length of the part of p already in out
	made   bool
}

// replace replaces p[start:end] by text.
func (e *edit) replace(start, end int, text string) {
	e.out = append(append(e.out, e.p[e.done:start]...), text...)
	e.done, e.made = end, true
}

func (e *edit) drop(start, end int) { e.replace(start, end, "") }

func (e *edit) result() []byte {
	if !e.made {
		return e.p
	}
	e.out = append(e.out, e.p[e.done:]...)
	e.done = len(e.p)
	return e.out
}

// textLength returns the length of the text at the start of p: characters, and the controls that
// move the cursor, ring the bell or select a character set.
func textLength(p []byte) (n int) {
	for n < len(p) {
		if len(p)-n >= 8 {
			others := findNotASCII(binary.LittleEndian.Uint64(p[n:]))
			if others == 0 {
				n += 8
				continue
			}
			n += bits.TrailingZeros64(others) / 8
		}
		switch c := p[n]; {
		case c >= 0x20 && c < del, c >= bel && c <= si:
			n++
		case c > c1 && c < 0xe0 && n+1 < len(p) && p[n+1]&0xc0 == 0x80:
			n += 2
		default:
			r, size := utf8.DecodeRune(p[n:])
			if r < 0xa0 || r == utf8.RuneError && size == 1 || r == flag || isTag(r) {
				return n
			}
			n += size
		}
	}
	return n
}

// findNotASCII looks for the first byte of w outside 0x20 to 0x7e. In the word it returns, that
// byte has its highest bit set, and the bytes before it do not. It returns 0 if there is no such
// byte.
func findNotASCII(w uint64) uint64 {
	const ones = 0x0101010101010101
	return ((w - 0x20*ones) | (w + ones) | w) & (0x80 * ones)
}

// illFormedLength returns the length of the invalid UTF-8 at the start of p that counts as one
// character (Unicode, section 3.9, maximal subparts).
func illFormedLength(p []byte) (n int) {
	n = 1
	for n < len(p) && !utf8.FullRune(p[:n+1]) {
		n++
	}
	return n
}

// flag is the base of a subdivision flag, the only emoji followed by tags. Elsewhere tags are
// invisible (Unicode Technical Standard 51, section 2.4).
const (
	flag    = 0x1f3f4
	lastTag = 0xe007f
	maxTags = 6 // in a flag
)

func isTag(r rune) bool { return r >= 0xe0000 && r <= lastTag }
