package list

import (
	"slices"
	"strings"

	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// DrawStrip draws the list in one row, for a narrow screen. The names stand side by side, the
// current one visible, with signs at the ends if there are more. A single pane has no title row, so
// its title is drawn at the end of the strip.
func (l *List) DrawStrip(w int, look *look.Look) string {
	sign := l.stripFilter(w)
	w -= text.Width(sign)
	first, last, auto := l.stripRange(w, look)
	var b strings.Builder
	used, more := 0, 0
	if last < len(l.rows) {
		more = 1
	}
	if first > 0 {
		b.WriteString(look.Dim.Text(lessGlyph(look)))
		used++
	}
	for i := first; i < last; i++ {
		cell := text.Clip(l.stripCell(i, auto, look), max(w-used-more, 0))
		ink := look.Dim
		switch {
		case l.rows[i].Current && l.tabs:
			ink = look.Tab
		case l.rows[i].Current:
			ink = look.Title
		}
		if i == l.cursor && l.Focused {
			ink = look.Selected
		}
		b.WriteString(ink.Text(cell))
		used += text.Width(cell)
	}
	rest := l.aboutCurrent(w - used)
	if last < len(l.rows) {
		rest = text.Spaces(w-used-1) + look.Glyphs.More
	}
	return b.String() + look.Dim.Text(rest) + look.Warn.Text(sign)
}

// stripFilter returns the filter at the end of the strip, in less than half of its width.
func (l *List) stripFilter(w int) string {
	sign := l.filterText()
	switch {
	case sign == "":
		return ""
	case len(l.rows) == 0:
		sign = "nothing matches " + sign
	}
	return " " + text.Clip(sign, w/2-2) + " "
}

// aboutCurrent returns, in exactly w cells, what a title row would show of the current session: its
// title or command, and its directory.
func (l *List) aboutCurrent(w int) string {
	i := slices.IndexFunc(l.rows, func(r Row) bool { return r.Current })
	if i < 0 || l.rows[i].Branch != "" || w < minAboutCells {
		return text.Spaces(w)
	}
	p := &l.rows[i].Process
	where, what := text.ShortPath(p.CWD, l.Home), ""
	switch {
	case p.Terminal != nil && p.Terminal.Title != "":
		what = text.Clean(p.Terminal.Title)
	case len(p.Argv) > 1:
		what = states.CommandText(p)
	}
	where = text.ClipPath(where, w-2)
	if room := w - 2 - text.Width(where) - 3; what != "" && what != text.Clean(p.ShownName()) && room > 3 && !strings.Contains(what, where) {
		where = text.Clip(what, room) + " · " + where
	}
	return text.PadLeft(where+" ", w)
}

// minAboutCells is the minimum width of the text after the names.
const minAboutCells = 8

// stripRange returns the range of rows to show in a strip of w cells, and the width of automatic
// names. If not all rows fit, it first narrows automatic names. Then it leaves out rows far from
// the cursor, and reserves the cells of the signs for more rows.
func (l *List) stripRange(w int, look *look.Look) (first, last, auto int) {
	cells, automatic, total := make([]int, len(l.rows)), 0, 0
	for i := range l.rows {
		cells[i] = text.Width(l.stripCell(i, autoNameCells, look))
		total += cells[i]
		if isAutoNamed(&l.rows[i].Process) {
			automatic++
		}
	}
	auto = autoNameCells
	if total > w && automatic > 0 {
		auto = max(autoNameCells-(total-w+automatic-1)/automatic, minTabName)
		for i := range l.rows {
			if isAutoNamed(&l.rows[i].Process) {
				cells[i] -= autoNameCells - auto
			}
		}
		total -= automatic * (autoNameCells - auto)
	}
	if total <= w || len(l.rows) == 0 {
		return 0, len(l.rows), auto
	}
	first = l.cursor
	used := cells[first] + 2
	for first > 0 && used+cells[first-1] <= w {
		first--
		used += cells[first]
	}
	for last = l.cursor + 1; last < len(l.rows) && used+cells[last] <= w; last++ {
		used += cells[last]
	}
	return first, last, auto
}

// stripCell returns the text of row i in the strip. An automatic name takes auto cells.
func (l *List) stripCell(i, auto int, look *look.Look) string {
	p := &l.rows[i].Process
	glyph, _ := states.SessionGlyph(p, look)
	mark, _ := rowMark(&l.rows[i], look)
	if mark != "" {
		mark = " " + mark
	}
	if agent := agentMark(p); agent != "" {
		mark = " " + agent + mark
	}
	number := l.rows[i].Tab
	if number != "" {
		number += " "
	}
	if name := l.rows[i].TabName; name != "" {
		number += text.Clip(name, maxNameCells) + ": "
	}
	name := states.ShownName(p)
	return " " + number + glyph + " " + text.Fit(name, nameCells(p, name, auto)) + mark + " "
}

// StripAt returns the id of the session at column x of a strip of w cells. On the sign for more
// sessions it returns the nearest hidden session.
func (l *List) StripAt(x, w int, look *look.Look) string {
	w -= text.Width(l.stripFilter(w))
	first, last, auto := l.stripRange(w, look)
	switch {
	case x >= w:
		return ""
	case first > 0 && x == 0:
		return l.rows[first-1].Process.ID
	case last < len(l.rows) && x == w-1:
		return l.rows[last].Process.ID
	case first > 0:
		x--
	}
	for i := first; i < last; i++ {
		if x -= text.Width(l.stripCell(i, auto, look)); x < 0 {
			return l.rows[i].Process.ID
		}
	}
	return ""
}
