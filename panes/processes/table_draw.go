package processes

import (
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/panes/widget"
)

// A columnKind is how a column is drawn.
type columnKind struct {
	column Column
	head   string
	right  bool
	most   int // cells at most
	rank   int // columns of a high rank go first on a narrow screen
	text   func(p *api.Process, now time.Time) string
}

// plainCell makes a cell's text of what does not change with time.
func plainCell(text func(*api.Process) string) func(*api.Process, time.Time) string {
	return func(p *api.Process, _ time.Time) string { return text(p) }
}

func columnKinds() []columnKind {
	return []columnKind{
		{ColumnName, "name", false, 28, 0, plainCell(func(p *api.Process) string { return widget.Clean(p.Name) })},
		{ColumnHost, "host", false, 16, 0, plainCell(hostText)},
		{ColumnState, "state", false, 24, 0, widget.StateWords},
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
	leadCells    = 7 // cursor, mark, state, kind, and the spaces about them
	columnGap    = 2
	sparkCells   = 8
	sparkStep    = 5 * time.Second
	sparkWidth   = 100 // of the table, from which there are sparklines
	commandCells = 16  // least width of the column of commands
	wantedCells  = 40  // from which on it needs no other column's room
	narrowName   = 16
	signCells    = 7 // that the position takes of the row of names
	narrowState  = 18
)

// A place is where a column is drawn.
type place struct {
	columnKind
	x, w int
}

// Draw gives h rows of w cells: the names of the columns and the processes. The
// slice is valid until the next call.
func (t *Table) Draw(w, h int, now time.Time, look *widget.Look) []string {
	t.out = t.out[:0]
	if h <= 0 {
		return t.out
	}
	t.top = widget.Follow(t.top, t.cursor, t.lines(), h-1)
	t.measure(w, h-1, now)
	t.out = append(t.out, t.sign().Over(t.drawHead(w, look), w, look))
	for row := t.top; len(t.out) < h; row++ {
		p, r := t.at(row), t.row(row)
		switch {
		case p != nil:
			t.out = append(t.out, t.drawRow(p, row == t.cursor, w, now, look))
		case r != nil:
			t.out = append(t.out, t.drawHeader(r.project, row == t.cursor, w, look))
		case row < t.lines() || row == 0 && t.loading():
			t.out = append(t.out, look.Dim.Text(widget.Fit("   …", w)))
		case row == 0:
			t.out = append(t.out, look.Dim.Text(widget.Fit("   "+widget.NothingMatches(w-3, t.ClearKey), w)))
		default:
			t.out = append(t.out, widget.Spaces(w))
		}
	}
	widget.Scrollbar(t.out[1:], w, t.top, t.lines(), look)
	return t.out
}

// loading reports whether nothing is known yet of what there is.
func (t *Table) loading() bool { return t.held != nil && (t.held.all == 0 || t.held.loading) }

// sign tells which of the processes the cursor is on.
func (t *Table) sign() widget.ListSign {
	s := widget.ListSign{Filter: t.filter, Shown: t.matching}
	_, s.All = t.Len()
	switch {
	case t.at(t.cursor) == nil:
		return s
	case t.held != nil:
		if t.lines() == t.matching { // else headers are among them
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

// unusedColumn reports whether a column has nothing to say of any process, or
// only that you started it, so that others may have its room.
func (t *Table) unusedColumn(k *columnKind, now time.Time) bool {
	said := ""
	switch k.column {
	case t.order:
		return false
	case ColumnRestarts, ColumnPorts, ColumnHost, ColumnFrom:
	case ColumnWho:
		said = widget.You
	default:
		return false
	}
	return !slices.ContainsFunc(t.rows, func(r tableRow) bool {
		return r.process != header && k.text(&t.all[r.process], now) != said
	})
}

// measure places the columns. A column never gets narrower as long as the table
// keeps its width, so that nothing jumps while it is scrolled.
func (t *Table) measure(w, n int, now time.Time) {
	if w != t.width {
		t.width, t.widths = w, [columnCount]int{}
	}
	kinds := columnKinds()
	for i := range kinds {
		k := &kinds[i]
		switch {
		case w >= sparkWidth:
		case k.column == ColumnName:
			k.most = narrowName
		case k.column == ColumnState:
			k.most = narrowState
		}
		cells := max(t.widths[k.column], widget.Width(k.head)+1)
		for row := t.top; row < min(t.top+n, t.lines()); row++ {
			text := ""
			if p := t.at(row); p != nil {
				text = k.text(p, now)
			} else if r := t.row(row); r != nil && k.column == ColumnName {
				text = r.project.name()
			}
			cells = max(cells, min(widget.Width(text), k.most))
		}
		t.widths[k.column] = cells
	}
	scrollbar := 0
	if t.lines() > n {
		scrollbar = 1
	}
	t.place(t.worthRoom(kinds, w, now), w, scrollbar)
}

// worthRoom are the columns without those that have nothing to say, as far as the
// column of commands needs their room.
func (t *Table) worthRoom(kinds []columnKind, w int, now time.Time) []columnKind {
	if t.held != nil {
		kinds = slices.DeleteFunc(kinds, func(k columnKind) bool { return !k.column.inFleet() })
	}
	used := leadCells + wantedCells
	for _, k := range kinds {
		used += columnGap + t.cellsOf(k, w)
	}
	kinds = slices.DeleteFunc(kinds, func(k columnKind) bool {
		return (k.column == ColumnHost || k.column == ColumnFrom) && t.unusedColumn(&k, now)
	})
	return slices.DeleteFunc(kinds, func(k columnKind) bool {
		if used <= w || !t.unusedColumn(&k, now) {
			return false
		}
		used -= columnGap + t.cellsOf(k, w)
		return true
	})
}

// place gives columns their places, leaving out what has no room. The scrollbar takes
// that many cells from the commands.
func (t *Table) place(kinds []columnKind, w, scrollbar int) {
	for {
		used, last := leadCells-columnGap, -1
		for i, k := range kinds {
			used += columnGap + t.cellsOf(k, w)
			if last < 0 || k.rank > kinds[last].rank {
				last = i
			}
		}
		if used+signCells <= w || len(kinds) <= 1 {
			break
		}
		kinds = append(kinds[:last:last], kinds[last+1:]...)
	}
	t.places = t.places[:0]
	x := leadCells
	for _, k := range kinds {
		cells := min(t.cellsOf(k, w), max(w-x, 0))
		t.places = append(t.places, place{k, x, cells})
		x += cells + columnGap
	}
	if rest := w - scrollbar - x; rest >= commandCells {
		command := columnKind{column: ColumnCommand, head: "command", text: plainCell(widget.CommandText)}
		t.places = append(t.places, place{command, x, rest})
	}
}

func (t *Table) cellsOf(k columnKind, w int) int {
	if k.column == ColumnCPU && w >= sparkWidth {
		return t.widths[k.column] + 1 + sparkCells
	}
	return t.widths[k.column]
}

func (t *Table) drawHead(w int, look *widget.Look) string {
	ink, chosen := look.Dim, look.Strong
	if t.Focused {
		chosen = look.Title
	}
	head := ink
	state := "  "
	if t.order == ColumnState && !t.has(ColumnState) {
		state, head = t.arrow(look)+" ", chosen
	}
	line, x := "   "+head.Text(state)+"  ", leadCells
	for _, p := range t.places {
		text, ink := p.head, ink
		if p.column == t.order {
			text, ink = text+t.arrow(look), chosen
		}
		w := p.w
		if p.column == ColumnCPU && w > sparkCells {
			w -= sparkCells + 1
		}
		if text = widget.Clip(text, w); p.right {
			text = widget.PadLeft(text, w)
		}
		text = widget.Pad(text, p.w)
		line += widget.Spaces(p.x-x) + ink.Text(text)
		x = p.x + p.w
	}
	return line + widget.Spaces(w-x)
}

func (t *Table) arrow(look *widget.Look) string {
	if t.descending() {
		return look.Glyphs.Descending
	}
	return look.Glyphs.Ascending
}

// drawRow draws a process. The row with the cursor is one colour, but for the
// state.
func (t *Table) drawRow(p *api.Process, cursor bool, w int, now time.Time, look *widget.Look) string {
	mark, here := " ", " "
	if t.marked[p.ID] {
		mark = look.Glyphs.Attached // a check mark would speak against the sign of a failure beside it
	}
	if cursor {
		here = look.Glyphs.Selected
	}
	glyph, glyphInk := widget.StateGlyph(p, look)
	kind := " "
	switch {
	case p.Kind == api.KindSession:
		kind = look.Glyphs.Terminal
	case p.KeepAlive:
		kind = look.Glyphs.KeepAlive
	}
	r := widget.Row{Plain: cursor && t.Focused}
	r.Add(here, look.Accent)
	r.Add(mark+" ", look.Warn)
	r.AddKept(glyph, glyphInk, look.Selected)
	r.Add(" "+kind+" ", look.Dim)
	from, to := t.idleCells(p, now)
	for i := range t.places {
		switch c := &t.places[i]; {
		case i == from:
			span := t.places[to].x + t.places[to].w - c.x
			if to == len(t.places)-1 {
				span = w - 1 - c.x
			}
			r.Add(widget.Spaces(c.x-r.Cells), "")
			if reason := t.reason(p, now); reason != "" {
				r.AddKept(widget.Fit(reason, span), glyphInk, look.Selected)
				continue
			}
			r.Add(widget.Fit(widget.CommandText(p), span), look.Dim)
		case i < from || i > to:
			t.drawCell(&r, p, c, cursor, now, look)
		}
	}
	return t.finish(&r, w, look)
}

// idleCells are the columns, from one up to another, that have nothing to say of
// a process without a pid. The reason why stands there where there is no column
// of commands; else there are none, and to is less than from.
func (t *Table) idleCells(p *api.Process, now time.Time) (from, to int) {
	from, to = len(t.places), -1
	if p.PID != 0 || !widget.Failed(p) && p.State != api.StateBackoff && p.State != api.StateWaiting {
		return from, to
	}
	for i := range t.places {
		switch c := &t.places[i]; c.column {
		case ColumnState:
			if widget.Width(widget.StateWords(p, now)) > c.w {
				from, to = i, i
			}
		case ColumnPID, ColumnCPU, ColumnMemory, ColumnUp:
			from, to = min(from, i), i
		case ColumnCommand:
			return len(t.places), -1
		}
	}
	return from, to
}

// has reports whether a column is drawn.
func (t *Table) has(c Column) bool {
	return slices.ContainsFunc(t.places, func(p place) bool { return p.column == c })
}

// leastCommand is what a reason leaves of the command before it.
const leastCommand = 12

// drawCommand draws what a process runs and why it does not, if so.
func (t *Table) drawCommand(r *widget.Row, p *api.Process, w int, now time.Time, look *widget.Look) {
	reason := t.reason(p, now)
	command := widget.CommandText(p)
	if reason == "" {
		r.Add(widget.Fit(command, w), look.Dim)
		return
	}
	command = widget.Clip(command, max(w-widget.Width(reason)-columnGap, min(leastCommand, w)))
	r.Add(command, look.Dim)
	r.AddKept(widget.Fit(widget.Spaces(columnGap)+reason, w-widget.Width(command)), widget.StateInk(p, look), look.Selected)
}

// reason is why a process does not simply run, as far as the column of states
// does not say it.
func (t *Table) reason(p *api.Process, now time.Time) string {
	for _, c := range t.places {
		if c.column == ColumnState && widget.Width(widget.StateWords(p, now)) <= c.w {
			return widget.BesideState(p)
		}
	}
	return widget.Reason(p, now)
}

func (t *Table) drawCell(r *widget.Row, p *api.Process, c *place, cursor bool, now time.Time, look *widget.Look) {
	r.Add(widget.Spaces(c.x-r.Cells), "")
	ink := look.Dim
	switch {
	case c.column == ColumnName && cursor:
		ink = look.Current
	case p.State.Ended() && !widget.Failed(p), p.State == widget.StateAway:
	case c.column == ColumnName && p.Kind == api.KindProcess, c.column == ColumnCPU, c.column == ColumnMemory:
		ink = look.Text
	}
	text := c.text(p, now)
	switch {
	case c.column == ColumnState:
		r.AddKept(widget.Fit(text, c.w), widget.StateInk(p, look), look.Selected)
		return
	case c.column == ColumnCommand:
		t.drawCommand(r, p, c.w, now, look)
		return
	case c.column == ColumnCPU && c.w > sparkCells:
		r.Add(widget.PadLeft(widget.Clip(text, c.w-sparkCells-1), c.w-sparkCells-1), ink)
		r.Add(" "+t.spark(p, look), look.Accent)
		return
	}
	text = widget.Clip(text, c.w)
	if c.right {
		text = widget.PadLeft(text, c.w)
	}
	r.Add(widget.Pad(text, c.w), ink)
}

func (t *Table) spark(p *api.Process, look *widget.Look) string {
	if p.Metrics == nil || p.PID == 0 {
		return widget.Spaces(sparkCells)
	}
	return sparkline(cpuPast(p.Metrics), sparkCells, look)
}

// ColumnAt is the column whose name is drawn at column x of the first row.
func (t *Table) ColumnAt(x int) (Column, bool) {
	if x < leadCells {
		return ColumnState, true
	}
	for _, p := range t.places {
		if x >= p.x && x < p.x+p.w {
			return p.column, true
		}
	}
	return 0, false
}
