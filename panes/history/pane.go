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
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// A Pane is the view of the history: a query and filters above the commands that
// they find, and the details of the one under the cursor.
type Pane struct {
	finder
	actions panes.Actions
	shown   bool
	w, h    int

	detail   Detail
	line     *overlay.Find // in which is typed what to look for in the output
	sought   api.Pattern   // that was looked for there last
	typing   bool          // the query has the keyboard
	onDetail bool          // the details have it
	moved    bool          // the person has chosen a row
	begun    bool          // it was shown before
	last     api.HistorySearchInput

	recall     *recall // the history over a terminal, that was opened last
	stopDetail context.CancelFunc
	click      widget.Click
	ticking    bool
}

// New makes the view.
func New(env panes.Env) *Pane {
	p := &Pane{finder: finder{env: env}}
	p.shows = p.visible
	p.actions = p.makeActions()
	return p
}

// Show brings the list up to date.
func (p *Pane) Show() {
	p.shown, p.typing = true, false
	in := p.input()
	if !p.begun || in.CWD != p.last.CWD || in.Process != p.last.Process {
		p.begun, p.moved = true, false
		p.search(0)
	}
	p.last, p.fleet.anew = in, true
	if !p.moved { // nobody has chosen anything: the newest is the one
		p.list.First()
	}
	p.list.Refresh()
}

// Hide takes the keyboard from the query.
func (p *Pane) Hide() { p.shown, p.typing = false, false }

// Resize gives the view its size.
func (p *Pane) Resize(w, h int) { p.w, p.h = w, h }

func (p *Pane) visible() bool { return p.shown && p.h > 0 }

// Fetch asks for rows and details, while they are shown, or for those of the
// history over a terminal.
func (p *Pane) Fetch() tea.Cmd {
	if u := p.open(); u != nil {
		return u.fetch()
	}
	if !p.visible() {
		return nil
	}
	return tea.Batch(p.fetch(), p.fetchDetail(), p.tick())
}

// open is the history over a terminal, while it is.
func (p *Pane) open() *recall {
	if p.recall == nil || !p.env.Shows(p.recall) {
		return nil
	}
	return p.recall
}

// News has the rows asked for anew when there are others.
func (p *Pane) HandleNews(before *panes.News) {
	now := p.env.News()
	if p.fleet.on {
		if now.Fleet == nil {
			toggleFleet(p)
		}
		return // nobody tells what is run there
	}
	if !slices.EqualFunc(now.Machines, before.Machines, func(a, b panes.Machine) bool { return a.Name == b.Name }) && p.begun {
		p.search(0)
	}
	if now.History == before.History && now.Snapshots == before.Snapshots {
		return
	}
	p.list.Refresh()
	if u := p.open(); u != nil {
		u.list.Refresh()
	}
}

// Selected is the command under the cursor.
func (p *Pane) Selected() (api.HistoryRow, bool) { return p.list.Selected() }

// Settled reports whether the list is what was asked for last.
func (p *Pane) Settled() bool { return p.list.Settled() }

// Scopes are those of the query or of the list.
func (p *Pane) Scopes() []keymap.Scope {
	if p.typing {
		return []keymap.Scope{keymap.ScopeRecall}
	}
	return []keymap.Scope{keymap.ScopeHistory, keymap.ScopeList}
}

// Note says how many commands are marked.
func (p *Pane) Note() (string, widget.Ink) {
	if n := p.list.MarkedRows(); n > 0 {
		return widget.Itoa(n) + " marked", p.env.Look().BarWarn
	}
	return "", p.env.Look().BarWarn
}

// Type takes a key of the query.
func (p *Pane) Type(k tea.KeyPressMsg) tea.Cmd {
	if p.typing {
		p.typeKey(k)
	}
	return nil
}

// Paste takes text of the query.
func (p *Pane) Paste(text string) tea.Cmd {
	if p.typing {
		p.insert(text)
	}
	return nil
}

// Actions are what the keys of the list, the query and the details do.
func (p *Pane) Actions() panes.Actions { return p.actions }

