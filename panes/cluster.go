package panes

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// A Widths says how the terminal that shows the dashboard advances its cursor
// over a cluster of several code points. What is drawn is laid out in clusters
// (see Width) whatever the terminal does.
type Widths uint8

const (
	PerRune    Widths = iota // by the sum of its code points, like wcwidth
	PerCluster               // as one glyph (mode 2027)
)

// mostBytes is how much of a cluster is shown; no language has longer ones.
const mostBytes = 64

// The code points that join what is beside them to one emoji and that ask for
// the wide form of what is before.
const (
	joiner = "\u200d"
	wide   = "\ufe0f"
)

// Shown is what the terminal shows for a cluster that takes width cells of the
// layout: all of it, or as much as fits where it would advance otherwise, and
// the cells that this takes there, at most width. It is "" for what is no text
// or would join what is before. A terminal that counts clusters though nobody
// knows advances by the same cells.
func (m Widths) Shown(cluster string, width int) (text string, cells int) {
	if !utf8.ValidString(cluster) {
		return string(utf8.RuneError), 1
	}
	first, n := utf8.DecodeRuneInString(cluster)
	cells = WidthPerRune(cluster[:n])
	switch {
	case cells == 0 || joinsLast(first):
		return "", 0
	case n == len(cluster) && cells == width: // as almost all are
		return cluster, cells
	}
	cluster = strings.TrimRight(cluster, joiner) // would join what follows
	if letter, ok := loneIndicator(first, cluster[n:]); ok {
		return letter, 1
	}
	if len(cluster) <= mostBytes && (m == PerCluster || WidthPerRune(cluster) == width) {
		return cluster, width
	}
	text = narrowed(cluster, width)
	if cells = WidthPerRune(text); cells == ansi.StringWidth(text) && !joinsNext(text) {
		return text, cells
	}
	text = cluster[:n]
	if cells = WidthPerRune(text); cells > width {
		return "", 0
	}
	return text, cells
}

// joinsLast reports whether a character that has cells of its own becomes part
// of what is before: vowel signs of some scripts, the skin colours of emoji.
func joinsLast(r rune) bool {
	switch {
	case unicode.Is(unicode.M, r), r == '\u0e33', r == '\u0eb3', r == '\uff9e', r == '\uff9f', r >= '\U0001f3fb' && r <= '\U0001f3ff':
		cluster, _ := ansi.FirstGraphemeCluster("a"+string(r), ansi.GraphemeWidth)
		return len(cluster) > 1
	}
	return false
}

// joinsNext reports whether a consonant behind text would become part of it.
func joinsNext(text string) bool {
	cluster, _ := ansi.FirstGraphemeCluster(text+"क", ansi.GraphemeWidth)
	return len(cluster) > len(text)
}

// WidthPerRune is the number of cells by which a terminal advances that counts
// code points. The vowels and final consonants of decomposed Hangul have none
// of their own.
func WidthPerRune(s string) int {
	if strings.ContainsFunc(s, isTrailingJamo) {
		s = strings.Map(func(r rune) rune {
			if isTrailingJamo(r) {
				return -1
			}
			return r
		}, s)
	}
	return ansi.StringWidthWc(s)
}

func isTrailingJamo(r rune) bool { return r >= 0x1160 && r <= 0x11ff || r >= 0xd7b0 && r <= 0xd7ff }

// narrowed is the beginning of a cluster whose code points take at most width
// cells, in its narrow form.
func narrowed(cluster string, width int) string {
	cluster = strings.ReplaceAll(cluster, wide, "")
	end := 0
	for i, r := range cluster {
		n := utf8.RuneLen(r)
		width -= WidthPerRune(cluster[i : i+n])
		if width < 0 || i+n > mostBytes {
			break
		}
		end = i + n
	}
	return strings.TrimRight(cluster[:end], joiner)
}

func isControl(cluster string) bool {
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

// appendCluster appends one cluster in a form that the terminal shows in width
// cells.
func appendCluster(dst []byte, cluster string, width int, m Widths) []byte {
	text, cells := m.Shown(cluster, width)
	return append(append(dst, text...), Spaces(width-cells)...)
}
