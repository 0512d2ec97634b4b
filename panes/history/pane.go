package history

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A Pane is the view of the history: a query and filters above a list of commands, and the details
// of the one under the cursor.
type Pane struct {
	finder
	actions panes.Actions
	shown   bool
	w, h    int

	detail        Detail
	searchLine    *dialog.Find // for the output
	lastPattern   api.Pattern  // of the last search in the output
	typing        bool         // the query has the keyboard
	detailFocused bool         // the details have the keyboard
	rowChosen     bool         // the user has chosen a row
	wasShown      bool         // the view has been shown before
	last          api.HistorySearchInput

	recall       *recall // the history over a terminal, opened last
	cancelDetail context.CancelFunc
	click        list.Click
	ticking      bool
}

func New(env panes.Env) *Pane {
	p := &Pane{finder: finder{env: env}}
	p.isShown = p.visible
	p.actions = p.makeActions()
	return p
}

// Show searches again if the folder or session has changed, and loads newer rows.
func (p *Pane) Show() {
	p.shown, p.typing = true, false
	in := p.buildInput()
	if !p.wasShown || in.CWD != p.last.CWD || in.Process != p.last.Process {
		p.wasShown, p.rowChosen = true, false
		p.startSearch(0)
	}
	p.last, p.fleet.refresh = in, true
	if !p.rowChosen { // without a choice, the cursor goes to the newest
		p.list.MoveToFirst()
	}
	p.list.Refresh()
}

// Hide takes the keyboard from the query.
func (p *Pane) Hide() { p.shown, p.typing = false, false }

func (p *Pane) Resize(w, h int) { p.w, p.h = w, h }

func (p *Pane) visible() bool { return p.shown && p.h > 0 }

// Fetch loads the rows and details shown, in the view or in the history over a terminal.
func (p *Pane) Fetch() tea.Cmd {
	if u := p.openRecall(); u != nil {
		return u.fetchRows()
	}
	if !p.visible() {
		return nil
	}
	return tea.Batch(p.fetchRows(), p.fetchDetail(), p.scheduleRedraw())
}

// openRecall returns the open history over a terminal; nil without one.
func (p *Pane) openRecall() *recall {
	if p.recall == nil || !p.env.Shows(p.recall) {
		return nil
	}
	return p.recall
}

// HandleNews loads rows if the history or the machines have changed.
func (p *Pane) HandleNews(before *panes.News) {
	now := p.env.News()
	if p.fleet.shown {
		if now.Fleet == nil {
			toggleFleet(p)
		}
		return // the engine sends no events about it
	}
	// The set of machines to search has changed.
	if !slices.EqualFunc(now.Machines, before.Machines, func(a, b panes.Machine) bool { return a.Name == b.Name }) && p.wasShown {
		p.startSearch(0)
	}
	// A new connection may have missed events.
	if now.History == before.History && now.Snapshots == before.Snapshots {
		return
	}
	p.list.Refresh()
	if u := p.openRecall(); u != nil {
		u.list.Refresh()
	}
}

func (p *Pane) Selected() (api.HistoryRow, bool) { return p.list.Selected() }

// IsSettled reports whether the list answers the last search.
func (p *Pane) IsSettled() bool { return p.list.IsSettled() }

func (p *Pane) Scopes() []keymap.Scope {
	if p.typing {
		return []keymap.Scope{keymap.ScopeRecall}
	}
	return []keymap.Scope{keymap.ScopeHistory, keymap.ScopeList}
}

func (p *Pane) Note() (string, look.Ink) {
	if n := p.list.MarkCount(); n > 0 {
		return text.Itoa(n) + " marked", p.env.Look().BarWarn
	}
	return "", p.env.Look().BarWarn
}

// Type handles a key of the query.
func (p *Pane) Type(k tea.KeyPressMsg) tea.Cmd {
	if p.typing {
		p.typeKey(k)
	}
	return nil
}

// Paste inserts text into the query.
func (p *Pane) Paste(text string) tea.Cmd {
	if p.typing {
		p.insertText(text)
	}
	return nil
}

func (p *Pane) Actions() panes.Actions { return p.actions }

