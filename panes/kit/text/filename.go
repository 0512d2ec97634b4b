package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/engine/base/cellwidth"
)

// maxCombining is the maximum number of combining characters on a letter: more would be drawn over
// other rows.
const maxCombining = 2

// FileName returns a file's name, or a line of its text, in a form safe to draw in a row. Control
// characters become pictures, and other unsafe ones a replacement character.
func FileName(s string) string {
	// Fast path: most names are printable ASCII.
	if IsPlain(s) {
		return s
	}
	var out strings.Builder
	for s != "" {
		if c := s[0]; c < utf8.RuneSelf {
			if len(s) == 1 || s[1] < utf8.RuneSelf {
				out.WriteString(safeRune(rune(c)))
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

// safeRune returns the safe form of a single rune.
func safeRune(r rune) string {
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

// safeCluster returns the safe form of a cluster, without invisible characters.
func safeCluster(cluster string, width int) string {
	if !utf8.ValidString(cluster) {
		return strings.Repeat(string(utf8.RuneError), len(cluster))
	}
	first, n := utf8.DecodeRuneInString(cluster)
	head := safeRune(first)
	switch {
	case cluster == "\r\n":
		return safeRune('\r') + safeRune('\n')
	case n == len(cluster) && head != cluster:
		return head
	case width == 0 || unicode.Is(unicode.Mn, first) || unicode.Is(unicode.Me, first) || joinsLast(first):
		return "\u25cc" // has no base character
	}
	if letter, ok := loneIndicator(first, cluster[n:]); ok {
		return letter
	}
	return head + safeRest(cluster[n:])
}

// safeRest returns the rest of a cluster up to the first unsafe character.
func safeRest(rest string) string {
	marks := 0
	for i, r := range rest {
		switch {
		case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Me, r), r == '\u200d':
			marks++
		default:
			marks = 0
		}
		if marks > maxCombining || i > maxClusterBytes || r != '\u200d' && safeRune(r) != string(r) {
			return strings.TrimRight(rest[:i], joiner) // would merge with the next cluster
		}
	}
	return rest
}