func (p *Pane) makeActions() panes.Actions {
	towards := func(on bool) func() tea.Cmd { return func() tea.Cmd { return p.focusDetail(on) } }
	move := func(rows func() int) func() tea.Cmd { return func() tea.Cmd { return p.move(rows()) } }
	by := func(rows int) func() tea.Cmd { return func() tea.Cmd { return p.move(rows) } }
	other := func() tea.Cmd { return p.focusDetail(!p.onDetail) }
	all := panes.Actions{
		keymap.FocusLeft: towards(false), keymap.FocusUp: towards(false), keymap.FocusRight: towards(true), keymap.FocusDown: towards(true),
		keymap.FocusNext: other, keymap.FocusPrevious: other,

		keymap.MoveDown: by(1), keymap.MoveUp: by(-1), keymap.MoveFirst: by(-panes.AllRows), keymap.MoveLast: by(panes.AllRows),
		keymap.MovePageDown: move(func() int { return p.page() }),
		keymap.MovePageUp:   move(func() int { return -p.page() }),
		keymap.Open:         func() tea.Cmd { return p.pick(p.PutOnPrompt) },
		keymap.Filter:       p.askWhat,
		keymap.Clear:        p.clearAll,
		keymap.Mark:         p.mark,
		keymap.HistoryStats: p.showStats,
		keymap.HistoryFleet: func() tea.Cmd { return toggleFleet(p) },

		keymap.HistoryNext:     func() tea.Cmd { return p.nextMatch(false) },
		keymap.HistoryPrevious: func() tea.Cmd { return p.nextMatch(true) },

		keymap.HistoryRun:    p.onMarked(p.runCommands),
		keymap.HistoryCopy:   p.onMarked(p.copyCommands),
		keymap.HistoryForget: p.onMarked(p.askForgetCommands),
		keymap.HistorySave:   p.askSave,
		keymap.HistoryLoad:   p.askLoad,
		keymap.HistoryPick:   towards(false),
		keymap.HistoryLeave:  p.leaveQuery,
		keymap.HistoryOlder:  by(1),
		keymap.HistoryNewer:  by(-1),
	}
	for _, a := range filters() {
		all[a] = func() tea.Cmd {
			if p.fleet.on && a == keymap.HistorySession {
				return p.env.Say("a session is on one machine", false)
			}
			p.moved = false
			p.toggle(a)
			return nil
		}
	}
	return all
}

// agesEvery is how often the ages of commands are redrawn.
const agesEvery = 30 * time.Second

func (p *Pane) tick() tea.Cmd {
	if p.ticking {
		return nil
	}
	p.ticking = true
	return panes.After(agesEvery, func() tea.Cmd {
		p.ticking = false
		return nil
	})
}

// parts are where the parts of the view are on the screen.
type parts struct {
	query, filters, list, heading, detail widget.Rect
	beside                                bool // the details are beside the list
}

// Sizes from which on there are details, and these are beside the list.
const (
	detailHeight = 18
	besideWidth  = 150
)

func (p *Pane) parts() (parts parts) {
	b := widget.Rect{Y: panes.FleetTabRows(p.env), W: p.w, H: p.h - panes.FleetTabRows(p.env)}
	parts.query, parts.filters = widget.Rect{X: b.X, Y: b.Y, W: b.W, H: 1}, widget.Rect{X: b.X, Y: b.Y + 1, W: b.W, H: 1}
	parts.list = widget.Rect{X: b.X, Y: b.Y + 2, W: b.W, H: b.H - 2}
	switch {
	case b.W >= besideWidth:
		parts.beside = true
		w := b.W * 11 / 20
		parts.heading = widget.Rect{X: w + 1, Y: parts.list.Y, W: b.W - w - 1, H: 1}
		parts.detail = widget.Rect{X: w + 1, Y: parts.list.Y + 1, W: b.W - w - 1, H: parts.list.H - 1}
		parts.list.W = w
	case b.H >= detailHeight:
		h := min(max(b.H*2/5, 8), 20) + p.covered()
		parts.list.H -= h
		parts.heading = widget.Rect{X: b.X, Y: b.Y + b.H - h, W: b.W, H: 1}
		parts.detail = widget.Rect{X: b.X, Y: b.Y + b.H - h + 1, W: b.W, H: h - 1}
	}
	parts.detail.H -= min(p.covered(), parts.detail.H)
	return parts
}

