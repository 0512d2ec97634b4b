package ui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/history"
	"tandem/panes/widget"
)

// history is the state of the history view: a query and filters above the
// commands that they find, and the details of the one under the cursor.
type historyView struct {
	finder
	detail   history.Detail
	typing   bool // the query has the keyboard
	onDetail bool // the details have it
	moved    bool // the person has chosen a row
	begun    bool // it was shown before
	last     api.HistorySearchInput

	stopDetail context.CancelFunc
	click      click
	ticking    bool
}

// A click is where and when the mouse was pressed last.
type click struct {
	row int
	at  time.Time
}

// doubleClick is the time in which a second click makes a double click.
const doubleClick = 400 * time.Millisecond

// again notes a click and reports whether it is the second one on a row.
func (c *click) again(row int) bool {
	now := time.Now()
	double := row == c.row && now.Sub(c.at) < doubleClick
	*c = click{row, now}
	if double {
		c.at = time.Time{}
	}
	return double
}

// agesEvery is how often the ages of commands are drawn anew.
const agesEvery = 30 * time.Second

// agesDue says that the ages on the screen are old.
type agesDue struct{}

// onHistory reports whether the history view is shown.
func (m *model) onHistory() bool { return m.view == viewHistory && !m.layout.tooSmall() }

// pumpHistory asks for what is needed now of the history.
func (m *model) pumpHistory() tea.Cmd {
	if u, ok := m.overlay.(*recall); ok {
		return u.pump(m)
	}
	if !m.onHistory() {
		return nil
	}
	h := &m.history
	return tea.Batch(h.pump(m), m.pumpDetail(), h.tick())
}

func (h *historyView) tick() tea.Cmd {
	if h.ticking {
		return nil
	}
	h.ticking = true
	return tea.Tick(agesEvery, func(time.Time) tea.Msg { return agesDue{} })
}

func (m *model) agesDue() {
	m.history.ticking = false
	m.dirty = m.dirty || m.onHistory()
}

// enterHistory brings the view up to date when it is shown.
func (m *model) enterHistory() {
	h := &m.history
	if m.view != viewHistory {
		h.typing, h.picking = false, nil
		return
	}
	h.typing = false
	in := h.input(m)
	if !h.begun || in.CWD != h.last.CWD || in.Process != h.last.Process {
		h.begun, h.moved = true, false
		h.search(m, 0)
	}
	h.last = in
	if !h.moved { // nobody has chosen anything: the newest is the one
		h.list.First()
	}
	h.list.Refresh()
}

// noteHistory has what is shown of the history look for newer commands.
func (m *model) noteHistory(before *panes.News) tea.Cmd {
	if u, ok := m.overlay.(*palette); ok && !sameProcesses(before.Processes, m.news.Processes) {
		u.noteProcesses(m)
	}
	if m.news.History == before.History && m.news.Snapshots == before.Snapshots {
		return nil
	}
	m.history.list.Refresh()
	switch u := m.overlay.(type) {
	case *recall:
		u.list.Refresh()
	case *palette:
		return u.refresh(m)
	}
	return nil
}

// historyParts are where the parts of the view are on the screen.
type historyParts struct {
	query, filters, list, heading, detail rect
	beside                                bool // the details are beside the list
}

// Sizes from which on there are details, and these are beside the list.
const (
	detailHeight = 18
	besideWidth  = 150
)

func (m *model) historyParts() (parts historyParts) {
	b := m.layout.body
	parts.query, parts.filters = rect{b.x, b.y, b.w, 1}, rect{b.x, b.y + 1, b.w, 1}
	parts.list = rect{b.x, b.y + 2, b.w, b.h - 2}
	switch {
	case b.w >= besideWidth:
		parts.beside = true
		w := b.w * 11 / 20
		parts.heading = rect{w + 1, parts.list.y, b.w - w - 1, 1}
		parts.detail = rect{w + 1, parts.list.y + 1, b.w - w - 1, parts.list.h - 1}
		parts.list.w = w
	case b.h >= detailHeight:
		h := min(max(b.h*2/5, 8), 20)
		parts.list.h -= h
		parts.heading = rect{b.x, b.y + b.h - h, b.w, 1}
		parts.detail = rect{b.x, b.y + b.h - h + 1, b.w, h - 1}
	}
	return parts
}

