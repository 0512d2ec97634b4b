package screen

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/engine/base/cellwidth"
)

// maxClusterBytes limits how many bytes of a cluster are shown. No script needs more.
const maxClusterBytes = 64

// The zero width joiner combines neighbours into one emoji. Variation selector 16 makes the
// character before it an emoji of two cells.
const (
	joiner = "\u200d"
	wide   = "\ufe0f"
)

// visibleText returns what to show of a cluster with width cells in the layout: all of it, or as
// much as takes no more cells on any terminal, whether it treats clusters as one character or not.
// If sure is true, all terminals agree on the width of the text, and cells is that width; otherwise
// cells equals width. Text without cells is "".
func visibleText(cluster string, width int, clusters bool) (text string, cells int, sure bool) {
	if !utf8.ValidString(cluster) {
		return string(utf8.RuneError), 1, true
	}
	first, n := utf8.DecodeRuneInString(cluster)
	if unicode.IsControl(first) || cellwidth.Rune(first) == 0 {
		return "", 0, true
	}
	// A trailing joiner would join the next character.
	text = strings.TrimRight(cluster, joiner)
	if width == 1 {
		// Some terminals always show the wide form in two cells.
		text = strings.ReplaceAll(text, wide, "")
	}
	counted := cellwidth.PerCodePoint(text)
	switch {
	case counted == width && len(text) <= maxClusterBytes && isMarked(text[n:]):
		return text, width, !cellwidth.Absorbed(first)
	case len(text) <= maxClusterBytes && (clusters || counted == width):
		return text, width, false
	}
	text = narrowForm(text, width)
	if counted = cellwidth.PerCodePoint(text); text == "" || counted > width {
		return "", 0, true
	}
	if isMarked(text[n:]) && !cellwidth.Absorbed(first) {
		return text, counted, true
	}
	return text, width, false
}

// isMarked reports whether rest, the part after a cluster's first code point, consists only of
// marks. All terminals agree on the width of such a cluster.
func isMarked(rest string) bool {
	for _, r := range rest {
		if !unicode.In(r, unicode.Mn, unicode.Me) || r == '\ufe0e' || r == '\ufe0f' {
			return false
		}
	}
	return true
}

// narrowForm returns the narrow form of a cluster. If it does not fit width cells, it is cut after
// the last code point that does.
func narrowForm(cluster string, width int) string {
	cluster = strings.ReplaceAll(cluster, wide, "")
	end := 0
	for i, r := range cluster {
		n := utf8.RuneLen(r)
		width -= cellwidth.PerCodePoint(cluster[i : i+n])
		if width < 0 || i+n > maxClusterBytes {
			break
		}
		end = i + n
	}
	return strings.TrimRight(cluster[:end], joiner)
}
