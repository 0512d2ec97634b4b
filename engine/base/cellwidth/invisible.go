package cellwidth

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Invisible reports whether a character is a control character, has no glyph, looks like a space,
// or varies between fonts. Text shown for approval must not hide one.
func Invisible(r rune) bool {
	const brailleBlank = '\u2800'
	return r == utf8.RuneError || r == brailleBlank || !unicode.IsPrint(r) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// maxMarks is how many combining marks in a row Spell keeps: more than any language uses. A pile of
// them covers the text around it.
const maxMarks = 4

// Spell replaces each invisible character in s by an escape such as \u{202e}, and each byte that is
// not valid UTF-8 by one such as \x9b. Of several combining marks in a row, those after the first
// maxMarks are replaced too. The result is displayed in the order of its characters.
func Spell(s string) string { return spellExcept(s, "") }

// SpellLines is Spell for text with several lines.
func SpellLines(s string) string { return spellExcept(s, "\n") }

func spellExcept(s, keep string) string {
	marks := 0 // in a row
	hidden := func(r rune) bool {
		if !unicode.Is(unicode.M, r) {
			marks = 0
			return Invisible(r) && !strings.ContainsRune(keep, r)
		}
		marks++
		return marks > maxMarks || Invisible(r)
	}
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	marks = 0
	var b strings.Builder
	// Decode by hand: range cannot tell invalid bytes from a literal U+FFFD.
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r != utf8.RuneError && !hidden(r):
			b.WriteString(s[:n])
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		s = s[n:]
	}
	return b.String()
}

// AppendEscaped appends name with its invisible and non-ASCII characters escaped.
func AppendEscaped(dst []byte, name string) []byte {
	for name != "" {
		r, n := utf8.DecodeRuneInString(name)
		letter := strings.IndexRune("\\\n\r\t", r)
		switch {
		case r == utf8.RuneError && n == 1:
			dst = fmt.Appendf(dst, `\x%02x`, name[0])
		case letter >= 0:
			dst = append(dst, '\\', `\nrt`[letter])
		case r > ' ' && r < 0x7f:
			dst = append(dst, name[0])
		case r < utf8.RuneSelf:
			dst = fmt.Appendf(dst, `\x%02x`, r)
		case r > 0xffff:
			dst = fmt.Appendf(dst, `\U%08x`, r)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
		name = name[n:]
	}
	return dst
}
