// Package history is the view of the command history: a list searched as the query is typed, and
// the details of one command.
package history

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A Pane is the view of the history: a query and filters above a list of commands, and the details
// of the one under the cursor.
type Pane struct {
	env    panes.Env
	keys   panes.Actions
	finder finder
	viewer viewer
	act    actions
	shown  bool
	w, h   int

	typing        bool // the query has the keyboard
	detailFocused bool // the details have the keyboard
	rowChosen     bool // the user has chosen a row
	wasShown      bool // the view has been shown before
	last          api.HistorySearchInput

	recall  *recall // the history over a terminal, opened last
	click   list.Click
	ticking bool
}

func New(env panes.Env) *Pane {
	p := &Pane{env: env, finder: newFinder(env)}
	p.finder.isShown = p.visible
	p.viewer = viewer{env: env, detail: Detail{Home: env.Home(), IsRunning: p.finder.list.IsRunning}}
	p.act = actions{
		env:       env,
		everyRun:  func() bool { return p.finder.query.everyRun },
		countRuns: p.viewer.detail.Total,
		unmark:    p.finder.list.unmark,
	}
	p.keys = p.makeActions()
	return p
}

// Show shows the view and loads newer rows. If the folder or the session of a filter has changed,
// it searches again.
func (p *Pane) Show() {
	p.shown, p.typing = true, false
	in := p.finder.query.buildInput()
	if !p.wasShown || in.CWD != p.last.CWD || in.Process != p.last.Process {
		p.wasShown, p.rowChosen = true, false
		p.finder.startSearch(0)
	}
	p.last = in
	if !p.rowChosen { // without a choice, the cursor goes to the newest
		p.finder.list.MoveTo(0)
	}
	p.finder.list.Refresh()
}

// Hide takes the keyboard from the query.
func (p *Pane) Hide() { p.shown, p.typing = false, false }

func (p *Pane) Resize(w, h int) { p.w, p.h = w, h }

func (p *Pane) visible() bool { return p.shown && p.h > 0 }

// Fetch loads the rows and the details that are shown, in the view or in the dialog over a
// terminal.
func (p *Pane) Fetch() tea.Cmd {
	if u := p.openRecall(); u != nil {
		return u.finder.fetchRows()
	}
	if !p.visible() {
		return nil
	}
	return tea.Batch(p.finder.fetchRows(), p.fetchDetail(), p.scheduleRedraw())
}

// fetchDetail loads the details of the command under the cursor.
func (p *Pane) fetchDetail() tea.Cmd {
	if p.computeLayout().detail.H == 0 {
		return nil
	}
	row, ok := p.finder.list.Selected()
	switch {
	case ok:
		p.viewer.detail.ShowRow(row)
	case p.finder.list.IsSettled() && p.finder.list.Total() == 0:
		p.viewer.detail.Hide()
	}
	return p.viewer.fetch()
}

// openRecall returns the dialog with the history over a terminal; nil if it is not open.
func (p *Pane) openRecall() *recall {
	if p.recall == nil || !p.env.Shows(p.recall) {
		return nil
	}
	return p.recall
}

// HandleNews loads rows if the history or the machines have changed.
func (p *Pane) HandleNews(before *panes.News) {
	now := p.env.News()
	// The set of machines to search has changed.
	if !slices.EqualFunc(now.Machines, before.Machines, func(a, b panes.Machine) bool { return a.Name == b.Name }) && p.wasShown {
		p.finder.startSearch(0)
	}
	// A new connection may have missed events.
	if now.History == before.History && now.Snapshots == before.Snapshots {
		return
	}
	if now.Snapshots != before.Snapshots { // another engine may have overwritten text
		p.viewer.detail.Reload()
	}
	p.finder.list.Refresh()
	if u := p.openRecall(); u != nil {
		u.finder.list.Refresh()
	}
}

func (p *Pane) Selected() (api.HistoryRow, bool) { return p.finder.list.Selected() }

// InsertAtPrompt types the command of a row into the session used last, without running it.
func (p *Pane) InsertAtPrompt(row api.HistoryRow) tea.Cmd { return p.act.insertAtPrompt(row) }

// IsSettled reports whether the list answers the last search.
func (p *Pane) IsSettled() bool { return p.finder.list.IsSettled() }

func (p *Pane) Scopes() []keymap.Scope {
	if p.typing {
		return []keymap.Scope{keymap.ScopeRecall}
	}
	return []keymap.Scope{keymap.ScopeHistory, keymap.ScopeList}
}

func (p *Pane) Note() (string, look.Ink) {
	if n := len(p.finder.list.marks); n > 0 {
		return text.Itoa(n) + " marked", p.env.Look().BarWarn
	}
	return "", p.env.Look().BarWarn
}

// Type handles a key of the query.
func (p *Pane) Type(k tea.KeyPressMsg) tea.Cmd {
	if p.typing {
		p.finder.typeKey(k)
	}
	return nil
}

// Paste inserts text into the query.
func (p *Pane) Paste(text string) tea.Cmd {
	if p.typing {
		p.finder.insertText(text)
	}
	return nil
}

func (p *Pane) Actions() panes.Actions { return p.keys }

