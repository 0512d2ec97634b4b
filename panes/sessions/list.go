package sessions

import (
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/panes/widget"
)

// A Row is one entry of the session list.
type Row struct {
	Process api.Process
	Branch  string        // how it hangs together with its neighbours: "┌", "│", "└" or ""
	Age     string        // for how long the coding agent in it has done what it does; "" without one
	Tree    *api.Worktree // that it is in; nil for none that is known
	Mark    string        // what it wants to be noticed for beside what its process tells
	Tab     int           // number of its tab, if it is the first session there; 0 if not, or if there is but one tab
	Current bool          // shown in the pane that has, or last had, the keyboard
	Away    bool          // its machine is
	Head    *Head         // of the row of a machine, which is no session
}

// A List is the list of sessions with a cursor. It keeps its place by
// session, not by position, when rows come and go.
type List struct {
	Focused  bool
	Home     string // shown as "~"
	ClearKey string // clears the filter
	Filter   string // what the rows were chosen by, "" for all
	All      int    // how many there are without it

	rows   []Row
	cursor int
	top    int
	names  int  // cells of the column of names
	tabs   bool // there is more than one
	out    []string
}

// SetRows replaces the rows.
func (l *List) SetRows(rows []Row) {
	id := l.Selected()
	l.rows = rows
	l.cursor = min(l.cursor, max(len(rows)-1, 0))
	l.Select(id)
	l.names, l.tabs = 0, false
	for i := range rows {
		l.tabs = l.tabs || rows[i].Tab > 0
		if rows[i].Head == nil {
			l.names = max(l.names, min(widget.Width(widget.Clean(rows[i].Process.Name)), nameCells))
		}
	}
}

// Rows are the rows as they were set.
func (l *List) Rows() []Row { return l.rows }

// Selected is the id of the session under the cursor, "" without one.
func (l *List) Selected() string {
	if l.cursor < len(l.rows) {
		return l.rows[l.cursor].Process.ID
	}
	return ""
}

// Select puts the cursor on a session, if it is there.
func (l *List) Select(id string) {
	for i := range l.rows {
		if l.rows[i].Process.ID == id {
			l.cursor = i
			return
		}
	}
}

// Move moves the cursor, as far as there are rows.
func (l *List) Move(by int) {
	l.cursor = max(min(l.cursor+by, len(l.rows)-1), 0)
}

// At is the id of the session drawn in row y of the list, "" for none.
func (l *List) At(y int) string {
	if i := l.top + y - 1; y >= 1 && i < len(l.rows) {
		return l.rows[i].Process.ID
	}
	return ""
}

// Draw gives h rows of w cells: a heading and the sessions. The slice is valid
// until the next call.
func (l *List) Draw(w, h int, look *widget.Look) []string {
	head := widget.Heading("sessions", "", w, l.Focused, look)
	sign := widget.ListSign{Filter: l.Filter, Shown: sessionRows(l.rows), All: l.All}
	if len(l.rows) > 0 {
		sign.At = max(sessionRows(l.rows[:l.cursor+1]), 1)
	}
	if l.Filter != "" || len(l.rows) > h-1 {
		head = sign.Over(head, w, look)
	}
	l.out = append(l.out[:0], head)
	l.top = widget.Follow(l.top, l.cursor, len(l.rows), h-1)
	for i := l.top; len(l.out) < h; i++ {
		switch {
		case i < len(l.rows):
			l.out = append(l.out, l.drawRow(i, w, look))
		case i == 0 && l.Filter != "":
			l.out = append(l.out, look.Dim.Text(widget.Fit("  "+widget.NothingMatches(w-2, l.ClearKey), w)))
		default:
			l.out = append(l.out, widget.Spaces(w))
		}
	}
	widget.Scrollbar(l.out[min(1, len(l.out)):], w, l.top, len(l.rows), look)
	return l.out
}

// sessionRows is how many of rows are sessions.
func sessionRows(rows []Row) (n int) {
	for i := range rows {
		if rows[i].Head == nil {
			n++
		}
	}
	return n
}

// filterSign is the filter as it is told where the rows are, "" without one.
func (l *List) filterSign() string {
	if l.Filter == "" {
		return ""
	}
	return "/" + widget.Clean(l.Filter)
}

const nameCells = 14 // of a row, at most, before the detail begins

