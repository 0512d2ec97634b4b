package panes

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// mostMarks is how many combining characters a letter keeps: more would be
// drawn over the rows above and below.
const mostMarks = 2

// FileName is a file's name, or a line of its text, as it can be shown in a
// row: control characters have pictures, what has no place in a row a
// replacement character, and every terminal advances by the cells that Width
// tells.
func FileName(s string) string {
	if isPlain(s) {
		return s
	}
	var out strings.Builder
	for s != "" {
		if c := s[0]; c < utf8.RuneSelf {
			if len(s) == 1 || s[1] < utf8.RuneSelf {
				out.WriteString(picture(rune(c)))
				s = s[1:]
				continue
			}
		}
		cluster, width := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		if cluster == "" {
			cluster = s[:1]
		}
		s = s[len(cluster):]
		out.WriteString(safeCluster(cluster, width))
	}
	return out.String()
}

// picture is a rune that stands alone.
func picture(r rune) string {
	switch {
	case r < 0x20:
		return string(0x2400 + r)
	case r == 0x7f:
		return "\u2421"
	case unicode.IsSpace(r) && r != ' ':
		return " "
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), unicode.Is(unicode.Cs, r):
		return string(utf8.RuneError)
	}
	return string(r)
}

// safeCluster is a cluster in a form whose width nobody can see otherwise.
func safeCluster(cluster string, width int) string {
	if !utf8.ValidString(cluster) {
		return strings.Repeat(string(utf8.RuneError), len(cluster))
	}
	first, n := utf8.DecodeRuneInString(cluster)
	head := picture(first)
	switch {
	case cluster == "\r\n":
		return picture('\r') + picture('\n')
	case n == len(cluster) && head != cluster:
		return head
	case width == 0 || unicode.Is(unicode.Mn, first) || unicode.Is(unicode.Me, first):
		return "\u25cc" // what would stand on nothing
	}
	whole, marks := head, 0
	for _, r := range cluster[n:] {
		if marks++; marks > mostMarks || !unicode.Is(unicode.M, r) && r != '\ufe0f' && r != '\u200d' {
			return fitting(head, width)
		}
		whole += string(r)
	}
	if ansi.StringWidthWc(whole) != ansi.StringWidth(whole) {
		return fitting(head, width)
	}
	return whole
}

// fitting is the head of a cluster alone, if everybody agrees on its width.
func fitting(head string, width int) string {
	if w := ansi.StringWidthWc(head); w == ansi.StringWidth(head) && w > 0 {
		return head
	}
	return strings.Repeat(string(utf8.RuneError), max(width, 1))
}
