package processes

import (
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// A columnKind describes a column.
type columnKind struct {
	column   Column
	head     string
	right    bool
	maxCells int // maximum width
	rank     int // columns of a high rank are dropped first
	text     func(p *api.Process, now time.Time) string
}

// plainCell adapts a text that does not depend on the time.
func plainCell(text func(*api.Process) string) func(*api.Process, time.Time) string {
	return func(p *api.Process, _ time.Time) string { return text(p) }
}

func columnKinds() []columnKind {
	return []columnKind{
		{ColumnName, "name", false, 28, 0, plainCell(func(p *api.Process) string { return text.Clean(p.Name) })},
		{ColumnHost, "host", false, 16, 0, plainCell(hostText)},
		{ColumnState, "state", false, 24, 0, states.StateWords},
		{ColumnPID, "pid", true, 7, 7, plainCell(pidText)},
		{ColumnCPU, "cpu%", true, 6, 1, plainCell(cpuText)},
		{ColumnMemory, "mem", true, 5, 2, plainCell(memoryText)},
		{ColumnUp, "up", true, 6, 3, upText},
		{ColumnRestarts, "rst", true, 5, 6, plainCell(restartsText)},
		{ColumnPorts, "ports", true, 17, 5, plainCell(portsText)},
		{ColumnWho, "who", false, 12, 8, plainCell(whoText)},
		{ColumnFrom, "from", false, 20, 9, plainCell(fromText)},
	}
}

const (
	leadCells          = 7 // cursor, mark, state, kind and the gaps between them
	columnGap          = 2
	sparkCells         = 8
	sparkStep          = 5 * time.Second
	minSparkWidth      = 100 // width of a table from which it has sparklines
	minCommandCells    = 16  // minimum width of the command column
	wantedCommandCells = 40  // width from which it needs no other column's
	narrowNameCells    = 16
	positionCells      = 7 // width of the position in the heading row
	narrowStateCells   = 18
)

// A placedColumn is a column with its position.
type placedColumn struct {
	columnKind
	x, w int
}

// Draw returns h rows of w cells: the heading and the processes. The slice is valid until the next
// call.
func (t *Table) Draw(w, h int, now time.Time, look *look.Look) []string {
	t.out = t.out[:0]
	if h <= 0 {
		return t.out
	}
	t.top = list.Follow(t.top, t.cursor, t.rowCount(), h-1)
	t.measureColumns(w, h-1, now)
	t.out = append(t.out, t.listSign().Over(t.drawHead(w, look), w, look))
	for row := t.top; len(t.out) < h; row++ {
		p, r := t.processAt(row), t.findRow(row)
		switch {
		case p != nil:
			t.out = append(t.out, t.drawRow(p, row == t.cursor, w, now, look))
		case r != nil:
			t.out = append(t.out, t.drawHeader(r.project, row == t.cursor, w, look))
		case row < t.rowCount() || row == 0 && t.isLoading():
			t.out = append(t.out, look.Dim.Text(text.Fit("   …", w)))
		case row == 0:
			t.out = append(t.out, look.Dim.Text(text.Fit("   "+list.NothingMatches(w-3, t.ClearKey), w)))
		default:
			t.out = append(t.out, text.Spaces(w))
		}
	}
	list.Scrollbar(t.out[1:], w, t.top, t.rowCount(), look)
	return t.out
}

// isLoading reports whether the rows are still to be loaded.
func (t *Table) isLoading() bool { return t.window != nil && (t.window.all == 0 || t.window.loading) }

// listSign returns the position of the cursor among the processes.
func (t *Table) listSign() list.ListSign {
	s := list.ListSign{Filter: t.filter, Shown: t.matching}
	_, s.All = t.Len()
	switch {
	case t.processAt(t.cursor) == nil:
		return s
	case t.window != nil:
		if t.rowCount() == t.matching { // else headers are among the rows
			s.At = t.cursor + 1
		}
		return s
	}
	here := t.rows[t.cursor]
	for _, g := range t.projects {
		if g == here.project {
			s.At += slices.Index(g.members, here.process) + 1
			break
		}
		s.At += len(g.members)
	}
	return s
}

// isUnused reports whether a column is empty for all processes, or says only that you started them.
func (t *Table) isUnused(k *columnKind, now time.Time) bool {
	usual := ""
	switch k.column {
	case t.order:
		return false
	case ColumnRestarts, ColumnPorts, ColumnHost, ColumnFrom:
	case ColumnWho:
		usual = states.You
	default:
		return false
	}
	return !slices.ContainsFunc(t.rows, func(r tableRow) bool {
		return r.process != header && k.text(&t.all[r.process], now) != usual
	})
}

// measureColumns computes the columns' widths. A column never gets narrower while the table keeps
// its width, so that nothing jumps during scrolling.
func (t *Table) measureColumns(w, n int, now time.Time) {
	if w != t.width {
		t.width, t.widths = w, [columnCount]int{}
	}
	kinds := columnKinds()
	for i := range kinds {
		k := &kinds[i]
		switch {
		case w >= minSparkWidth:
		case k.column == ColumnName:
			k.maxCells = narrowNameCells
		case k.column == ColumnState:
			k.maxCells = narrowStateCells
		}
		cells := max(t.widths[k.column], text.Width(k.head)+1)
		for row := t.top; row < min(t.top+n, t.rowCount()); row++ {
			cell := ""
			if p := t.processAt(row); p != nil {
				cell = k.text(p, now)
			} else if r := t.findRow(row); r != nil && k.column == ColumnName {
				cell = r.project.name()
			}
			cells = max(cells, min(text.Width(cell), k.maxCells))
		}
		t.widths[k.column] = cells
	}
	scrollbar := 0
	if t.rowCount() > n {
		scrollbar = 1
	}
	t.placeColumns(t.dropUnused(kinds, w, now), w, scrollbar)
}

// dropUnused removes unused columns as far as the command column needs their width.
func (t *Table) dropUnused(kinds []columnKind, w int, now time.Time) []columnKind {
	if t.window != nil {
		kinds = slices.DeleteFunc(kinds, func(k columnKind) bool { return !k.column.inFleet() })
	}
	used := leadCells + wantedCommandCells
	for _, k := range kinds {
		used += columnGap + t.columnWidth(k, w)
	}
	kinds = slices.DeleteFunc(kinds, func(k columnKind) bool {
		return (k.column == ColumnHost || k.column == ColumnFrom) && t.isUnused(&k, now)
	})
	return slices.DeleteFunc(kinds, func(k columnKind) bool {
		if used <= w || !t.isUnused(&k, now) {
			return false
		}
		used -= columnGap + t.columnWidth(k, w)
		return true
	})
}

// placeColumns sets the columns' positions and drops those that do not fit. scrollbar is its width,
// taken from the command column.
func (t *Table) placeColumns(kinds []columnKind, w, scrollbar int) {
	for {
		used, last := leadCells-columnGap, -1
		for i, k := range kinds {
			used += columnGap + t.columnWidth(k, w)
			if last < 0 || k.rank > kinds[last].rank {
				last = i
			}
		}
		if used+positionCells <= w || len(kinds) <= 1 {
			break
		}
		kinds = append(kinds[:last:last], kinds[last+1:]...)
	}
	t.columns = t.columns[:0]
	x := leadCells
	for _, k := range kinds {
		cells := min(t.columnWidth(k, w), max(w-x, 0))
		t.columns = append(t.columns, placedColumn{k, x, cells})
		x += cells + columnGap
	}
	if rest := w - scrollbar - x; rest >= minCommandCells {
		command := columnKind{column: ColumnCommand, head: "command", text: plainCell(states.CommandText)}
		t.columns = append(t.columns, placedColumn{command, x, rest})
	}
}

func (t *Table) columnWidth(k columnKind, w int) int {
	if k.column == ColumnCPU && w >= minSparkWidth {
		return t.widths[k.column] + 1 + sparkCells
	}
	return t.widths[k.column]
}

func (t *Table) drawHead(w int, look *look.Look) string {
	ink, chosen := look.Dim, look.Strong
	if t.Focused {
		chosen = look.Title
	}
	head := ink
	state := "  "
	if t.order == ColumnState && !t.hasColumn(ColumnState) {
		state, head = t.sortArrow(look)+" ", chosen
	}
	line, x := "   "+head.Text(state)+"  ", leadCells
	for _, p := range t.columns {
		title, ink := p.head, ink
		if p.column == t.order {
			title, ink = title+t.sortArrow(look), chosen
		}
		w := p.w
		if p.column == ColumnCPU && w > sparkCells {
			w -= sparkCells + 1
		}
		if title = text.Clip(title, w); p.right {
			title = text.PadLeft(title, w)
		}
		title = text.Pad(title, p.w)
		line += text.Spaces(p.x-x) + ink.Text(title)
		x = p.x + p.w
	}
	return line + text.Spaces(w-x)
}

func (t *Table) sortArrow(look *look.Look) string {
	if t.descending() {
		return look.Glyphs.Descending
	}
	return look.Glyphs.Ascending
}

// drawRow draws a process. The row under the cursor has one color, except for the state.
func (t *Table) drawRow(p *api.Process, cursor bool, w int, now time.Time, look *look.Look) string {
	mark, here := " ", " "
	if t.marked[p.ID] {
		mark = look.Glyphs.Attached // a check mark beside the glyph of a failure would confuse
	}
	if cursor {
		here = look.Glyphs.Selected
	}
	glyph, glyphInk := states.StateGlyph(p, look)
	kind := " "
	switch {
	case p.Kind == api.KindSession:
		kind = look.Glyphs.Terminal
	case p.KeepAlive:
		kind = look.Glyphs.KeepAlive
	}
	r := list.Row{Plain: cursor && t.Focused}
	r.Add(here, look.Accent)
	r.Add(mark+" ", look.Warn)
	r.AddKept(glyph, glyphInk, look.Selected)
	r.Add(" "+kind+" ", look.Dim)
	from, to := t.idleCells(p, now)
	for i := range t.columns {
		switch c := &t.columns[i]; {
		case i == from:
			span := t.columns[to].x + t.columns[to].w - c.x
			if to == len(t.columns)-1 {
				span = w - 1 - c.x
			}
			r.Add(text.Spaces(c.x-r.Cells), "")
			if reason := t.reasonText(p, now); reason != "" {
				r.AddKept(text.Fit(reason, span), glyphInk, look.Selected)
				continue
			}
			r.Add(text.Fit(states.CommandText(p), span), look.Dim)
		case i < from || i > to:
			t.drawCell(&r, p, c, cursor, now, look)
		}
	}
	return t.finishRow(&r, w, look)
}

// idleCells returns the range of columns without a value for a process without a pid; to is less
// than from if there are none. The reason of a failure is drawn across them if there is no command
// column.
func (t *Table) idleCells(p *api.Process, now time.Time) (from, to int) {
	from, to = len(t.columns), -1
	if p.PID != 0 || !p.Failed() && p.State != api.StateBackoff && p.State != api.StateWaiting {
		return from, to
	}
	for i := range t.columns {
		switch c := &t.columns[i]; c.column {
		case ColumnState:
			if text.Width(states.StateWords(p, now)) > c.w {
				from, to = i, i
			}
		case ColumnPID, ColumnCPU, ColumnMemory, ColumnUp:
			from, to = min(from, i), i
		case ColumnCommand:
			return len(t.columns), -1
		}
	}
	return from, to
}

func (t *Table) hasColumn(c Column) bool {
	return slices.ContainsFunc(t.columns, func(p placedColumn) bool { return p.column == c })
}

// minCommandPrefix is how many cells of the command are kept before a reason.
const minCommandPrefix = 12

// drawCommand draws the command of a process and the reason if it is not running.
func (t *Table) drawCommand(r *list.Row, p *api.Process, w int, now time.Time, look *look.Look) {
	reason := t.reasonText(p, now)
	command := states.CommandText(p)
	if reason == "" {
		r.Add(text.Fit(command, w), look.Dim)
		return
	}
	command = text.Clip(command, max(w-text.Width(reason)-columnGap, min(minCommandPrefix, w)))
	r.Add(command, look.Dim)
	r.AddKept(text.Fit(text.Spaces(columnGap)+reason, w-text.Width(command)), states.StateInk(p, look), look.Selected)
}

// reasonText returns why a process is not running, except for the part already in the state column.
func (t *Table) reasonText(p *api.Process, now time.Time) string {
	for _, c := range t.columns {
		if c.column == ColumnState && text.Width(states.StateWords(p, now)) <= c.w {
			return states.BesideState(p)
		}
	}
	return states.Reason(p, now)
}

func (t *Table) drawCell(r *list.Row, p *api.Process, c *placedColumn, cursor bool, now time.Time, look *look.Look) {
	r.Add(text.Spaces(c.x-r.Cells), "")
	ink := look.Dim
	switch {
	case c.column == ColumnName && cursor:
		ink = look.Current
	case p.State.Ended() && !p.Failed(), p.State == states.StateAway:
	case c.column == ColumnName && p.Kind == api.KindProcess, c.column == ColumnCPU, c.column == ColumnMemory:
		ink = look.Text
	}
	value := c.text(p, now)
	switch {
	case c.column == ColumnState:
		r.AddKept(text.Fit(value, c.w), states.StateInk(p, look), look.Selected)
		return
	case c.column == ColumnCommand:
		t.drawCommand(r, p, c.w, now, look)
		return
	case c.column == ColumnCPU && c.w > sparkCells:
		r.Add(text.PadLeft(text.Clip(value, c.w-sparkCells-1), c.w-sparkCells-1), ink)
		r.Add(" "+t.drawSpark(p, look), look.Accent)
		return
	}
	value = text.Clip(value, c.w)
	if c.right {
		value = text.PadLeft(value, c.w)
	}
	r.Add(text.Pad(value, c.w), ink)
}

func (t *Table) drawSpark(p *api.Process, look *look.Look) string {
	if p.Metrics == nil || p.PID == 0 {
		return text.Spaces(sparkCells)
	}
	return sparkline(cpuHistory(p.Metrics), sparkCells, look)
}

// ColumnAt returns the column at x of the heading row.
func (t *Table) ColumnAt(x int) (Column, bool) {
	if x < leadCells {
		return ColumnState, true
	}
	for _, p := range t.columns {
		if x >= p.x && x < p.x+p.w {
			return p.column, true
		}
	}
	return 0, false
}