func (p *Pane) makeActions() panes.Actions {
	towards := func(on bool) func() tea.Cmd { return func() tea.Cmd { return p.focusDetail(on) } }
	move := func(rows func() int) func() tea.Cmd { return func() tea.Cmd { return p.moveCursor(rows()) } }
	by := func(rows int) func() tea.Cmd { return func() tea.Cmd { return p.moveCursor(rows) } }
	other := func() tea.Cmd { return p.focusDetail(!p.detailFocused) }
	all := panes.Actions{
		keymap.FocusLeft: towards(false), keymap.FocusUp: towards(false), keymap.FocusRight: towards(true), keymap.FocusDown: towards(true),
		keymap.FocusNext: other, keymap.FocusPrevious: other,

		keymap.MoveDown: by(1), keymap.MoveUp: by(-1), keymap.MoveFirst: by(-panes.AllRows), keymap.MoveLast: by(panes.AllRows),
		keymap.MovePageDown: move(func() int { return p.pageRows() }),
		keymap.MovePageUp:   move(func() int { return -p.pageRows() }),
		keymap.Open:         func() tea.Cmd { return p.actOnChosen(p.InsertAtPrompt) },
		keymap.Filter:       p.askFilter,
		keymap.Clear:        p.clearAll,
		keymap.Mark:         p.toggleMark,
		keymap.HistoryStats: p.showStats,
		keymap.HistoryFleet: func() tea.Cmd { return toggleFleet(p) },

		keymap.HistoryNext:     func() tea.Cmd { return p.nextMatch(false) },
		keymap.HistoryPrevious: func() tea.Cmd { return p.nextMatch(true) },

		keymap.HistoryRun:    p.forMarked(p.runCommands),
		keymap.HistoryCopy:   p.forMarked(p.copyCommands),
		keymap.HistoryDelete: p.forMarked(p.askDeleteCommands),
		keymap.HistorySave:   p.askSave,
		keymap.HistoryLoad:   p.askLoad,
		keymap.HistoryPick:   towards(false),
		keymap.HistoryLeave:  p.leaveQuery,
		keymap.HistoryOlder:  by(1),
		keymap.HistoryNewer:  by(-1),
	}
	for _, a := range filterActions() {
		all[a] = func() tea.Cmd {
			if p.fleet.shown && a == keymap.HistorySession {
				return p.env.Say("a session is on one machine", false)
			}
			p.rowChosen = false
			p.toggleFilter(a)
			return nil
		}
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

// A layout has the rectangles of the view's parts.
type layout struct {
	query, filters, list, heading, detail look.Rect
	beside                                bool // the details are beside the list
}

// Minimum sizes of the view for details, and for details beside the list.
const (
	minDetailHeight = 18
	minBesideWidth  = 150
)

func (p *Pane) computeLayout() (parts layout) {
	b := look.Rect{Y: panes.FleetTabRows(p.env.News()), W: p.w, H: p.h - panes.FleetTabRows(p.env.News())}
	parts.query, parts.filters = look.Rect{X: b.X, Y: b.Y, W: b.W, H: 1}, look.Rect{X: b.X, Y: b.Y + 1, W: b.W, H: 1}
	parts.list = look.Rect{X: b.X, Y: b.Y + 2, W: b.W, H: b.H - 2}
	switch {
	case b.W >= minBesideWidth:
		parts.beside = true
		w := b.W * 11 / 20
		parts.heading = look.Rect{X: w + 1, Y: parts.list.Y, W: b.W - w - 1, H: 1}
		parts.detail = look.Rect{X: w + 1, Y: parts.list.Y + 1, W: b.W - w - 1, H: parts.list.H - 1}
		parts.list.W = w
	case b.H >= minDetailHeight:
		h := min(max(b.H*2/5, 8), 20) + p.searchRows()
		parts.list.H -= h
		parts.heading = look.Rect{X: b.X, Y: b.Y + b.H - h, W: b.W, H: 1}
		parts.detail = look.Rect{X: b.X, Y: b.Y + b.H - h + 1, W: b.W, H: h - 1}
	}
	parts.detail.H -= min(p.searchRows(), parts.detail.H)
	return parts
}

func (p *Pane) Draw() []string {
	now, look := time.Now(), p.env.Look()
	if page := p.emptyPage(); page != nil {
		return page.Draw(p.w, p.h, look)
	}
	parts := p.computeLayout()
	p.list.Focused = !p.detailFocused
	p.detail.Focused, p.detail.Home, p.detail.IsRunning = p.detailFocused, p.env.Home(), p.isRunning
	query, _ := p.drawQuery(parts.query.W, p.typing)
	scope := keymap.ScopeHistory
	if p.typing {
		scope = keymap.ScopeRecall
	}
	var rows []string
	if panes.FleetTabRows(p.env.News()) > 0 {
		rows = append(rows, drawTabs(p, p.w))
	}
	rows = append(rows, query, p.drawFilters(parts.filters.W, scope))
	rows = append(rows, slices.Clone(p.drawList(parts.list.W, parts.list.H, now))...)
	if parts.detail.H == 0 {
		return rows
	}
	detail := append([]string{p.detail.DrawHeading(parts.heading.W, parts.detail.H, look)},
		p.detail.Draw(parts.detail.W, parts.detail.H, now, look)...)
	for range p.searchRows() {
		detail = append(detail, text.Spaces(parts.detail.W))
	}
	if !parts.beside {
		return append(rows, detail...)
	}
	for i, row := range detail {
		border := "│"
		if i == 0 {
			border = "├"
		}
		rows[parts.list.Y+i] += look.Rule.Text(border) + row
	}
	return rows
}

// emptyPage returns the page for an empty history; nil if there is something to show.
func (p *Pane) emptyPage() *look.Page {
	switch {
	case !p.env.News().Connected && !p.list.IsSettled():
		return &look.Page{Title: "Connecting to the engine…"}
	case !p.list.IsSettled() || p.list.Total() > 0 || p.isFiltered() || p.typing || p.fleet.shown || panes.FleetTabRows(p.env.News()) > 0:
		return nil
	}
	return &look.Page{
		Title: "No commands yet",
		Lines: []string{
			"Commands that you type in sessions, and that you or agents run,",
			"are listed here with their folder, time, duration and status.",
			"", "You can add your shell's history to it.",
		},
		Hints: []keymap.Hint{p.hintFor(keymap.HistoryLoad, "load a history"), p.hintFor(keymap.ViewSessions, "sessions"),
			p.hintFor(keymap.Help, "keys")},
	}
}

// Hints returns the next useful keys.
func (p *Pane) Hints() ([]keymap.Hint, bool) {
	if p.typing && p.emptyPage() == nil {
		return []keymap.Hint{p.hintFor(keymap.HistoryPick, "done"),
			p.upDownHint(keymap.ScopeRecall, keymap.HistoryNewer, keymap.HistoryOlder, "choose"), p.hintFor(keymap.HistoryLeave, "clear")}, true
	}
	return append(p.viewHints(), p.hintFor(keymap.Quit, "detach"), p.hintFor(keymap.Help, "keys")), true
}

func (p *Pane) viewHints() []keymap.Hint {
	hint := p.hintFor
	switch {
	case p.emptyPage() != nil:
		return []keymap.Hint{hint(keymap.HistoryLoad, "load"), hint(keymap.ViewSessions, "sessions")}
	case p.detailFocused:
		return []keymap.Hint{p.upDownHint(keymap.ScopeList, keymap.MoveUp, keymap.MoveDown, "scroll"), hint(keymap.Filter, "search the output"),
			hint(keymap.FocusNext, "back to the list")}
	case p.list.MarkCount() > 0:
		return []keymap.Hint{hint(keymap.HistoryRun, "run"), hint(keymap.HistoryCopy, "copy"), hint(keymap.HistoryDelete, "delete"),
			hint(keymap.HistorySave, "save"), hint(keymap.Mark, "mark"), hint(keymap.Clear, "unmark")}
	case p.list.IsSettled() && p.list.Total() == 0:
		return []keymap.Hint{hint(keymap.Filter, "search"), hint(keymap.Clear, "clear")}
	}
	return []keymap.Hint{hint(keymap.Open, "insert at the prompt"), hint(keymap.Filter, "search"), hint(keymap.HistoryRun, "run"),
		hint(keymap.HistoryCopy, "copy"), hint(keymap.HistoryDelete, "delete"), hint(keymap.FocusNext, "details"), hint(keymap.Mark, "mark")}
}

// hintFor returns the hint of an action, with its key in any scope of the view.
func (f *finder) hintFor(a keymap.Action, does string) keymap.Hint {
	return f.env.Bindings().Hint(a, does, keymap.ScopeHistory, keymap.ScopeList, keymap.ScopeGlobal, keymap.ScopeRecall, "")
}

func (f *finder) upDownHint(scope keymap.Scope, up, down keymap.Action, does string) keymap.Hint {
	return f.env.Bindings().PairHint(up, down, does, scope)
}

// Cursor returns the cursor of the query.
func (p *Pane) Cursor() *tea.Cursor {
	if !p.typing {
		return nil
	}
	parts := p.computeLayout()
	_, x := p.drawQuery(parts.query.W, true)
	c := tea.NewCursor(parts.query.X+x, parts.query.Y)
	c.Shape = tea.CursorBar
	return c
}

// moveCursor moves the cursor of the list, or scrolls the details if they have the keyboard.
func (p *Pane) moveCursor(rows int) tea.Cmd {
	if p.detailFocused {
		p.detail.Scroll(rows)
		return nil
	}
	p.rowChosen = true
	p.list.Move(rows)
	return nil
}

func (p *Pane) pageRows() int {
	if p.detailFocused {
		return p.detail.PageRows()
	}
	return p.list.PageRows()
}

// focusDetail gives the keyboard to the details or to the list.
func (p *Pane) focusDetail(on bool) tea.Cmd {
	p.detailFocused = on && p.computeLayout().detail.H > 0
	p.typing = false
	return nil
}

// askFilter asks for a query, or for a pattern if the details have the keyboard.
func (p *Pane) askFilter() tea.Cmd {
	if p.detailFocused {
		return p.askOutput()
	}
	return p.typeQuery()
}

func (p *Pane) typeQuery() tea.Cmd {
	p.typing, p.detailFocused = true, false
	return nil
}

// leaveQuery clears the query and gives the keyboard back to the list.
func (p *Pane) leaveQuery() tea.Cmd {
	if p.field.Text() != "" {
		p.clearQuery()
	}
	p.typing = false
	return nil
}

// clearAll removes the marks or, if there are none, the query or the filters.
func (p *Pane) clearAll() tea.Cmd {
	if p.detailFocused {
		return p.focusDetail(false)
	}
	if p.list.ClearMarks() {
		return nil
	}
	p.clearQuery()
	return nil
}

func (p *Pane) Mouse(e keys.Mouse) tea.Cmd {
	parts := p.computeLayout()
	down := e.IsLeftDown()
	switch {
	case !down && !e.IsWheel():
		return nil
	case e.Y < panes.FleetTabRows(p.env.News()) && down:
		return toggleFleet(p)
	case parts.detail.Contains(e.X, e.Y) && e.IsWheel():
		p.detail.Scroll(list.WheelRows(e))
	case parts.detail.Contains(e.X, e.Y), parts.heading.Contains(e.X, e.Y):
		return p.focusDetail(true)
	case parts.query.Contains(e.X, e.Y) && down:
		return p.typeQuery()
	case parts.filters.Contains(e.X, e.Y) && down:
		p.rowChosen = false
		return p.clickFilter(e.X)
	case parts.list.Contains(e.X, e.Y) && e.IsWheel():
		p.rowChosen = true
		p.list.Move(list.WheelRows(e))
	case parts.list.Contains(e.X, e.Y):
		p.focusDetail(false)
		return p.clickCommand(p.list.RowAt(e.Y - parts.list.Y))
	}
	return nil
}

// clickCommand selects a row; a double click inserts it at the prompt.
func (p *Pane) clickCommand(row int) tea.Cmd {
	if row < 0 {
		return nil
	}
	p.rowChosen = true
	p.list.MoveTo(row)
	if p.click.Again(row) {
		return p.actOnSelected(p.InsertAtPrompt)
	}
	return nil
}