// Draw gives the rows of the view.
func (p *Pane) Draw() []string {
	now, look := time.Now(), p.env.Look()
	if page := p.empty(); page != nil {
		return page.Draw(p.w, p.h, look)
	}
	parts := p.parts()
	p.list.Focused = !p.onDetail
	p.detail.Focused, p.detail.Home, p.detail.Runs = p.onDetail, p.env.Home(), p.stillRuns
	query, _ := p.drawQuery(parts.query.W, p.typing)
	scope := keymap.ScopeHistory
	if p.typing {
		scope = keymap.ScopeRecall
	}
	var rows []string
	if panes.FleetTabRows(p.env) > 0 {
		rows = append(rows, drawTabs(p, p.w))
	}
	rows = append(rows, query, p.drawFilters(parts.filters.W, scope))
	rows = append(rows, slices.Clone(p.drawList(parts.list.W, parts.list.H, now))...)
	if parts.detail.H == 0 {
		return rows
	}
	detail := append([]string{p.detail.Heading(parts.heading.W, parts.detail.H, look)},
		p.detail.Draw(parts.detail.W, parts.detail.H, now, look)...)
	for range p.covered() {
		detail = append(detail, widget.Spaces(parts.detail.W))
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

// empty is what is shown when there is nothing at all; nil if there is.
func (p *Pane) empty() *widget.Page {
	switch {
	case !p.env.News().Connected && !p.list.Settled():
		return &widget.Page{Title: "Connecting to the engine…"}
	case !p.list.Settled() || p.list.Total() > 0 || p.narrowed() || p.typing || p.fleet.on || panes.FleetTabRows(p.env) > 0:
		return nil
	}
	return &widget.Page{
		Title: "No commands yet",
		Lines: []string{
			"What you type in sessions is kept here, and what you or agents",
			"run: where, when, how long it took and how it ended.",
			"", "The history of your shell can be added to it.",
		},
		Hints: []panes.Hint{p.hint(keymap.HistoryLoad, "load a history"), p.hint(keymap.ViewSessions, "sessions"),
			p.hint(keymap.Help, "keys")},
	}
}

// Hints are the next useful keys in the view.
func (p *Pane) Hints() ([]panes.Hint, bool) {
	if p.typing && p.empty() == nil {
		return []panes.Hint{p.hint(keymap.HistoryPick, "done"),
			p.chooses(keymap.ScopeRecall, keymap.HistoryNewer, keymap.HistoryOlder, "choose"), p.hint(keymap.HistoryLeave, "clear")}, true
	}
	return append(p.hints(), p.hint(keymap.Quit, "detach"), p.hint(keymap.Help, "keys")), true
}

func (p *Pane) hints() []panes.Hint {
	hint := p.hint
	switch {
	case p.empty() != nil:
		return []panes.Hint{hint(keymap.HistoryLoad, "load"), hint(keymap.ViewSessions, "sessions")}
	case p.onDetail:
		return []panes.Hint{p.chooses(keymap.ScopeList, keymap.MoveUp, keymap.MoveDown, "scroll"), hint(keymap.Filter, "search the output"),
			hint(keymap.FocusNext, "back to the list")}
	case p.list.MarkedRows() > 0:
		return []panes.Hint{hint(keymap.HistoryRun, "run"), hint(keymap.HistoryCopy, "copy"), hint(keymap.HistoryForget, "delete"),
			hint(keymap.HistorySave, "save"), hint(keymap.Mark, "mark"), hint(keymap.Clear, "unmark")}
	case p.list.Settled() && p.list.Total() == 0:
		return []panes.Hint{hint(keymap.Filter, "search"), hint(keymap.Clear, "clear")}
	}
	return []panes.Hint{hint(keymap.Open, "insert at the prompt"), hint(keymap.Filter, "search"), hint(keymap.HistoryRun, "run"),
		hint(keymap.HistoryCopy, "copy"), hint(keymap.HistoryForget, "delete"), hint(keymap.FocusNext, "details"), hint(keymap.Mark, "mark")}
}

// hint is the hint of an action where the keyboard may be.
func (f *finder) hint(a keymap.Action, does string) panes.Hint {
	return panes.HintFor(f.env.Bindings(), a, does, keymap.ScopeHistory, keymap.ScopeList, keymap.ScopeGlobal, keymap.ScopeRecall, "")
}

func (f *finder) chooses(scope keymap.Scope, up, down keymap.Action, does string) panes.Hint {
	return panes.UpDownHint(f.env.Bindings(), scope, up, down, does)
}

// Cursor is that of the query.
func (p *Pane) Cursor() *tea.Cursor {
	if !p.typing {
		return nil
	}
	parts := p.parts()
	_, x := p.drawQuery(parts.query.W, true)
	c := tea.NewCursor(parts.query.X+x, parts.query.Y)
	c.Shape = tea.CursorBar
	return c
}

// move moves what has the keyboard.
func (p *Pane) move(rows int) tea.Cmd {
	if p.onDetail {
		p.detail.Scroll(rows)
		return nil
	}
	p.moved = true
	p.list.Move(rows)
	return nil
}

func (p *Pane) page() int {
	if p.onDetail {
		return p.detail.Page()
	}
	return p.list.Page()
}

// focusDetail gives the details the keyboard, or the list.
func (p *Pane) focusDetail(on bool) tea.Cmd {
	p.onDetail = on && p.parts().detail.H > 0
	p.typing = false
	return nil
}

// askWhat asks what to look for: among the commands, or in the details that have the
// keyboard.
func (p *Pane) askWhat() tea.Cmd {
	if p.onDetail {
		return p.askOutput()
	}
	return p.typeQuery()
}

// typeQuery gives the query the keyboard.
func (p *Pane) typeQuery() tea.Cmd {
	p.typing, p.onDetail = true, false
	return nil
}

// leaveQuery clears the query, or gives the keyboard back to the list.
func (p *Pane) leaveQuery() tea.Cmd {
	if p.field.Text() != "" {
		p.clear()
	}
	p.typing = false
	return nil
}

// clearAll takes back the marks or, if there are none, the query or the
// filters.
func (p *Pane) clearAll() tea.Cmd {
	if p.onDetail {
		return p.focusDetail(false)
	}
	if p.list.Unmark() {
		return nil
	}
	p.clear()
	return nil
}

// Mouse handles the mouse in the view.
func (p *Pane) Mouse(e keys.Mouse) tea.Cmd {
	parts := p.parts()
	down := widget.LeftDown(e)
	switch {
	case !down && !widget.IsWheel(e):
		return nil
	case e.Y < panes.FleetTabRows(p.env) && down:
		return toggleFleet(p)
	case parts.detail.Contains(e.X, e.Y) && widget.IsWheel(e):
		p.detail.Scroll(widget.WheelRows(e))
	case parts.detail.Contains(e.X, e.Y), parts.heading.Contains(e.X, e.Y):
		return p.focusDetail(true)
	case parts.query.Contains(e.X, e.Y) && down:
		return p.typeQuery()
	case parts.filters.Contains(e.X, e.Y) && down:
		p.moved = false
		return p.clickFilter(e.X)
	case parts.list.Contains(e.X, e.Y) && widget.IsWheel(e):
		p.moved = true
		p.list.Move(widget.WheelRows(e))
	case parts.list.Contains(e.X, e.Y):
		p.focusDetail(false)
		return p.clickCommand(p.list.RowAt(e.Y - parts.list.Y))
	}
	return nil
}

// clickCommand chooses a row; the second click puts it on the prompt.
func (p *Pane) clickCommand(row int) tea.Cmd {
	if row < 0 {
		return nil
	}
	p.moved = true
	p.list.Go(row)
	if p.click.Again(row) {
		return p.withSelected(p.PutOnPrompt)
	}
	return nil
}
