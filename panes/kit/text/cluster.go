package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/engine/base/cellwidth"
	"tandem/engine/screen/styled"
)

// maxClusterBytes limits how much of a cluster is shown; no language has longer ones.
const maxClusterBytes = 64

// joiner joins its neighbours into one emoji.
const joiner = "\u200d"

// Sized starts the escape sequence for a cluster that takes a different number of cells than it
// measures. It is a command of kitty's text sizing protocol: "66;w=", the cells, ";", the cluster.
const Sized = "\x1b]66;w="

// AppendCluster appends a cluster of a session's screen so that it takes width cells.
func AppendCluster(dst []byte, cluster string, width int) []byte {
	switch {
	case IsControl(cluster):
		return append(dst, Spaces(width)...)
	case !utf8.ValidString(cluster):
		return append(append(dst, string(utf8.RuneError)...), Spaces(width-1)...)
	case len(cluster) > maxClusterBytes:
		cluster = strings.ToValidUTF8(cluster[:maxClusterBytes], "") // in whole code points
	}
	if measuresAs(cluster, width) {
		return append(dst, cluster...)
	}
	return fmt.Appendf(dst, Sized+"%d;%s\x1b\\", width, cluster)
}

// measuresAs reports whether a cluster takes width cells next to any text.
func measuresAs(cluster string, width int) bool {
	first, n := utf8.DecodeRuneInString(cluster)
	second, _ := utf8.DecodeRuneInString(cluster[n:])
	// A first or last character like this would merge with the text before or after the cluster.
	if cellwidth.Absorbed(first) && !cellwidth.Absorbed(second) || strings.HasSuffix(cluster, joiner) {
		return false
	}
	held, cells := cellwidth.First(cluster)
	return len(held) == len(cluster) && cells == width
}

// FirstCluster returns the first cluster or escape sequence of s, and its width in cells.
func FirstCluster(s string) (piece string, width int) {
	if s != "" && s[0] == '\x1b' {
		n, _ := styled.Sequence(s)
		if rest, ok := strings.CutPrefix(s[:n], Sized); ok && rest != "" {
			width = min(int(rest[0]-'0'), 2)
		}
		return s[:n], width
	}
	return cellwidth.First(s)
}

// joinsLast reports whether a character with a width of its own merges with the text before it, as
// vowel signs of some scripts and emoji skin colours do.
func joinsLast(r rune) bool {
	switch {
	case unicode.Is(unicode.M, r), r == '\u0e33', r == '\u0eb3', r == '\uff9e', r == '\uff9f', r >= '\U0001f3fb' && r <= '\U0001f3ff':
		return len(cellwidth.Cluster("a"+string(r))) > 1
	}
	return false
}

// JoinsSpace reports whether text would merge with a space before it.
func JoinsSpace(text string) bool {
	if text == "" || text[0] < utf8.RuneSelf {
		return false
	}
	first := cellwidth.Cluster(" " + text)
	return len(first) > 1
}

func IsControl(cluster string) bool {
	c := cluster[0]
	return c < 0x20 || c == 0x7f || c == 0xc2 && len(cluster) > 1 && cluster[1] < 0xa0
}

// loneIndicator returns the letter to show for half a flag, because such a half could merge with a
// following one, and terminals disagree about its width. rest is the part of the cluster after
// first.
func loneIndicator(first rune, rest string) (letter string, ok bool) {
	second, _ := utf8.DecodeRuneInString(rest)
	if !isIndicator(first) || isIndicator(second) {
		return "", false
	}
	return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[first-'\U0001F1E6':][:1], true
}

func isIndicator(r rune) bool { return r >= '\U0001F1E6' && r <= '\U0001F1FF' }
