package list

import (
	"strings"

	"tandem/engine/api"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// A Row is a row of the session list.
type Row struct {
	Process api.Process
	Branch  string        // lines joining the sessions of a tab: "┌", "│", "└" or ""
	Age     string        // time since the agent's last change of state; "" without one
	Tree    *api.Worktree // its worktree; nil if none is known
	Mark    string        // its own mark, besides that of the process
	Tab     string        // number of its tab, or float, in the row of its first session; "" if there is only one tab
	TabName string        // given to its tab by the user, in the row of its first session
	Current bool          // in the pane with the keyboard, now or last
	Offline bool          // its machine is offline
	Machine *MachineRow   // set in the heading of a machine
}

// A List is the list of sessions with a cursor. The cursor stays on its session, not on its row,
// when rows come and go.
type List struct {
	Focused  bool
	Home     string // shown as "~"
	ClearKey string // key that clears the filter
	Filter   string // "" for all
	All      int    // number of rows without the filter

	rows      []Row
	cursor    int
	top       int
	nameWidth int  // cells of the name column
	tabs      bool // there are several
	out       []string
}

func (l *List) SetRows(rows []Row) {
	// Read the id before the rows are replaced.
	id := l.Selected()
	l.rows = rows
	l.cursor = min(l.cursor, max(len(rows)-1, 0))
	l.Select(id)
	l.nameWidth, l.tabs = 0, false
	for i := range rows {
		l.tabs = l.tabs || rows[i].Tab != ""
		if rows[i].Machine == nil {
			l.nameWidth = max(l.nameWidth, nameCells(&rows[i].Process, text.Clean(rows[i].Process.ShownName()), autoRowCells))
		}
	}
}

func (l *List) Rows() []Row { return l.rows }

// Selected returns the id of the session under the cursor; "" if there is none.
func (l *List) Selected() string {
	if l.cursor < len(l.rows) {
		return l.rows[l.cursor].Process.ID
	}
	return ""
}

// Select moves the cursor to a session, if it is listed.
func (l *List) Select(id string) {
	for i := range l.rows {
		if l.rows[i].Process.ID == id {
			l.cursor = i
			return
		}
	}
}

// Move moves the cursor by a number of rows.
func (l *List) Move(by int) {
	l.cursor = max(min(l.cursor+by, len(l.rows)-1), 0)
}

// MoveFirst moves the cursor to the first session, below the heading of its machine.
func (l *List) MoveFirst() {
	l.cursor = 0
	if len(l.rows) > 1 && l.rows[0].Machine != nil && l.rows[1].Machine == nil {
		l.cursor = 1
	}
}

// SessionAt returns the id of the session drawn in row y, "" for none.
func (l *List) SessionAt(y int) string {
	if i := l.top + y - 1; y >= 1 && i < len(l.rows) {
		return l.rows[i].Process.ID
	}
	return ""
}

// Draw returns h rows of w cells: a heading and the sessions. The slice is valid until the next
// call.
func (l *List) Draw(w, h int, look *look.Look) []string {
	head := look.Heading("sessions", "", w, l.Focused)
	sign := list.ListSign{Filter: l.Filter, Shown: countSessions(l.rows), All: l.All}
	if len(l.rows) > 0 {
		sign.At = max(countSessions(l.rows[:l.cursor+1]), 1)
	}
	if l.Filter != "" || len(l.rows) > h-1 {
		head = sign.Over(head, w, look)
	}
	l.out = append(l.out[:0], head)
	l.top = list.Follow(l.top, l.cursor, len(l.rows), h-1)
	for i := l.top; len(l.out) < h; i++ {
		switch {
		case i < len(l.rows):
			l.out = append(l.out, l.drawRow(i, w, look))
		case i == 0 && l.Filter != "":
			l.out = append(l.out, look.Dim.Text(text.Fit("  "+list.NothingMatches(w-2, l.ClearKey), w)))
		default:
			l.out = append(l.out, text.Spaces(w))
		}
	}
	list.Scrollbar(l.out[min(1, len(l.out)):], w, l.top, len(l.rows), look)
	return l.out
}

// countSessions returns the number of rows with sessions.
func countSessions(rows []Row) (n int) {
	for i := range rows {
		if rows[i].Machine == nil {
			n++
		}
	}
	return n
}

// filterText returns the filter as shown beside the rows; "" if there is none.
func (l *List) filterText() string {
	if l.Filter == "" {
		return ""
	}
	return "/" + text.Clean(l.Filter)
}

const (
	maxNameCells  = 14 // at most, before the detail
	autoNameCells = 12 // for most commands, in the strip and the tab bar
	autoRowCells  = 9  // in the list, where folders and agents must fit beside them
)

// isAutoNamed reports whether a session is shown under the name of the program that runs in it.
func isAutoNamed(p *api.Process) bool { return p.Terminal != nil && p.Terminal.AutoNamed }

// nameCells returns the width of a session's name in the list. For an automatic name it is always
// auto, so that nothing moves when a command starts or exits.
func nameCells(p *api.Process, name string, auto int) int {
	if isAutoNamed(p) {
		return auto
	}
	return min(text.Width(name), maxNameCells)
}

// drawRow draws the branch, state, name, detail and mark of a session.
func (l *List) drawRow(i, w int, look *look.Look) string {
	row := &l.rows[i]
	if row.Machine != nil {
		return l.drawMachine(i, w, look)
	}
	p := &row.Process
	glyph, glyphInk := states.SessionGlyph(p, look)
	mark, markInk := rowMark(row, look)
	if mark != "" {
		mark = " " + mark
	}
	tree := ""
	if row.Tree != nil {
		tree = worktreeMark(row.Tree, look)
	}
	here, branch := " ", row.Branch
	if row.Current {
		here = look.Glyphs.Selected
	}
	if branch == "" {
		branch = " "
	}
	room := max(w-5-text.Width(mark), 0)
	// The worktree's mark must not shorten the names.
	if cells := text.Width(tree) + 1; tree != "" && room-cells > l.nameWidth {
		room -= cells
		tree = " " + tree
	} else {
		tree = ""
	}
	agent := agentMark(p)
	if agent != "" {
		room = max(room-2, 0) // at least for the sign
	}
	name := text.Fit(text.Clean(p.ShownName()), min(l.nameWidth, room))
	if agent != "" {
		room += 2
		if agent = text.Clip(agent, room-text.Width(name)-1); agent == "…" {
			agent = "@"
		}
		agent = " " + agent
		room -= text.Width(agent)
	}
	detail, detailInk := "", look.Dim
	if rest := room - text.Width(name) - 2; rest > 3 {
		detail = "  " + l.detailText(row, rest)
	}
	if p.Agent.NeedsAttention() {
		detailInk = glyphInk
	}
	detail = text.Pad(detail, room-text.Width(name))
	if l.Focused && i == l.cursor {
		return look.Selected.Text(text.Fit(here+branch+glyph+" "+name+detail+agent+tree+mark, w))
	}
	nameInk := look.Text
	switch {
	case row.Current:
		nameInk = look.Current
	case p.State.Ended():
		nameInk = look.Dim
	}
	if row.Offline {
		glyphInk, nameInk, markInk = look.Dim, look.Dim, look.Dim
	}
	return look.Accent.Text(here) + look.Rule.Text(branch) + glyphInk.Text(glyph) + " " +
		nameInk.Text(name) + detailInk.Text(detail) + look.Info.Text(agent) + look.Warn.Text(tree) + markInk.Text(mark) + " "
}

// drawMachine draws the heading of a machine.
func (l *List) drawMachine(i, w int, look *look.Look) string {
	head := l.rows[i].Machine
	how := text.Clip(head.Status, max(w-3-min(text.Width(head.Name), w/2), 0))
	name := " " + text.Fit(text.Clean(head.Name), max(w-3-text.Width(how), 0)) + " "
	if l.Focused && i == l.cursor {
		return look.Selected.Text(text.Fit(name+how+" ", w))
	}
	ink := look.Strong
	if l.rows[i].Offline {
		ink = look.Dim
	}
	return ink.Text(name) + head.Ink.Text(how) + " "
}

// sessionMark returns the mark for a session's state; "" if the state needs none.
func sessionMark(p *api.Process, look *look.Look) (string, look.Ink) {
	switch {
	case p.Interrupted != nil:
		return p.Interrupted.By, look.Info
	case p.State == api.StateStopping:
		return "stopping", look.Dim
	case p.State == api.StateExited && p.ExitCode != nil:
		return "exit " + text.Itoa(*p.ExitCode), look.Bad
	case p.State.Ended() && p.ExitSignal != "":
		return text.Clean(p.ExitSignal), look.Bad
	case p.State == api.StateFailed:
		return "failed", look.Bad
	case p.Terminal != nil && p.Terminal.Rang && !states.AgentTells(p):
		return look.Glyphs.Bell + " rang", look.Warn
	case p.Terminal != nil && p.Terminal.Notice != "" && !states.AgentTells(p):
		return look.Glyphs.Bell, look.Warn
	case p.Terminal != nil && p.Terminal.Progress.State == "error":
		return "failing", look.Bad
	case p.Terminal != nil && p.Terminal.Progress.Percent > 0:
		return text.Itoa(p.Terminal.Progress.Percent) + " %", look.Info
	case p.Terminal != nil && p.Terminal.Keyboard != "" && !p.State.Ended():
		return "locked", look.Info // to agents' typing
	case p.IsPrivate() && !p.State.Ended():
		return "private", look.Info
	}
	return "", look.Dim
}

// maxAgentCells is the maximum width of an agent's name.
const maxAgentCells = 10

// agentMark returns the name of the agent that started a session, with an @; "" if no agent did.
func agentMark(p *api.Process) string {
	name, agent := strings.CutPrefix(p.Actor, "agent:")
	if !agent {
		return ""
	}
	name, _, _ = strings.Cut(name, "/")
	return "@" + text.Clip(text.Clean(name), maxAgentCells)
}

// rowMark returns the mark for the state of the row's session or, if there is none, the mark about
// something the user has not seen.
func rowMark(row *Row, look *look.Look) (string, look.Ink) {
	if mark, ink := sessionMark(&row.Process, look); mark != "" || row.Mark == "" {
		return mark, ink
	}
	return row.Mark, look.Warn
}

// detailText returns the text that distinguishes sessions of the same name, in at most w cells: the
// coding agent, the title set by the program, the command or the directory.
func (l *List) detailText(row *Row, w int) string {
	p := &row.Process
	switch {
	case p.Interrupted != nil && p.Interrupted.Program != "":
		return text.Clip(text.Clean(p.Interrupted.Program), w)
	case p.Agent != nil:
		return agentText(row, w)
	case p.Terminal != nil && p.Terminal.Notice != "":
		return text.Clip(text.Clean(p.Terminal.Notice), w)
	case p.Terminal != nil && p.Terminal.Title != "" && p.Terminal.Title != p.ShownName():
		return text.Clip(text.Clean(p.Terminal.Title), w)
	case len(p.Argv) > 1:
		return text.Clip(states.CommandText(p), w)
	}
	if row.Tree != nil && row.Tree.Branch != p.Name {
		return text.Clip(text.Clean(row.Tree.Branch), w)
	}
	return text.ClipPath(text.ShortPath(p.CWD, l.Home), w)
}
