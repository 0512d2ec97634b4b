package panes

import (
	"path"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
)

// A SessionRow is one entry of the session list.
type SessionRow struct {
	Process api.Process
	Branch  string // how it hangs together with its neighbours: "┌", "│", "└" or ""
	Mark    string // what it wants to be noticed for beside what its process tells
	Current bool   // shown in the pane that has, or last had, the keyboard
}

// A SessionList is the list of sessions with a cursor. It keeps its place by
// session, not by position, when rows come and go.
type SessionList struct {
	Focused bool
	Home    string // shown as "~"
	Filter  string // what the rows were chosen by, "" for all

	rows   []SessionRow
	cursor int
	top    int
	names  int // cells of the column of names
	out    []string
}

// SetRows replaces the rows.
func (l *SessionList) SetRows(rows []SessionRow) {
	id := l.Selected()
	l.rows = rows
	l.cursor = min(l.cursor, max(len(rows)-1, 0))
	l.Select(id)
	l.names = 0
	for i := range rows {
		l.names = max(l.names, min(Width(Clean(rows[i].Process.Name)), nameCells))
	}
}

// Rows are the rows as they were set.
func (l *SessionList) Rows() []SessionRow { return l.rows }

// Selected is the id of the session under the cursor, "" without one.
func (l *SessionList) Selected() string {
	if l.cursor < len(l.rows) {
		return l.rows[l.cursor].Process.ID
	}
	return ""
}

// Select puts the cursor on a session, if it is there.
func (l *SessionList) Select(id string) {
	for i := range l.rows {
		if l.rows[i].Process.ID == id {
			l.cursor = i
			return
		}
	}
}

// Move moves the cursor, as far as there are rows.
func (l *SessionList) Move(by int) {
	l.cursor = max(min(l.cursor+by, len(l.rows)-1), 0)
}

// At is the id of the session drawn in row y of the list, "" for none.
func (l *SessionList) At(y int) string {
	if i := l.top + y - 1; y >= 1 && i < len(l.rows) {
		return l.rows[i].Process.ID
	}
	return ""
}

// Draw gives h rows of w cells: a heading and the sessions. The slice is valid
// until the next call.
func (l *SessionList) Draw(w, h int, look *Look) []string {
	l.out = append(l.out[:0], Heading("sessions", l.filterSign(), w, l.Focused, look))
	l.follow(h - 1)
	for i := l.top; len(l.out) < h; i++ {
		switch {
		case i < len(l.rows):
			l.out = append(l.out, l.drawRow(i, w, look))
		case i == 0 && l.Filter != "":
			l.out = append(l.out, look.Dim.Text(Fit("  "+nothingMatches, w)))
		default:
			l.out = append(l.out, Spaces(w))
		}
	}
	return l.out
}

const nothingMatches = "nothing matches"

// filterSign is the filter as it is told where the rows are, "" without one.
func (l *SessionList) filterSign() string {
	if l.Filter == "" {
		return ""
	}
	return "/" + Clean(l.Filter)
}

// follow keeps the cursor among the n visible rows.
func (l *SessionList) follow(n int) {
	if l.cursor < l.top {
		l.top = l.cursor
	}
	if n > 0 && l.cursor >= l.top+n {
		l.top = l.cursor - n + 1
	}
	l.top = max(min(l.top, len(l.rows)-n), 0)
}

const nameCells = 14 // of a row, at most, before the detail begins

// drawRow draws a row: what hangs together, state, name, detail, mark.
func (l *SessionList) drawRow(i, w int, look *Look) string {
	row := &l.rows[i]
	p := &row.Process
	glyph, glyphInk := StateGlyph(p, look)
	mark, markInk := rowMark(row, look)
	if mark != "" {
		mark = " " + mark
	}
	here, branch := " ", row.Branch
	if row.Current {
		here = look.Glyphs.Selected
	}
	if branch == "" {
		branch = " "
	}
	room := max(w-5-Width(mark), 0)
	agent := agentMark(p)
	if agent != "" {
		room = max(room-2, 0) // for the sign at least
	}
	name := Fit(Clean(p.Name), min(l.names, room))
	if agent != "" {
		room += 2
		if agent = Clip(agent, room-Width(name)-1); agent == "…" {
			agent = "@"
		}
		agent = " " + agent
		room -= Width(agent)
	}
	detail := ""
	if rest := room - Width(name) - 2; rest > 3 {
		detail = "  " + l.detail(p, rest)
	}
	detail = Pad(detail, room-Width(name))
	if l.Focused && i == l.cursor {
		return look.Selected.Text(Fit(here+branch+glyph+" "+name+detail+agent+mark, w))
	}
	nameInk := look.Text
	switch {
	case row.Current:
		nameInk = look.Current
	case p.State.Ended():
		nameInk = look.Dim
	}
	return look.Accent.Text(here) + look.Rule.Text(branch) + glyphInk.Text(glyph) + " " +
		nameInk.Text(name) + look.Dim.Text(detail) + look.Info.Text(agent) + markInk.Text(mark) + " "
}

// StateGlyph is the sign of a process's state and its ink.
func StateGlyph(p *api.Process, look *Look) (string, Ink) {
	glyph := look.Glyphs.State(string(p.State))
	switch {
	case Failed(p):
		return look.Glyphs.Failed, look.Bad
	case p.State == api.StateRunning && p.Terminal != nil && p.Terminal.Rang:
		return glyph, look.Warn
	case p.State == api.StateRunning:
		return glyph, look.Good
	case p.State.Ended():
		return glyph, look.Dim
	}
	return glyph, look.Warn
}

