// Package scan finds printable ASCII and UTF-8 characters in the output of programs, and makes text
// from them safe to show.
package scan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DecodeRune decodes the first character of p, whose first byte is 0x80 or higher. A size of 0
// means that p ends inside a character still valid so far. Each maximal ill-formed part becomes one
// U+FFFD (Unicode, section 3.9, "U+FFFD substitution of maximal subparts"), so no byte after it is
// lost.
func DecodeRune(p []byte) (r rune, size int) {
	b := p[0]
	if r, ok := decodeThreeBytes(p); ok { // the most common case beyond ASCII
		return r, 3
	}
	low, high := byte(0x80), byte(0xBF)
	var need int
	switch {
	case b >= 0xC2 && b <= 0xDF:
		need, r = 1, rune(b&0x1F)
	case b >= 0xE0 && b <= 0xEF:
		need, r = 2, rune(b&0x0F)
		if b == 0xE0 {
			low = 0xA0
		} else if b == 0xED {
			high = 0x9F
		}
	case b >= 0xF0 && b <= 0xF4:
		need, r = 3, rune(b&0x07)
		if b == 0xF0 {
			low = 0x90
		} else if b == 0xF4 {
			high = 0x8F
		}
	default:
		return utf8.RuneError, 1
	}
	for i := 1; i <= need; i++ {
		if i >= len(p) {
			return 0, 0
		}
		if p[i] < low || p[i] > high {
			return utf8.RuneError, i
		}
		r = r<<6 | rune(p[i]&0x3F)
		low, high = 0x80, 0xBF
	}
	return r, need + 1
}

// decodeThreeBytes decodes a well-formed character of three bytes.
func decodeThreeBytes(p []byte) (r rune, ok bool) {
	if len(p) < 3 || p[0]&0xF0 != 0xE0 || (p[1]^0x80)|(p[2]^0x80) >= 0x40 {
		return 0, false
	}
	r = rune(p[0]&0x0F)<<12 | rune(p[1]&0x3F)<<6 | rune(p[2]&0x3F)
	return r, r >= 0x800 && r&^0x7FF != 0xD800
}

// PrintableLen returns the length of the printable ASCII at the start of p.
func PrintableLen(p []byte) int {
	const (
		ones = 0x0101010101010101
		tops = 0x8080808080808080
	)
	i := 0
	for ; i+8 <= len(p); i += 8 {
		v := binary.LittleEndian.Uint64(p[i:])
		// A byte below 0x20 borrows, 0x7f carries, the rest has its top bit.
		if (v|(v-0x20*ones)|(v+ones))&tops != 0 {
			break
		}
	}
	for ; i < len(p); i++ {
		if p[i] < 0x20 || p[i] > 0x7E {
			break
		}
	}
	return i
}

// CommonLen returns the length of the longest common prefix of a and b.
func CommonLen(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// CompleteLen returns the length of p without an incomplete character at its end.
func CompleteLen(p []byte) int {
	for at := len(p) - 1; at >= max(len(p)-utf8.UTFMax, 0); at-- {
		if !utf8.RuneStart(p[at]) {
			continue
		}
		if !utf8.FullRune(p[at:]) {
			return at
		}
		break
	}
	return len(p)
}

// Clean cuts b to at most limit bytes, and returns it as valid UTF-8 without control characters.
func Clean(b []byte, limit int) string {
	if len(b) > limit {
		b = b[:CompleteLen(b[:limit])]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(b), "\uFFFD"))
}

// Visible escapes the control characters of text as in Go.
func Visible(text string) string {
	if !strings.ContainsFunc(text, unicode.IsControl) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unicode.IsControl(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// UnescapeLine undoes Visual Studio Code's escapes: two backslashes are one, and \xAB is a byte in
// hexadecimal. Anything else stays as it is.
func UnescapeLine(b []byte) string {
	var line strings.Builder
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\\')
		if i < 0 {
			i = len(b)
		}
		line.Write(b[:i])
		if b = b[i:]; len(b) > 0 {
			n, char := unescapeByte(b)
			line.WriteByte(char)
			b = b[n:]
		}
	}
	return strings.ToValidUTF8(line.String(), "\uFFFD")
}

// unescapeByte decodes the escape at the start of b, which begins with a backslash. It returns the
// escape's length and its byte.
func unescapeByte(b []byte) (n int, char byte) {
	switch {
	case len(b) > 1 && b[1] == '\\':
		return 2, '\\'
	case len(b) > 3 && b[1] == 'x':
		if v, err := strconv.ParseUint(string(b[2:4]), 16, 8); err == nil {
			return 4, byte(v)
		}
	}
	return 1, '\\'
}