// drawRow draws a row: what hangs together, state, name, detail, mark.
func (l *List) drawRow(i, w int, look *widget.Look) string {
	row := &l.rows[i]
	if row.Head != nil {
		return l.drawHead(i, w, look)
	}
	p := &row.Process
	glyph, glyphInk := widget.SessionGlyph(p, look)
	mark, markInk := rowMark(row, look)
	if mark != "" {
		mark = " " + mark
	}
	tree := ""
	if row.Tree != nil {
		tree = treeSign(row.Tree, look)
	}
	here, branch := " ", row.Branch
	if row.Current {
		here = look.Glyphs.Selected
	}
	if branch == "" {
		branch = " "
	}
	room := max(w-5-widget.Width(mark), 0)
	if cells := widget.Width(tree) + 1; tree != "" && room-cells > l.names {
		room -= cells
		tree = " " + tree
	} else {
		tree = ""
	}
	agent := agentMark(p)
	if agent != "" {
		room = max(room-2, 0) // for the sign at least
	}
	name := widget.Fit(widget.Clean(p.Name), min(l.names, room))
	if agent != "" {
		room += 2
		if agent = widget.Clip(agent, room-widget.Width(name)-1); agent == "…" {
			agent = "@"
		}
		agent = " " + agent
		room -= widget.Width(agent)
	}
	detail, detailInk := "", look.Dim
	if rest := room - widget.Width(name) - 2; rest > 3 {
		detail = "  " + l.detail(row, rest)
	}
	if p.Agent.NeedsAttention() {
		detailInk = glyphInk
	}
	detail = widget.Pad(detail, room-widget.Width(name))
	if l.Focused && i == l.cursor {
		return look.Selected.Text(widget.Fit(here+branch+glyph+" "+name+detail+agent+tree+mark, w))
	}
	nameInk := look.Text
	switch {
	case row.Current:
		nameInk = look.Current
	case p.State.Ended():
		nameInk = look.Dim
	}
	if row.Away {
		glyphInk, nameInk, markInk = look.Dim, look.Dim, look.Dim
	}
	return look.Accent.Text(here) + look.Rule.Text(branch) + glyphInk.Text(glyph) + " " +
		nameInk.Text(name) + detailInk.Text(detail) + look.Info.Text(agent) + look.Warn.Text(tree) + markInk.Text(mark) + " "
}

// drawHead draws the row of a machine: its name and how it is.
func (l *List) drawHead(i, w int, look *widget.Look) string {
	head := l.rows[i].Head
	how := widget.Clip(head.How, max(w-3-min(widget.Width(head.Name), w/2), 0))
	name := " " + widget.Fit(widget.Clean(head.Name), max(w-3-widget.Width(how), 0)) + " "
	if l.Focused && i == l.cursor {
		return look.Selected.Text(widget.Fit(name+how+" ", w))
	}
	ink := look.Strong
	if l.rows[i].Away {
		ink = look.Dim
	}
	return ink.Text(name) + head.Ink.Text(how) + " "
}

// sessionMark is what a session wants to be noticed for.
func sessionMark(p *api.Process, look *widget.Look) (string, widget.Ink) {
	switch {
	case p.State == api.StateStopping:
		return "ending", look.Dim
	case p.State == api.StateExited && p.ExitCode != nil:
		return "exit " + widget.Itoa(*p.ExitCode), look.Bad
	case p.State.Ended() && p.ExitSignal != "":
		return widget.Clean(p.ExitSignal), look.Bad
	case p.State == api.StateFailed:
		return "failed", look.Bad
	case p.Terminal != nil && p.Terminal.Rang && !widget.AgentTells(p):
		return look.Glyphs.Bell + " rang", look.Warn
	case p.Terminal != nil && p.Terminal.Notice != "" && !widget.AgentTells(p):
		return look.Glyphs.Bell, look.Warn
	case p.Terminal != nil && p.Terminal.Progress.State == "error":
		return "failing", look.Bad
	case p.Terminal != nil && p.Terminal.Progress.Percent > 0:
		return widget.Itoa(p.Terminal.Progress.Percent) + " %", look.Info
	}
	return "", look.Dim
}

// agentCells is how much of an agent's name the list shows.
const agentCells = 10

// agentMark is the sign of who started a session, if that was an agent.
func agentMark(p *api.Process) string {
	name, agent := strings.CutPrefix(p.Actor, "agent:")
	if !agent {
		return ""
	}
	name, _, _ = strings.Cut(name, "/")
	return "@" + widget.Clip(widget.Clean(name), agentCells)
}

