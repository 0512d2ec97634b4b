package list

import (
	"iter"
	"maps"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A Pane is the list of sessions. It handles the actions on sessions, and shows notes about hidden
// ones.
type Pane struct {
	Agents   Agents
	Trees    Trees
	Restorer Restorer

	env     Env
	list    List
	actions panes.Actions
	shown   bool
	w, h    int

	tabs     [][]string // sessions by tab, in order
	current  string     // the session with the keyboard, now or last
	filter   string
	TabNames []string // those given by the user, by tab; "" for none
	HasFloat bool     // the last of the tabs floats over the others

	stopping  map[string]time.Time // start of the run of each session stopped by the user here; zero if unknown
	attention attention
	queued    tea.Cmd // commands for the next Fetch
}

func New(env Env) *Pane {
	p := &Pane{env: env, stopping: map[string]time.Time{}}
	p.Agents = Agents{p: p, reported: map[string]api.CodingAgent{}, seen: map[string]time.Time{}}
	p.Trees = Trees{p: p, killed: map[string]bool{}, asked: map[string]time.Time{}}
	p.Restorer = Restorer{env: env, target: p.targetSession, restoring: map[string]bool{}, automatic: map[string]time.Time{}}
	p.attention.marks = map[string]string{}
	p.actions = p.makeActions()
	return p
}

// HandleNews reports changes of sessions.
func (p *Pane) HandleNews(before *panes.News) {
	p.Trees.stale = true
	// On the first connection everything is new, so nothing deserves a note.
	if before.Snapshots == 0 {
		p.Agents.collectNews(true)
		return
	}
	p.queued = tea.Batch(p.queued, p.reportNews(before, time.Now()), p.Trees.handleExits(before))
	maps.DeleteFunc(p.Trees.killed, func(id string, _ bool) bool {
		session, ok := p.env.News().Process(id)
		return !ok || session.State.Ended()
	})
}

// Fetch loads missing data for the inbox and the worktrees. Sessions themselves arrive as events.
func (p *Pane) Fetch() tea.Cmd {
	queued := p.queued
	p.queued = nil
	return tea.Batch(queued, p.Agents.fetchInbox(), p.Trees.fetchTrees())
}

// Actions returns the handlers of the actions on the list and on the target session; see
// targetSession.
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
		keymap.MoveDown: by(1), keymap.MoveUp: by(-1), keymap.MoveLast: by(panes.AllRows),
		keymap.MoveFirst: func() tea.Cmd {
			if p.shown {
				p.list.MoveFirst()
			}
			return nil
		},
		keymap.MovePageDown: move(func() int { return p.pageRows() }),
		keymap.MovePageUp:   move(func() int { return -p.pageRows() }),
		keymap.Open:         p.openSelected,
		keymap.Filter:       p.askFilter,
		keymap.Clear:        p.clearFilter,

		keymap.SessionWaiting:  p.Agents.visitNext,
		keymap.Inbox:           p.Agents.ShowInbox,
		keymap.SessionTree:     p.Trees.askTarget,
		keymap.SessionRename:   p.askName,
		keymap.SessionKill:     p.AskKill,
		keymap.SessionDelete:   p.askDelete,
		keymap.SessionKeyboard: p.toggleKeyboard,
		keymap.SessionOpen:     p.toggleSandboxAccess,

		keymap.SessionRestore:    p.Restorer.restoreTarget,
		keymap.SessionRestoreAll: p.Restorer.restoreAll,
		keymap.SessionDismiss:    p.Restorer.dismissTarget,
	}
}

func (p *Pane) pageRows() int { return max(p.h-2, 1) }

// openSelected shows the session under the cursor. An interrupted session is restored. The pane of
// an exited session shows how it exited.
func (p *Pane) openSelected() tea.Cmd {
	switch {
	case !p.shown:
		return nil
	case len(p.list.Rows()) == 0:
		return p.env.Open("")
	case p.Restorer.Offers(p.list.Selected()):
		return tea.Batch(p.env.Open(p.list.Selected()), p.Restorer.Restore(p.list.Selected()))
	case p.list.Selected() == "":
		return nil
	}
	return p.env.Open(p.list.Selected())
}

// Mouse opens a clicked session. A click outside the rows gives the list the keyboard.
func (p *Pane) Mouse(e keys.Mouse) tea.Cmd {
	switch {
	case e.Button == keys.WheelUp:
		p.list.Move(-1)
	case e.Button == keys.WheelDown:
		p.list.Move(1)
	case e.IsLeftDown():
		id := p.sessionAt(e.X, e.Y)
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

// sessionAt returns the session drawn at a cell.
func (p *Pane) sessionAt(x, y int) string {
	if p.h == 1 {
		return p.list.StripAt(x, p.w, p.env.Look())
	}
	return p.list.SessionAt(y)
}

func (p *Pane) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopeSessions, keymap.ScopeList} }

func (p *Pane) IsEmpty() bool { return len(p.list.Rows()) == 0 }

// Selected returns the id of the session under the cursor, or "" if there is none.
func (p *Pane) Selected() string { return p.list.Selected() }

