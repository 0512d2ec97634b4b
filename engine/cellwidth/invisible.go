package cellwidth

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Invisible says that a character controls, shows nothing, looks like a space
// and is none, or differs from font to font: what is to be allowed must not hold
// it unseen.
func Invisible(r rune) bool {
	const brailleBlank = '\u2800'
	return r == utf8.RuneError || r == brailleBlank || !unicode.IsPrint(r) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Spell writes out every character of s that Invisible tells of, as \u{202e}, and bytes that are
// no UTF-8 as \x9b: what is left shows in the order in which it stands.
func Spell(s string) string { return spell(s, "") }

// SpellLines is Spell for text of several lines.
func SpellLines(s string) string { return spell(s, "\n") }

func spell(s, keep string) string {
	hidden := func(r rune) bool { return Invisible(r) && !strings.ContainsRune(keep, r) }
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
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
