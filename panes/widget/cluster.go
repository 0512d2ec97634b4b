package widget

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/engine/cellwidth"
	"tandem/engine/rendered"
)

// mostBytes is how much of a cluster is shown; no language has longer ones.
const mostBytes = 64

// joiner joins what is beside it to one emoji.
const joiner = "\u200d"

// Sized is the beginning of what a row has for a cluster that takes other cells
// than it measures: an operating system command of kitty's text sizing protocol,
// "66;w=", the cells, ";", the cluster.
const Sized = "\x1b]66;w="

// AppendCluster appends a cluster of a terminal's that takes width cells.
func AppendCluster(dst []byte, cluster string, width int) []byte {
	switch {
	case IsControl(cluster):
		return append(dst, Spaces(width)...)
	case !utf8.ValidString(cluster):
		return append(append(dst, string(utf8.RuneError)...), Spaces(width-1)...)
	case len(cluster) > mostBytes:
		cluster = cutRunes(cluster, mostBytes)
	}
	if measures(cluster, width) {
		return append(dst, cluster...)
	}
	return fmt.Appendf(dst, Sized+"%d;%s\x1b\\", width, cluster)
}

// measures reports whether a cluster takes width cells beside whatever text.
func measures(cluster string, width int) bool {
	first, n := utf8.DecodeRuneInString(cluster)
	second, _ := utf8.DecodeRuneInString(cluster[n:])
	if cellwidth.Absorbed(first) && !cellwidth.Absorbed(second) || strings.HasSuffix(cluster, joiner) {
		return false
	}
	held, cells := cellwidth.First(cluster)
	return len(held) == len(cluster) && cells == width
}

// cutRunes is what s begins with, at most n bytes of whole code points.
func cutRunes(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// firstCluster is what s begins with that a cell or two hold, or an escape
// sequence, and the cells that it takes.
func firstCluster(s string) (piece string, width int) {
	if s != "" && s[0] == '\x1b' {
		n, _ := rendered.Sequence(s)
		if rest, ok := strings.CutPrefix(s[:n], Sized); ok && rest != "" {
			width = min(int(rest[0]-'0'), 2)
		}
		return s[:n], width
	}
	return cellwidth.First(s)
}

// joinsLast reports whether a character that has cells of its own becomes part
// of what is before: vowel signs of some scripts, the skin colours of emoji.
func joinsLast(r rune) bool {
	switch {
	case unicode.Is(unicode.M, r), r == '\u0e33', r == '\u0eb3', r == '\uff9e', r == '\uff9f', r >= '\U0001f3fb' && r <= '\U0001f3ff':
		return len(cellwidth.Cluster("a"+string(r))) > 1
	}
	return false
}

func IsControl(cluster string) bool {
	c := cluster[0]
	return c < 0x20 || c == 0x7f || c == 0xc2 && len(cluster) > 1 && cluster[1] < 0xa0
}

// loneIndicator is the letter of half a flag, given with the rest of its
// cluster: it would become a whole one with the half that may follow, and
// terminals think differently of its width.
func loneIndicator(first rune, rest string) (letter string, ok bool) {
	second, _ := utf8.DecodeRuneInString(rest)
	if !isIndicator(first) || isIndicator(second) {
		return "", false
	}
	return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[first-'\U0001F1E6':][:1], true
}

func isIndicator(r rune) bool { return r >= '\U0001F1E6' && r <= '\U0001F1FF' }
