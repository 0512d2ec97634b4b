package widget

import (
	"strings"
	"unicode/utf8"

	"tandem/engine/cellwidth"
)

// A markedText is text fit to be drawn, some of whose characters a search has
// matched.
type markedText struct {
	clusters []string
	widths   []int
	marks    []bool
	cells    int
}

// maxMarked bounds what is drawn of a command, in bytes.
const maxMarked = 4096

// MarkText makes a command fit to be drawn in one row. matched are the indexes of
// the matched code points. A line break is a sign.
func MarkText(command string, matched []int, look *Look) *markedText {
	var clean strings.Builder
	var marks []bool
	n, next := 0, 0
	for _, r := range command {
		for next < len(matched) && matched[next] < n {
			next++
		}
		mark := next < len(matched) && matched[next] == n
		n++
		if r == '\n' {
			r = look.lineBreak()
		} else if r = CleanRune(r); r < 0 {
			continue
		}
		clean.WriteRune(r)
		marks = append(marks, mark)
		if clean.Len() > maxMarked {
			break
		}
	}
	return splitMarked(clean.String(), marks)
}

func splitMarked(text string, marks []bool) *markedText {
	t := &markedText{}
	for text != "" {
		c := cellwidth.Cluster(text)
		w := cellwidth.Of(c)
		if c == "" {
			break
		}
		text = text[len(c):]
		mark := false
		for range c {
			mark = mark || marks[0]
			marks = marks[1:]
		}
		if w == 0 || joins(c) {
			continue
		}
		t.clusters, t.widths, t.marks = append(t.clusters, c), append(t.widths, w), append(t.marks, mark)
		t.cells += w
	}
	return t
}

// joins reports whether text would be one character with a space before it.
func joins(text string) bool {
	if text == "" || text[0] < utf8.RuneSelf {
		return false
	}
	first := cellwidth.Cluster(" " + text)
	return len(first) > 1
}

// Draw appends the text as exactly w cells to r, cut so that what matched is
// seen.
func (t *markedText) Draw(r *Row, w int, ink, match Ink, look *Look) {
	if w <= 0 {
		return
	}
	from, used, end := 0, 0, w
	if t.cells > w && w > 2 {
		from = t.window(w)
	}
	if from > 0 {
		r.Add(look.Glyphs.Ellipsis, look.Dim)
		used++
	}
	if used+t.behind(from) > w {
		end--
	}
	var piece strings.Builder
	pieceMark := false
	flush := func() {
		if piece.Len() == 0 {
			return
		}
		if pieceMark {
			r.mark(piece.String(), match)
		} else {
			r.Add(piece.String(), ink)
		}
		piece.Reset()
	}
	i := from
	for ; i < len(t.clusters) && used+t.widths[i] <= end; i++ {
		if t.marks[i] != pieceMark {
			flush()
			pieceMark = t.marks[i]
		}
		piece.WriteString(t.clusters[i])
		used += t.widths[i]
	}
	flush()
	if i < len(t.clusters) {
		r.Add(look.Glyphs.Ellipsis, look.Dim)
		used++
	}
	r.Add(Spaces(w-used), "")
}

// behind is the width of what is from a cluster on.
func (t *markedText) behind(from int) (cells int) {
	for _, w := range t.widths[from:] {
		cells += w
	}
	return cells
}

// window is the first cluster to draw in w cells.
func (t *markedText) window(w int) int {
	last, end := -1, 0
	at := 0
	for i, mark := range t.marks {
		at += t.widths[i]
		if mark {
			last, end = i, at
		}
	}
	if last < 0 || end < w-1 {
		return 0
	}
	const context = 8 // characters behind the last match
	begin, room := last+context, w-2
	if begin >= len(t.widths)-1 {
		begin, room = len(t.widths)-1, w-1 // nothing is cut behind it
	}
	for i, cells := begin, 0; i >= 0; i-- {
		if cells += t.widths[i]; cells > room {
			return i + 1
		}
	}
	return 0
}
