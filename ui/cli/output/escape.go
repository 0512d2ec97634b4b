package output

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"tandem/engine/base/cellwidth"
)

// Visible escapes control characters, bidirectional controls and invalid UTF-8, as "^[", "^M",
// "\u202e" or "\x9b".
func Visible(s string) string { return Escape(s, "") }

// VisibleLines is Visible for text of several lines.
func VisibleLines(s string) string { return Escape(s, "\n") }

// Escape escapes like Visible, but leaves the characters in keep as they are.
func Escape(s, keep string) string { return escape(s, keep, false) }

// Escape escapes text of programs and people that goes to standard output. On a terminal it does
// the same as the function Escape. Elsewhere it keeps format characters that belong to the text:
// joiners, direction marks and the tags of flags. Overrides of the direction are escaped even then,
// because a pipe may end at a terminal.
func (p Printer) Escape(s, keep string) string {
	_, terminal := Terminal(p.Stdout)
	return escape(s, keep, !terminal)
}

func escape(s, keep string, formats bool) string {
	plain := func(r rune) bool {
		return r != utf8.RuneError && (isPrinted(r) || formats && unicode.Is(unicode.Cf, r) && !overridesDirection(r) || strings.ContainsRune(keep, r))
	}
	// Most text needs no escape, and then needs no copy.
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case plain(r):
			b.WriteString(s[:n])
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r < 0x20 || r == 0x7f:
			b.WriteByte('^')
			b.WriteRune(r ^ 0x40)
		case r == utf8.RuneError:
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		s = s[n:]
	}
	return b.String()
}

// overridesDirection reports whether a character changes the order in which others are shown: the
// embeddings, overrides and isolates of the bidirectional algorithm (UAX 9).
func overridesDirection(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// isPrinted reports whether a terminal shows a character and does not interpret it. Private-use
// characters are included: prompts use them as icons.
func isPrinted(r rune) bool {
	const joiner = '\u200d' // joins emoji
	return r == joiner || unicode.IsPrint(r) || unicode.In(r, unicode.Co, unicode.Zs)
}

// escapeJSON escapes the invisible characters of a JSON text as \u and four digits of UTF-16. It
// escapes all of them, because they can stand in strings only.
func escapeJSON(text string) string {
	hidden := func(r rune) bool { return r != '\n' && r != utf8.RuneError && cellwidth.Invisible(r) }
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if !hidden(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
