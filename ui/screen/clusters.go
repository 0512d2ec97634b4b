package screen

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/engine/cellwidth"
)

// mostShown is how many bytes of a cluster are shown; no language has longer
// ones.
const mostShown = 64

// The code points that join what is beside them to one emoji and that ask for
// the wide form of what is before.
const (
	joiner = "\u200d"
	wide   = "\ufe0f"
)

// shown is what the terminal shows for a cluster that takes width cells of the
// layout: all of it, or as much as takes no more cells whether clusters are one
// character to it or not. cells is how many that takes, if all terminals agree
// (sure), else width. Text without cells is "".
func shown(cluster string, width int, clusters bool) (text string, cells int, sure bool) {
	if !utf8.ValidString(cluster) {
		return string(utf8.RuneError), 1, true
	}
	first, n := utf8.DecodeRuneInString(cluster)
	if unicode.IsControl(first) || cellwidth.Rune(first) == 0 {
		return "", 0, true
	}
	text = strings.TrimRight(cluster, joiner) // would join what follows
	if width == 1 {
		text = strings.ReplaceAll(text, wide, "") // some terminals take two cells for it in any case
	}
	counted := cellwidth.PerCodePoint(text)
	switch {
	case counted == width && len(text) <= mostShown && isMarked(text[n:]):
		return text, width, !cellwidth.Absorbed(first)
	case len(text) <= mostShown && (clusters || counted == width):
		return text, width, false
	}
	text = narrowed(text, width)
	if counted = cellwidth.PerCodePoint(text); text == "" || counted > width {
		return "", 0, true
	}
	if isMarked(text[n:]) && !cellwidth.Absorbed(first) {
		return text, counted, true
	}
	return text, width, false
}

// isMarked reports whether what follows the first code point of a cluster is
// nothing but marks on it, of whose width all terminals think the same.
func isMarked(rest string) bool {
	for _, r := range rest {
		if !unicode.In(r, unicode.Mn, unicode.Me) || r == '\ufe0e' || r == '\ufe0f' {
			return false
		}
	}
	return true
}

// narrowed is the beginning of a cluster whose code points take at most width
// cells, in its narrow form.
func narrowed(cluster string, width int) string {
	cluster = strings.ReplaceAll(cluster, wide, "")
	end := 0
	for i, r := range cluster {
		n := utf8.RuneLen(r)
		width -= cellwidth.PerCodePoint(cluster[i : i+n])
		if width < 0 || i+n > mostShown {
			break
		}
		end = i + n
	}
	return strings.TrimRight(cluster[:end], joiner)
}