// rowMark is the mark of a row: that of its process, or its own.
func rowMark(row *Row, look *widget.Look) (string, widget.Ink) {
	if mark, ink := sessionMark(&row.Process, look); mark != "" || row.Mark == "" {
		return mark, ink
	}
	return row.Mark, look.Warn
}

// detail is what tells sessions of the same name apart, in at most w cells: its coding
// agent, the title that the program set, its command, or where it is.
func (l *List) detail(row *Row, w int) string {
	p := &row.Process
	switch {
	case p.Agent != nil:
		return agentText(row, w)
	case p.Terminal != nil && p.Terminal.Notice != "":
		return widget.Clip(widget.Clean(p.Terminal.Notice), w)
	case p.Terminal != nil && p.Terminal.Title != "":
		return widget.Clip(widget.Clean(p.Terminal.Title), w)
	case len(p.Argv) > 1:
		return widget.Clip(widget.CommandText(p), w)
	}
	if row.Tree != nil && row.Tree.Branch != p.Name {
		return widget.Clip(widget.Clean(row.Tree.Branch), w)
	}
	return widget.ClipPath(widget.ShortPath(p.CWD, l.Home), w)
}

// Strip is the list in a single row, for a narrow screen: the names side by
// side, the current one in view, and at the end what the title row of a pane
// would say that has none because it is alone.
func (l *List) Strip(w int, look *widget.Look) string {
	sign := l.stripSign(w)
	w -= widget.Width(sign)
	first := l.stripStart(w, look)
	var b strings.Builder
	used := 0
	for i := first; i < len(l.rows); i++ {
		cell := l.stripCell(i, look)
		n := widget.Width(cell)
		if used+n > w {
			break
		}
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
		used += n
	}
	return b.String() + look.Dim.Text(l.about(w-used)) + look.Warn.Text(sign)
}

// stripSign is the filter at the end of the strip, in less than half of it.
func (l *List) stripSign(w int) string {
	sign := l.filterSign()
	switch {
	case sign == "":
		return ""
	case len(l.rows) == 0:
		sign = "nothing matches " + sign
	}
	return " " + widget.Clip(sign, w/2-2) + " "
}

// about is what there is to know of the current session beside its name, in
// exactly w cells: what its program says or is, and where it is.
func (l *List) about(w int) string {
	i := slices.IndexFunc(l.rows, func(r Row) bool { return r.Current })
	if i < 0 || l.rows[i].Branch != "" || w < leastAbout {
		return widget.Spaces(w)
	}
	p := &l.rows[i].Process
	where, what := widget.ShortPath(p.CWD, l.Home), ""
	switch {
	case p.Terminal != nil && p.Terminal.Title != "":
		what = widget.Clean(p.Terminal.Title)
	case len(p.Argv) > 1:
		what = widget.CommandText(p)
	}
	where = widget.ClipPath(where, w-2)
	if room := w - 2 - widget.Width(where) - 3; what != "" && what != widget.Clean(p.Name) && room > 3 && !strings.Contains(what, where) {
		where = widget.Clip(what, room) + " · " + where
	}
	return widget.PadLeft(where+" ", w)
}

// leastAbout is the room that is worth to be filled behind the names.
const leastAbout = 8

// stripStart is the first row to show so that the one with the cursor fits.
func (l *List) stripStart(w int, look *widget.Look) int {
	first, used := l.cursor, 0
	for first >= 0 && first < len(l.rows) {
		used += widget.Width(l.stripCell(first, look))
		if used > w {
			return min(first+1, l.cursor)
		}
		if first == 0 {
			return 0
		}
		first--
	}
	return 0
}

func (l *List) stripCell(i int, look *widget.Look) string {
	p := &l.rows[i].Process
	glyph, _ := widget.SessionGlyph(p, look)
	mark, _ := rowMark(&l.rows[i], look)
	if mark != "" {
		mark = " " + mark
	}
	if agent := agentMark(p); agent != "" {
		mark = " " + agent + mark
	}
	number := ""
	if n := l.rows[i].Tab; n > 0 {
		number = widget.Itoa(n) + " "
	}
	return " " + number + glyph + " " + widget.Clip(widget.FullName(p), nameCells) + mark + " "
}

// StripAt is the id of the session at column x of the strip.
func (l *List) StripAt(x, w int, look *widget.Look) string {
	w -= widget.Width(l.stripSign(w))
	if x >= w {
		return ""
	}
	for i, used := l.stripStart(w, look), 0; i < len(l.rows); i++ {
		used += widget.Width(l.stripCell(i, look))
		if x < used {
			return l.rows[i].Process.ID
		}
	}
	return ""
}
