package widget

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/engine/cellwidth"
)

// mostMarks is how many combining characters a letter keeps: more would be
// drawn over the rows above and below.
const mostMarks = 2

// FileName is a file's name, or a line of its text, as it can be shown in a
// row: control characters have pictures, what has no place in a row a
// replacement character.
func FileName(s string) string {
	if IsPlain(s) {
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
		cluster := cellwidth.Cluster(s)
		s = s[len(cluster):]
		out.WriteString(safeCluster(cluster, cellwidth.Of(cluster)))
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

// safeCluster is a cluster as it can be shown, without what is invisible.
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
	case width == 0 || unicode.Is(unicode.Mn, first) || unicode.Is(unicode.Me, first) || joinsLast(first):
		return "\u25cc" // what would stand on nothing
	}
	if letter, ok := loneIndicator(first, cluster[n:]); ok {
		return letter
	}
	return head + safeRest(cluster[n:])
}

// safeRest is what follows the first character of a cluster, up to what must not
// be shown.
func safeRest(rest string) string {
	marks := 0
	for i, r := range rest {
		switch {
		case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Me, r), r == '\u200d':
			marks++
		default:
			marks = 0
		}
		if marks > mostMarks || i > mostBytes || r != '\u200d' && picture(r) != string(r) {
			return strings.TrimRight(rest[:i], joiner) // would join what follows
		}
	}
	return rest
}