// Note returns the filter if the list has the keyboard and, without a filter, who may type into the
// target session.
func (p *Pane) Note() (string, look.Ink) {
	ink := p.env.Look().BarWarn
	if p.filter != "" && p.list.Focused {
		return "showing sessions with “" + text.Clean(p.filter) + "”", ink
	}
	return p.keyboardNote(), ink
}

// Resize sets the size of the list. With a height of 1 it is a strip, without headings for
// machines.
func (p *Pane) Resize(w, h int) {
	strip := p.h == 1
	p.w, p.h = w, h
	if strip != (h == 1) {
		p.Refresh()
	}
}

func (p *Pane) Draw() []string {
	if p.h == 1 {
		return []string{p.list.DrawStrip(p.w, p.env.Look())}
	}
	p.list.ClearKey = p.env.Bindings().KeyOf(keymap.Clear, keymap.ScopeSessions, keymap.ScopeList)
	return p.list.Draw(p.w, p.h, p.env.Look())
}

func (p *Pane) Show() { p.shown, p.Trees.stale = true, true }
func (p *Pane) Hide() { p.shown = false }

// Focus sets whether the list has the keyboard.
func (p *Pane) Focus(on bool) { p.list.Focused = on }

// SetTabs sets the sessions of each tab. current is the session that has the keyboard or had it
// last.
func (p *Pane) SetTabs(tabs [][]string, current string) {
	p.tabs, p.current = tabs, current
	p.Refresh()
}

// Refresh rebuilds the rows: sessions in the order of their tabs, then failed ones.
func (p *Pane) Refresh() {
	p.clearSeenMarks()
	p.Agents.countAgents()
	processes := p.env.News().ByID()
	rows, inTab := make([]Row, 0, len(processes)), make(map[string]bool, len(processes))
	for at, ids := range p.tabs {
		number := p.tabNumber(at)
		for id, place := range tabPlaces(ids) {
			inTab[id] = true
			if session := processes[id]; session != nil {
				row := p.Agents.makeRow(*session)
				if place.i == 0 && at < len(p.TabNames) {
					row.TabName = text.Clean(p.TabNames[at])
				}
				row.Branch, row.Tab, row.Current = branchGlyph(place.i, place.n), number, id == p.current
				rows, number = append(rows, row), ""
			}
		}
	}
	rows = append(rows, p.remoteRows(inTab)...)
	rows = append(rows, p.listFailed(inTab)...)
	p.list.All = len(rows)
	if p.filter != "" {
		rows = slices.DeleteFunc(rows, func(r Row) bool { return !matchesFilter(r.Process, p.filter) })
	}
	rows = p.groupByMachine(rows)
	p.list.Home, p.list.Filter = p.env.Home(), p.filter
	p.list.SetRows(rows)
	// While the list does not have the keyboard, its cursor follows the current session.
	if !p.list.Focused {
		p.list.Select(p.current)
	}
	p.Agents.scheduleAges()
}

// tabNumber returns what the strip shows before the first session of tab i: the number of the tab,
// if there are several.
func (p *Pane) tabNumber(i int) string {
	switch {
	case p.isFloating(i):
		return "float"
	case len(p.tabs) > 1:
		return text.Itoa(i + 1)
	}
	return ""
}

// isFloating reports whether a tab floats over the others.
func (p *Pane) isFloating(i int) bool { return p.HasFloat && i == len(p.tabs)-1 }

// A tabPlace is the position of a session in a tab: i, from 0, among the n sessions of its machine.
type tabPlace struct{ i, n int }

// tabPlaces yields the sessions of a tab with their places.
func tabPlaces(ids []string) iter.Seq2[string, tabPlace] {
	return func(yield func(string, tabPlace) bool) {
		if len(ids) == 1 { // most tabs need no counting
			yield(ids[0], tabPlace{0, 1})
			return
		}
		count := map[string]int{}
		for _, id := range ids {
			machine, _ := api.MachineOf(id)
			count[machine]++
		}
		seen := map[string]int{}
		for _, id := range ids {
			machine, _ := api.MachineOf(id)
			if !yield(id, tabPlace{seen[machine], count[machine]}) {
				return
			}
			seen[machine]++
		}
	}
}

// remoteRows returns the rows of other machines' sessions that are in no tab. They get a tab when
// they are opened.
func (p *Pane) remoteRows(inTab map[string]bool) (rows []Row) {
	for _, session := range p.env.News().Processes {
		machine, _ := api.MachineOf(session.ID)
		if machine != "" && session.Kind == api.KindSession && session.IsOpen() && !inTab[session.ID] {
			rows = append(rows, p.Agents.makeRow(session))
		}
	}
	return rows
}

func branchGlyph(i, n int) string {
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

const maxFailedRows = 20

// listFailed returns the rows of the newest failed sessions that are in no tab, at most
// maxFailedRows.
func (p *Pane) listFailed(inTab map[string]bool) []Row {
	var rows []Row
	for _, session := range slices.Backward(p.env.News().Processes) {
		if len(rows) == maxFailedRows {
			break
		}
		if session.Kind == api.KindSession && session.Failed() && !p.env.IsClosed(session.ID) && !inTab[session.ID] {
			rows = append(rows, Row{Process: session})
		}
	}
	return rows
}