func (p *Pane) makeActions() panes.Actions {
	towards := func(on bool) func() tea.Cmd { return panes.ActionOf(func() { p.focusDetail(on) }) }
	move := func(rows func() int) func() tea.Cmd { return panes.ActionOf(func() { p.moveCursor(rows()) }) }
	by := func(rows int) func() tea.Cmd { return panes.ActionOf(func() { p.moveCursor(rows) }) }
	onMarked := func(act func([]api.HistoryRow) tea.Cmd) func() tea.Cmd {
		return func() tea.Cmd { return p.finder.actOnMarked(act) }
	}
	other := panes.ActionOf(func() { p.focusDetail(!p.detailFocused) })
	all := panes.Actions{
		keymap.FocusLeft: towards(false), keymap.FocusUp: towards(false), keymap.FocusRight: towards(true), keymap.FocusDown: towards(true),
		keymap.FocusNext: other, keymap.FocusPrevious: other,

		keymap.MoveDown: by(1), keymap.MoveUp: by(-1), keymap.MoveFirst: by(-panes.AllRows), keymap.MoveLast: by(panes.AllRows),
		keymap.MovePageDown: move(func() int { return p.pageRows() }),
		keymap.MovePageUp:   move(func() int { return -p.pageRows() }),
		keymap.Open:         func() tea.Cmd { return p.finder.actOnChosen(p.act.insertAtPrompt) },
		keymap.Filter:       p.askFilter,
		keymap.Clear:        panes.ActionOf(p.clearAll),
		keymap.Mark:         p.toggleMark,
		keymap.HistoryStats: func() tea.Cmd { return p.act.showStats(actorFilters()[p.finder.query.who]) },

		keymap.HistoryNext:     func() tea.Cmd { return p.viewer.nextMatch(false) },
		keymap.HistoryPrevious: func() tea.Cmd { return p.viewer.nextMatch(true) },

		keymap.HistoryRun:    onMarked(p.act.runCommands),
		keymap.HistoryCopy:   onMarked(p.act.copyCommands),
		keymap.HistoryDelete: onMarked(p.act.askDeleteCommands),
		keymap.HistorySave:   func() tea.Cmd { return p.act.askSave(p.finder.list.marks.sortRows()) },
		keymap.HistoryLoad:   p.act.askLoad,
		keymap.HistoryPick:   towards(false),
		keymap.HistoryLeave:  panes.ActionOf(p.leaveQuery),
		keymap.HistoryOlder:  by(1),
		keymap.HistoryNewer:  by(-1),
	}
	for _, f := range p.finder.query.filters() {
		all[f.action] = panes.ActionOf(func() {
			p.rowChosen = false
			p.finder.toggleFilter(f.action)
		})
	}
	return all
}

// ageInterval is the time between two updates of the displayed ages.
const ageInterval = 30 * time.Second

func (p *Pane) scheduleRedraw() tea.Cmd {
	if p.ticking {
		return nil
	}
	p.ticking = true
	return panes.After(ageInterval, func() tea.Cmd {
		p.ticking = false
		return nil
	})
}

// moveCursor moves the cursor of the list, or scrolls the details if they have the keyboard.
func (p *Pane) moveCursor(rows int) {
	if p.detailFocused {
		p.viewer.detail.Scroll(rows)
		return
	}
	p.rowChosen = true
	p.finder.list.Move(rows)
}

func (p *Pane) pageRows() int {
	if p.detailFocused {
		return p.viewer.detail.PageRows()
	}
	return p.finder.list.PageRows()
}

// focusDetail gives the keyboard to the details or to the list.
func (p *Pane) focusDetail(on bool) {
	p.detailFocused = on && p.computeLayout().detail.H > 0
	p.typing = false
}

// askFilter asks for a query, or for a pattern if the details have the keyboard.
func (p *Pane) askFilter() tea.Cmd {
	if p.detailFocused {
		return p.viewer.askSearch()
	}
	p.typeQuery()
	return nil
}

func (p *Pane) typeQuery() { p.typing, p.detailFocused = true, false }

// leaveQuery clears the text of the query and gives the keyboard back to the list.
func (p *Pane) leaveQuery() {
	if p.finder.query.field.Text() != "" {
		p.finder.clearQuery()
	}
	p.typing = false
}

func (p *Pane) toggleMark() tea.Cmd {
	if p.detailFocused {
		return nil
	}
	return p.finder.actOnChosen(func(api.HistoryRow) tea.Cmd {
		p.rowChosen = true
		p.finder.list.ToggleMark()
		return nil
	})
}

// clearAll removes the marks or, if there are none, the query or the filters.
func (p *Pane) clearAll() {
	switch {
	case p.detailFocused:
		p.focusDetail(false)
	case p.finder.list.ClearMarks():
	default:
		p.finder.clearQuery()
	}
}

func (p *Pane) Mouse(e keys.Mouse) tea.Cmd {
	parts := p.computeLayout()
	down := e.IsLeftDown()
	switch {
	case !down && !e.IsWheel():
		return nil
	case parts.detail.Contains(e.X, e.Y) && e.IsWheel():
		p.viewer.detail.Scroll(list.WheelRows(e))
	case parts.detail.Contains(e.X, e.Y), parts.heading.Contains(e.X, e.Y):
		p.focusDetail(true)
	case parts.query.Contains(e.X, e.Y) && down:
		p.typeQuery()
	case parts.filters.Contains(e.X, e.Y) && down:
		p.rowChosen = false
		p.finder.toggleFilter(p.finder.query.filterAt(e.X))
	case parts.list.Contains(e.X, e.Y) && e.IsWheel():
		p.rowChosen = true
		p.finder.list.Move(list.WheelRows(e))
	case parts.list.Contains(e.X, e.Y):
		p.focusDetail(false)
		return p.clickCommand(p.finder.list.RowAt(e.Y - parts.list.Y))
	}
	return nil
}

// clickCommand selects a row; a double click inserts it at the prompt.
func (p *Pane) clickCommand(row int) tea.Cmd {
	if row < 0 {
		return nil
	}
	p.rowChosen = true
	p.finder.list.MoveTo(row)
	if p.click.Again(row) {
		return p.finder.actOnSelected(p.act.insertAtPrompt)
	}
	return nil
}
