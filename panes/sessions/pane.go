package sessions

import (
	"iter"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
)

// A Pane is the list of sessions: what is done to the one that is meant, and what
// the person is told of those out of sight.
type Pane struct {
	Agents Agents
	Trees  Trees

	env     Env
	list    List
	actions panes.Actions
	shown   bool
	w, h    int

	tabs    [][]string // sessions in the order of their tabs
	current string     // the one that has the keyboard, or had it last
	filter  string
	Floats  bool // the last of the tabs floats over the others

	closed    map[string]bool // ended sessions that the person has put away
	ending    map[string]bool // sessions that were asked to end here
	attention attention
	told      tea.Cmd // what follows from what was told, for Fetch
}

// New makes the list.
func New(env Env) *Pane {
	p := &Pane{env: env, closed: map[string]bool{}, ending: map[string]bool{}}
	p.Agents.p, p.Trees.p = p, p
	p.actions = p.makeActions()
	return p
}

// News tells of what has become of sessions.
func (p *Pane) HandleNews(before *panes.News) {
	p.Trees.due = true
	if before.Snapshots == 0 {
		p.Agents.tell(true)
		return
	}
	p.told = tea.Batch(p.told, p.tellNews(before.Processes, time.Now()), p.Trees.tellEnded(before))
}

// Fetch asks for what the inbox shows, if it is open, and for worktrees. Sessions come as
// news; what was told of them goes away by itself.
func (p *Pane) Fetch() tea.Cmd {
	told := p.told
	p.told = nil
	return tea.Batch(told, p.Agents.fetch(), p.Trees.fetch())
}

// Actions are what the keys of the list do, and those that are about the session
// that is meant.
func (p *Pane) Actions() panes.Actions { return p.actions }

func (p *Pane) makeActions() panes.Actions {
	move := func(rows func() int) func() tea.Cmd {
		return func() tea.Cmd {
			if p.shown {
				p.list.Move(rows())
			}
			return nil
		}
	}
	by := func(rows int) func() tea.Cmd { return move(func() int { return rows }) }
	return panes.Actions{
		keymap.MoveDown: by(1), keymap.MoveUp: by(-1), keymap.MoveFirst: by(-panes.AllRows), keymap.MoveLast: by(panes.AllRows),
		keymap.MovePageDown: move(func() int { return p.page() }),
		keymap.MovePageUp:   move(func() int { return -p.page() }),
		keymap.Open:         p.openSelected,
		keymap.Filter:       p.askFilter,
		keymap.Clear:        p.clearFilter,

		keymap.SessionWaiting:  p.Agents.next,
		keymap.Inbox:           p.Agents.ShowInbox,
		keymap.SessionTree:     p.Trees.askTarget,
		keymap.SessionRename:   p.askName,
		keymap.SessionKill:     p.AskEnd,
		keymap.SessionDelete:   p.askForget,
		keymap.SessionKeyboard: p.toggleKeyboard,
		keymap.SessionOpen:     p.toggleOpen,
	}
}

func (p *Pane) page() int { return max(p.h-2, 1) }

// openSelected shows the session under the cursor. One that has ended gets a pane
// that says how.
func (p *Pane) openSelected() tea.Cmd {
	switch {
	case !p.shown:
		return nil
	case len(p.list.Rows()) == 0:
		return p.env.Open("")
	case p.list.Selected() == "":
		return nil
	}
	return p.env.Open(p.list.Selected())
}

// Type and Paste take nothing: the filter is a dialog.
func (p *Pane) Type(tea.KeyPressMsg) tea.Cmd { return nil }
func (p *Pane) Paste(string) tea.Cmd         { return nil }

// Mouse opens the session that is clicked on; a click beside the rows gives the
// list the keyboard.
func (p *Pane) Mouse(e keys.Mouse) tea.Cmd {
	switch {
	case e.Button == keys.WheelUp:
		p.list.Move(-1)
	case e.Button == keys.WheelDown:
		p.list.Move(1)
	case widget.LeftDown(e):
		id := p.at(e.X, e.Y)
		if id == "" && p.list.Focused {
			return nil
		}
		if id == "" {
			return p.env.FocusList()
		}
		return p.env.Open(id)
	}
	return nil
}

// at is the session that is drawn at a cell.
func (p *Pane) at(x, y int) string {
	if p.h == 1 {
		return p.list.StripAt(x, p.w, p.env.Look())
	}
	return p.list.At(y)
}

// Scopes are those of the list.
func (p *Pane) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopeSessions, keymap.ScopeList} }

// Hints are those of the scopes.
func (p *Pane) Hints() ([]panes.Hint, bool) { return nil, false }

// Empty reports whether the list has no rows.
func (p *Pane) Empty() bool { return len(p.list.Rows()) == 0 }

// Selected returns the id of the session under the cursor, or "" if there is none.
func (p *Pane) Selected() string { return p.list.Selected() }

