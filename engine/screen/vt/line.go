package vt

import (
	"strings"
	"unicode/utf8"

	"tandem/engine/base/cellwidth"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/grid"
	"tandem/engine/screen/vt/history"
)

// trimBlank removes the trailing blank cells in the default style.
func trimBlank(cells []grid.Cell) []grid.Cell {
	n := len(cells)
	for n > 0 && (cells[n-1] == grid.Cell{} || cells[n-1].Blank()) {
		n--
	}
	return cells[:n]
}

// appendGlyph appends the text of one cell: a space for a blank, nothing for the second half of a
// wide cluster.
func (t *store) appendGlyph(dst []byte, g grid.Glyph) []byte {
	switch {
	case g == 0:
		return append(dst, ' ')
	case g < utf8.RuneSelf:
		return append(dst, byte(g))
	case g < grid.FirstCluster:
		return utf8.AppendRune(dst, rune(g))
	case g == grid.Tail:
		return dst
	}
	return append(dst, t.clusters.text[g-grid.FirstCluster]...)
}

// styleOf returns the public form of an interned style.
func (t *store) styleOf(id grid.StyleID) styled.Style {
	p := t.styles.pens[id]
	s := p.visibleStyle()
	s.Link = t.links.text[p.link]
	return s
}

// buildLine converts cells to runs of equal style.
func (t *store) buildLine(cells []grid.Cell, attrs history.Attrs) styled.Line {
	l := styled.Line{Wrapped: attrs.Wrapped, Size: attrs.Size, Prompt: attrs.Mark&MarkPrompt != 0, Output: attrs.Mark&MarkOutput != 0}
	l.Pictures = attrs.Strips.Visible(t.cols)
	if t.pictures.HasVirtual() {
		var shown []styled.Strip
		cells, shown = t.replacePlaceholders(cells, t.scr == t.alt)
		l.Pictures = append(l.Pictures, shown...)
	}
	cells = trimBlank(cells)
	if len(cells) == 0 {
		return l
	}
	t.text = t.text[:0]
	start, from := 0, 0
	alone, anyAlone := false, false
	var ends [16]int
	bounds := ends[:0]
	for i, c := range cells {
		split := c.Style != cells[start].Style
		if c.Glyph != grid.Tail {
			was := alone
			alone = t.needsOwnRun(cells[i:])
			anyAlone = anyAlone || alone
			split = split || was || alone
		}
		if i > start && split {
			bounds = append(bounds, len(t.text))
			l.Runs = append(l.Runs, styled.Run{Style: t.styleOf(cells[start].Style), Cells: i - start})
			start = i
		}
		t.text = t.appendGlyph(t.text, c.Glyph)
	}
	bounds = append(bounds, len(t.text))
	l.Runs = append(l.Runs, styled.Run{Style: t.styleOf(cells[start].Style), Cells: len(cells) - start})
	// All runs share one string, which saves an allocation per run.
	text := string(t.text)
	for i, end := range bounds {
		l.Runs[i].Text = text[from:end]
		from = end
	}
	// Merging would lose the number of cells of a run that stands alone.
	if !anyAlone {
		mergeRuns(&l)
	}
	return trimLineEnd(l)
}

// needsOwnRun reports whether the glyph in the first cell must be a run of its own. This is so if
// its measured width differs from the number of cells it occupies, or if it would merge with the
// text before it.
func (t *store) needsOwnRun(cells []grid.Cell) bool {
	g := cells[0].Glyph
	if g < grid.FirstCluster {
		return cellwidth.Absorbed(rune(g))
	}
	text := t.clusters.text[g-grid.FirstCluster]
	first, n := utf8.DecodeRuneInString(text)
	second, _ := utf8.DecodeRuneInString(text[n:])
	if cellwidth.Absorbed(first) && !cellwidth.IsFlag(first, second) || strings.HasSuffix(text, "\u200d") {
		return true
	}
	held, width := cellwidth.First(text)
	return len(held) < len(text) || (width == 2) != isWide(cells)
}

// isWide reports whether the first glyph of cells takes two of them.
func isWide(cells []grid.Cell) bool { return len(cells) > 1 && cells[1].Glyph == grid.Tail }

// mergeRuns joins neighbouring runs that differed only in an internal attribute (DECSCA).
func mergeRuns(l *styled.Line) {
	out := l.Runs[:1]
	for _, r := range l.Runs[1:] {
		last := &out[len(out)-1]
		if last.Style == r.Style {
			last.Text += r.Text
			last.Cells += r.Cells
			continue
		}
		out = append(out, r)
	}
	l.Runs = out
}

// trimLineEnd removes the blanks at the end of a line with at least one run.
func trimLineEnd(l styled.Line) styled.Line {
	out := l.Runs
	if n := len(out); out[n-1].Style == (styled.Style{}) {
		out[n-1] = trimRun(out[n-1])
		if out[n-1].Cells == 0 {
			l.Runs = out[:n-1]
		}
	}
	if len(l.Runs) == 0 {
		l.Runs = nil
	}
	return l
}

// trimRun removes the trailing spaces of a run in the default style.
func trimRun(r styled.Run) styled.Run {
	for r.Cells > 0 && r.Text[len(r.Text)-1] == ' ' {
		r.Text = r.Text[:len(r.Text)-1]
		r.Cells--
	}
	return r
}
