package list

import (
	"strings"

	"tandem/engine/base/cellwidth"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A markedText is text ready to draw with some characters marked as matches.
type markedText struct {
	clusters []string
	widths   []int
	marks    []bool
	cells    int
}

// maxMarked limits how much of a command is drawn, in bytes.
const maxMarked = 4096

// MarkText prepares a command for drawing in one row. matched are the indexes of the matched code
// points. Line breaks become a sign.
func MarkText(command string, matched []int, look *look.Look) *markedText {
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
			r = look.LineBreak()
		} else if r = text.CleanRune(r); r < 0 {
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

func splitMarked(s string, marks []bool) *markedText {
	t := &markedText{}
	for s != "" {
		c := cellwidth.Cluster(s)
		w := cellwidth.Of(c)
		if c == "" {
			break
		}
		s = s[len(c):]
		mark := false
		for range c {
			mark = mark || marks[0]
			marks = marks[1:]
		}
		if w == 0 || text.JoinsSpace(c) {
			continue
		}
		t.clusters, t.widths, t.marks = append(t.clusters, c), append(t.widths, w), append(t.marks, mark)
		t.cells += w
	}
	return t
}

// Draw appends the text to r as exactly w cells, cut so that a match is visible.
func (t *markedText) Draw(r *Row, w int, ink, match look.Ink, look *look.Look) {
	if w <= 0 {
		return
	}
	from, used, end := 0, 0, w
	if t.cells > w && w > 2 {
		from = t.firstVisible(w)
	}
	if from > 0 {
		r.Add(look.Glyphs.Ellipsis, look.Dim)
		used++
	}
	if used+t.widthFrom(from) > w {
		end--
	}
	var piece strings.Builder
	pieceMark := false
	flush := func() {
		if piece.Len() == 0 {
			return
		}
		if pieceMark {
			r.addMatch(piece.String(), match)
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
	r.Add(text.Spaces(w-used), "")
}

// widthFrom returns the width of the text in cells, without its first n clusters.
func (t *markedText) widthFrom(n int) (cells int) {
	for _, w := range t.widths[n:] {
		cells += w
	}
	return cells
}

// firstVisible returns the first cluster to draw in w cells.
func (t *markedText) firstVisible(w int) int {
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
	const context = 8 // characters shown after the last match
	begin, room := last+context, w-2
	if begin >= len(t.widths)-1 {
		begin, room = len(t.widths)-1, w-1 // nothing is cut at the end
	}
	for i, cells := begin, 0; i >= 0; i-- {
		if cells += t.widths[i]; cells > room {
			return i + 1
		}
	}
	return 0
}