// drawHistory gives the rows of the view.
func (m *model) drawHistory() []string {
	h, body, now := &m.history, m.layout.body, time.Now()
	if page := m.noHistory(); page != nil {
		return page.Draw(body.w, body.h, &m.look)
	}
	parts := m.historyParts()
	h.list.Focused = !h.onDetail
	h.detail.Focused, h.detail.Home, h.detail.Runs = h.onDetail, m.list.Home, m.stillRuns
	query, _ := h.drawQuery(m, parts.query.w, h.typing)
	scope := keymap.ScopeHistory
	if h.typing {
		scope = keymap.ScopeRecall
	}
	rows := []string{query, h.drawFilters(m, parts.filters.w, scope)}
	rows = append(rows, slices.Clone(h.list.Draw(parts.list.w, parts.list.h, now, &m.look))...)
	if parts.detail.h == 0 {
		return rows
	}
	detail := append([]string{h.detail.Heading(parts.heading.w, parts.detail.h, &m.look)},
		h.detail.Draw(parts.detail.w, parts.detail.h, now, &m.look)...)
	if !parts.beside {
		return append(rows, detail...)
	}
	for i, row := range detail {
		rows[2+i] += m.look.Rule.Text(joint(false, i == 0, i == 0)) + row
	}
	return rows
}

// noHistory is what is shown when there is nothing at all; nil if there is.
func (m *model) noHistory() *widget.Page {
	h := &m.history
	switch {
	case !m.news.Connected && !h.list.Settled():
		return &widget.Page{Title: "Connecting to the engine…"}
	case !h.list.Settled() || h.list.Total() > 0 || h.narrowed() || h.typing:
		return nil
	}
	return &widget.Page{
		Title: "No command yet",
		Lines: []string{
			"What you type in sessions is kept here, and what you or agents",
			"run: where, when, how long it took and how it ended.",
			"", "The history of your shell can be added to it.",
		},
		Hints: []widget.Hint{m.hintFor(keymap.HistoryLoad, "load a history"), m.hintFor(keymap.ViewSessions, "sessions"),
			m.hintFor(keymap.Help, "keys")},
	}
}

// historyHints are the next useful keys in the view.
func (m *model) historyHints() []widget.Hint {
	h, hint := &m.history, m.hintFor
	switch {
	case m.noHistory() != nil:
		return []widget.Hint{hint(keymap.HistoryLoad, "load"), hint(keymap.ViewSessions, "sessions"), hint(keymap.Quit, "detach"), hint(keymap.Help, "keys")}
	case h.typing:
		return []widget.Hint{hint(keymap.HistoryPick, "done"),
			m.chooses(keymap.ScopeRecall, keymap.HistoryNewer, keymap.HistoryOlder, "choose"), hint(keymap.HistoryLeave, "clear")}
	case h.onDetail:
		return []widget.Hint{m.chooses(keymap.ScopeList, keymap.MoveUp, keymap.MoveDown, "scroll"), hint(keymap.FocusNext, "back to the list"), hint(keymap.Quit, "detach"), hint(keymap.Help, "keys")}
	}
	if h.list.MarkedRows() > 0 {
		return []widget.Hint{hint(keymap.HistoryRun, "run"), hint(keymap.HistoryCopy, "copy"), hint(keymap.HistoryForget, "delete"),
			hint(keymap.HistorySave, "save"), hint(keymap.Mark, "mark"), hint(keymap.Clear, "unmark"), hint(keymap.Quit, "detach"), hint(keymap.Help, "keys")}
	}
	if h.list.Settled() && h.list.Total() == 0 {
		return []widget.Hint{hint(keymap.Filter, "search"), hint(keymap.Clear, "clear"), hint(keymap.Quit, "detach"), hint(keymap.Help, "keys")}
	}
	return []widget.Hint{hint(keymap.Open, "insert at the prompt"), hint(keymap.Filter, "search"), hint(keymap.HistoryRun, "run"),
		hint(keymap.HistoryCopy, "copy"), hint(keymap.HistoryForget, "delete"), hint(keymap.FocusNext, "details"), hint(keymap.Mark, "mark"),
		hint(keymap.Quit, "detach"), hint(keymap.Help, "keys")}
}