// Failed reports whether a process ended by itself and not well, as far as
// anybody knows.
func Failed(p *api.Process) bool {
	switch p.State {
	case api.StateFailed:
		return true
	case api.StateExited:
		return p.ExitCode == nil || *p.ExitCode != 0 && !leftShell(p)
	}
	return false
}

// shellStart is how long a shell lives at least when it was not its own start
// that failed.
const shellStart = 3 * time.Second

// leftShell reports whether p is an interactive shell that somebody left: its
// exit status is that of the last command in it and tells nothing of the shell.
func leftShell(p *api.Process) bool {
	if p.Kind != api.KindSession || len(p.Argv) == 0 || p.ExitedAt == nil || p.ExitedAt.Sub(p.StartedAt) < shellStart {
		return false
	}
	for _, arg := range p.Argv[1:] {
		if arg != "-l" && arg != "-i" && arg != "--login" && arg != "-il" && arg != "-li" {
			return false
		}
	}
	switch path.Base(p.Argv[0]) {
	case "bash", "zsh", "fish", "sh", "dash", "ksh", "mksh", "ash":
		return true
	}
	return false
}

// sessionMark is what a session wants to be noticed for.
func sessionMark(p *api.Process, look *Look) (string, Ink) {
	switch {
	case p.State == api.StateStopping:
		return "ending", look.Dim
	case p.State == api.StateExited && p.ExitCode != nil:
		return "exit " + itoa(*p.ExitCode), look.Bad
	case p.State.Ended() && p.ExitSignal != "":
		return Clean(p.ExitSignal), look.Bad
	case p.State == api.StateFailed:
		return "failed", look.Bad
	case p.Terminal != nil && p.Terminal.Rang:
		return look.Glyphs.Bell + " rang", look.Warn
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
	return "@" + Clip(Clean(name), agentCells)
}

// rowMark is the mark of a row: that of its process, or its own.
func rowMark(row *SessionRow, look *Look) (string, Ink) {
	if mark, ink := sessionMark(&row.Process, look); mark != "" || row.Mark == "" {
		return mark, ink
	}
	return row.Mark, look.Warn
}

// detail is what tells sessions of the same name apart, in at most w cells: the
// title that the program set, its command, or where it is.
func (l *SessionList) detail(p *api.Process, w int) string {
	switch {
	case p.Terminal != nil && p.Terminal.Title != "":
		return Clip(Clean(p.Terminal.Title), w)
	case len(p.Argv) > 1:
		return Clip(CommandText(p), w)
	}
	return clipPath(ShortPath(p.CWD, l.Home), w)
}

// Strip is the list in a single row, for a narrow screen: the names side by
// side, the current one in view, and at the end what the title row of a pane
// would say that has none because it is alone.
func (l *SessionList) Strip(w int, look *Look) string {
	sign := l.stripSign(w)
	w -= Width(sign)
	first := l.stripStart(w, look)
	var b strings.Builder
	used := 0
	for i := first; i < len(l.rows); i++ {
		cell := l.stripCell(i, look)
		n := Width(cell)
		if used+n > w {
			break
		}
		ink := look.Dim
		if l.rows[i].Current {
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
func (l *SessionList) stripSign(w int) string {
	sign := l.filterSign()
	switch {
	case sign == "":
		return ""
	case len(l.rows) == 0:
		sign = nothingMatches + " " + sign
	}
	return " " + Clip(sign, w/2-2) + " "
}

// about is what there is to know of the current session beside its name, in
// exactly w cells: what its program says or is, and where it is.
func (l *SessionList) about(w int) string {
	i := slices.IndexFunc(l.rows, func(r SessionRow) bool { return r.Current })
	if i < 0 || l.rows[i].Branch != "" || w < leastAbout {
		return Spaces(w)
	}
	p := &l.rows[i].Process
	where, what := ShortPath(p.CWD, l.Home), ""
	switch {
	case p.Terminal != nil && p.Terminal.Title != "":
		what = Clean(p.Terminal.Title)
	case len(p.Argv) > 1:
		what = CommandText(p)
	}
	where = clipPath(where, w-2)
	if room := w - 2 - Width(where) - 3; what != "" && what != Clean(p.Name) && room > 3 && !strings.Contains(what, where) {
		where = Clip(what, room) + " · " + where
	}
	return padLeft(where+" ", w)
}

// leastAbout is the room that is worth to be filled behind the names.
const leastAbout = 8

// stripStart is the first row to show so that the one with the cursor fits.
func (l *SessionList) stripStart(w int, look *Look) int {
	first, used := l.cursor, 0
	for first >= 0 && first < len(l.rows) {
		used += Width(l.stripCell(first, look))
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

func (l *SessionList) stripCell(i int, look *Look) string {
	p := &l.rows[i].Process
	glyph, _ := StateGlyph(p, look)
	mark, _ := rowMark(&l.rows[i], look)
	if mark != "" {
		mark = " " + mark
	}
	if agent := agentMark(p); agent != "" {
		mark = " " + agent + mark
	}
	return " " + glyph + " " + Clip(Clean(p.Name), nameCells) + mark + " "
}

// StripAt is the id of the session at column x of the strip.
func (l *SessionList) StripAt(x, w int, look *Look) string {
	w -= Width(l.stripSign(w))
	if x >= w {
		return ""
	}
	for i, used := l.stripStart(w, look), 0; i < len(l.rows); i++ {
		used += Width(l.stripCell(i, look))
		if x < used {
			return l.rows[i].Process.ID
		}
	}
	return ""
}