// Note says what the rows were chosen by, and who may type.
func (p *Pane) Note() (string, widget.Ink) {
	ink := p.env.Look().BarWarn
	if p.filter != "" && p.list.Focused {
		return "showing sessions with “" + widget.Clean(p.filter) + "”", ink
	}
	return p.keyboardNote(), ink
}

// Resize gives the list its size; a single row of height makes it a strip, which has
// no rows for machines.
func (p *Pane) Resize(w, h int) {
	strip := p.h == 1
	p.w, p.h = w, h
	if strip != (h == 1) {
		p.Refresh()
	}
}

// Draw gives the rows of the list.
func (p *Pane) Draw() []string {
	if p.h == 1 {
		return []string{p.list.Strip(p.w, p.env.Look())}
	}
	p.list.ClearKey = panes.KeyOf(p.env.Bindings(), keymap.Clear, keymap.ScopeSessions, keymap.ScopeList)
	return p.list.Draw(p.w, p.h, p.env.Look())
}

// Cursor is none.
func (p *Pane) Cursor() *tea.Cursor { return nil }

// Show and Hide say whether the list is on the screen, or could be.
func (p *Pane) Show() { p.shown, p.Trees.due = true, true }
func (p *Pane) Hide() { p.shown = false }

// Focus says whether the list has the keyboard.
func (p *Pane) Focus(on bool) { p.list.Focused = on }

// SetTabs says which sessions lie in which tabs, and which of them has the
// keyboard or had it last.
func (p *Pane) SetTabs(tabs [][]string, current string) {
	p.tabs, p.current = tabs, current
	p.Refresh()
}

// Refresh makes the rows anew: sessions in the order of their tabs, then those
// that ended badly.
func (p *Pane) Refresh() {
	p.seeMarks()
	p.Agents.look()
	news := p.env.News()
	var rows []Row
	inTab := map[string]bool{}
	for at, ids := range p.tabs {
		for id, place := range places(ids) {
			inTab[id] = true
			number := 0
			if place.i == 0 && len(p.tabs) > 1 && !p.floats(at) {
				number = at + 1
			}
			if session, ok := news.Process(id); ok {
				row := p.Agents.row(session)
				row.Branch, row.Tab, row.Current = branch(place.i, place.n), number, id == p.current
				rows = append(rows, row)
			}
		}
	}
	rows = append(rows, p.elsewhereRows(inTab)...)
	rows = append(rows, p.endedRows(inTab)...)
	p.list.All = len(rows)
	rows = p.grouped(slices.DeleteFunc(rows, func(r Row) bool {
		return !matches(r.Process, p.filter)
	}))
	p.list.Home, p.list.Filter = p.env.Home(), p.filter
	p.list.SetRows(rows)
	if !p.list.Focused {
		p.list.Select(p.current)
	}
	p.Agents.ageAgain()
}

// floats reports whether a tab floats over the others.
func (p *Pane) floats(i int) bool { return p.Floats && i == len(p.tabs)-1 }

// A place is that of a session among those of its machine in a tab.
type place struct{ i, n int }

// places are the sessions of a tab with their places.
func places(ids []string) iter.Seq2[string, place] {
	return func(yield func(string, place) bool) {
		count := map[string]int{}
		for _, id := range ids {
			machine, _ := api.MachineOf(id)
			count[machine]++
		}
		seen := map[string]int{}
		for _, id := range ids {
			machine, _ := api.MachineOf(id)
			if !yield(id, place{seen[machine], count[machine]}) {
				return
			}
			seen[machine]++
		}
	}
}

// elsewhereRows are the sessions of other machines that are in no tab: those get
// one when they are opened.
func (p *Pane) elsewhereRows(inTab map[string]bool) (rows []Row) {
	for _, session := range p.env.News().Processes {
		machine, _ := api.MachineOf(session.ID)
		if machine != "" && session.Kind == api.KindSession && !session.State.Ended() && !inTab[session.ID] {
			rows = append(rows, p.Agents.row(session))
		}
	}
	return rows
}

func branch(i, n int) string {
	switch {
	case n == 1:
		return ""
	case i == 0:
		return "┌"
	case i == n-1:
		return "└"
	}
	return "│"
}

// maxEndedRows is how many sessions that ended badly the list shows.
const maxEndedRows = 20

// endedRows are the newest sessions that ended badly and are in no tab.
func (p *Pane) endedRows(inTab map[string]bool) []Row {
	var rows []Row
	for _, session := range slices.Backward(p.env.News().Processes) {
		if len(rows) == maxEndedRows {
			break
		}
		if session.Kind == api.KindSession && widget.Failed(&session) && !p.closed[session.ID] && !inTab[session.ID] {
			rows = append(rows, Row{Process: session})
		}
	}
	return rows
}