// moveHistory moves what has the keyboard.
func (m *model) moveHistory(rows int) tea.Cmd {
	h := &m.history
	m.dirty = true
	if h.onDetail {
		h.detail.Scroll(rows)
		return nil
	}
	h.moved = true
	h.list.Move(rows)
	return nil
}

func (m *model) historyPage() int {
	if m.history.onDetail {
		return m.history.detail.Page()
	}
	return m.history.list.Page()
}

// focusDetail gives the details the keyboard, or the list.
func (m *model) focusDetail(on bool) tea.Cmd {
	m.history.onDetail = on && m.historyParts().detail.h > 0
	m.history.typing = false
	m.dirty = true
	return nil
}

// typeQuery gives the query the keyboard.
func (m *model) typeQuery() tea.Cmd {
	m.history.typing, m.history.onDetail = true, false
	m.dirty = true
	return nil
}

// leaveQuery clears the query, or gives the keyboard back to the list.
func (m *model) leaveQuery() tea.Cmd {
	h := &m.history
	if h.field.Text() != "" {
		h.clear(m)
	}
	h.typing = false
	m.dirty = true
	return nil
}

// clearHistory takes back the marks or, if there are none, the query or the
// filters.
func (m *model) clearHistory() tea.Cmd {
	if m.history.onDetail {
		return m.focusDetail(false)
	}
	if m.history.list.Unmark() {
		m.dirty = true
		return nil
	}
	m.history.clear(m)
	return nil
}

// onFinder is an action of the view: a filter is switched.
func onFinder(a keymap.Action) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd {
		if m.view == viewHistory {
			m.history.moved = false
			m.history.toggle(m, a)
		}
		return nil
	}
}

// queryCursor is where the query's cursor is on the screen; x is negative
// without one.
func (m *model) queryCursor() (x, y int) {
	if !m.onHistory() || !m.history.typing {
		return -1, 0
	}
	parts := m.historyParts()
	_, x = m.history.drawQuery(m, parts.query.w, true)
	return parts.query.x + x, parts.query.y
}

// mouseOnHistory handles the mouse in the view.
func (m *model) mouseOnHistory(e keys.Mouse) tea.Cmd {
	h, parts := &m.history, m.historyParts()
	down := widget.LeftDown(e)
	switch {
	case !down && !widget.IsWheel(e):
		return nil
	case parts.detail.contains(e.X, e.Y) && widget.IsWheel(e):
		h.detail.Scroll(widget.WheelRows(e))
	case parts.detail.contains(e.X, e.Y), parts.heading.contains(e.X, e.Y):
		return m.focusDetail(true)
	case parts.query.contains(e.X, e.Y) && down:
		return m.typeQuery()
	case parts.filters.contains(e.X, e.Y) && down:
		h.moved = false
		return h.clickFilter(m, e.X)
	case parts.list.contains(e.X, e.Y) && widget.IsWheel(e):
		h.moved = true
		h.list.Move(widget.WheelRows(e))
	case parts.list.contains(e.X, e.Y):
		m.focusDetail(false)
		return m.clickCommand(h.list.RowAt(e.Y - parts.list.y))
	}
	m.dirty = true
	return nil
}

// clickCommand chooses a row; the second click puts it on the prompt.
func (m *model) clickCommand(row int) tea.Cmd {
	h := &m.history
	if row < 0 {
		return nil
	}
	h.moved = true
	h.list.Go(row)
	if h.click.again(row) {
		return h.withSelected(m, (*model).putOnPrompt)
	}
	return nil
}
