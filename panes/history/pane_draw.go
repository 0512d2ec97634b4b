package history

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A layout has the rectangles of the view's parts.
type layout struct {
	query, filters, list, heading, detail look.Rect
	beside                                bool // the details are beside the list
}

// Minimum sizes of a view that shows details, and of one that shows them beside the list.
const (
	minDetailHeight = 18
	minBesideWidth  = 150
)

func (p *Pane) computeLayout() (parts layout) {
	covered := p.viewer.line.CoveredRows(p.env)
	parts.query, parts.filters = look.Rect{W: p.w, H: 1}, look.Rect{Y: 1, W: p.w, H: 1}
	parts.list = look.Rect{Y: 2, W: p.w, H: p.h - 2}
	switch {
	case p.w >= minBesideWidth:
		parts.beside = true
		w := p.w * 11 / 20
		parts.heading = look.Rect{X: w + 1, Y: parts.list.Y, W: p.w - w - 1, H: 1}
		parts.detail = look.Rect{X: w + 1, Y: parts.list.Y + 1, W: p.w - w - 1, H: parts.list.H - 1}
		parts.list.W = w
	case p.h >= minDetailHeight:
		h := min(max(p.h*2/5, 8), 20) + covered
		parts.list.H -= h
		parts.heading = look.Rect{Y: p.h - h, W: p.w, H: 1}
		parts.detail = look.Rect{Y: p.h - h + 1, W: p.w, H: h - 1}
	}
	parts.detail.H -= min(covered, parts.detail.H)
	return parts
}

func (p *Pane) Draw() []string {
	now, look := time.Now(), p.env.Look()
	if page := p.emptyPage(); page != nil {
		return page.Draw(p.w, p.h, look)
	}
	parts := p.computeLayout()
	p.finder.list.Focused = !p.detailFocused
	p.viewer.detail.Focused = p.detailFocused
	query, _ := p.finder.drawQuery(parts.query.W, p.typing)
	rows := []string{query, p.finder.query.drawFilters(parts.filters.W, p.Scopes()[0])}
	rows = append(rows, p.finder.drawList(parts.list.W, parts.list.H, now)...)
	if parts.detail.H == 0 {
		return rows
	}
	detail := append([]string{p.viewer.detail.DrawHeading(parts.heading.W, parts.detail.H, look)},
		p.viewer.detail.Draw(parts.detail.W, parts.detail.H, now, look)...)
	for range p.viewer.line.CoveredRows(p.env) {
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
	case !p.env.News().Connected && !p.finder.list.IsSettled():
		return &look.Page{Title: "Connecting to the engine…"}
	case !p.finder.list.IsSettled() || p.finder.list.Total() > 0 || p.finder.query.isFiltered() || p.typing:
		return nil
	}
	return &look.Page{
		Title: "No commands yet",
		Lines: []string{
			"Commands that you type in sessions, and that you or agents run,",
			"are listed here with their folder, time, duration and status.",
			"", "You can also load your shell's history.",
		},
		Hints: []keymap.Hint{p.hintFor(keymap.HistoryLoad, "load a history"), p.hintFor(keymap.ViewSessions, "sessions"),
			p.hintFor(keymap.Help, "keys")},
	}
}

// Hints returns the next useful keys.
func (p *Pane) Hints() ([]keymap.Hint, bool) {
	if p.typing && p.emptyPage() == nil {
		return []keymap.Hint{p.hintFor(keymap.HistoryPick, "done"),
			p.env.Bindings().PairHint(keymap.HistoryNewer, keymap.HistoryOlder, "choose", keymap.ScopeRecall), p.hintFor(keymap.HistoryLeave, "clear")}, true
	}
	return append(p.viewHints(), p.hintFor(keymap.Quit, "detach"), p.hintFor(keymap.Help, "keys")), true
}

func (p *Pane) viewHints() []keymap.Hint {
	hint := p.hintFor
	switch {
	case p.emptyPage() != nil:
		return []keymap.Hint{hint(keymap.HistoryLoad, "load"), hint(keymap.ViewSessions, "sessions")}
	case p.detailFocused:
		return []keymap.Hint{p.env.Bindings().PairHint(keymap.MoveUp, keymap.MoveDown, "scroll", keymap.ScopeList), hint(keymap.Filter, "search the output"),
			hint(keymap.FocusNext, "back to the list")}
	case len(p.finder.list.marks) > 0:
		return []keymap.Hint{hint(keymap.HistoryRun, "run"), hint(keymap.HistoryCopy, "copy"), hint(keymap.HistoryDelete, "delete"),
			hint(keymap.HistorySave, "save"), hint(keymap.Mark, "mark"), hint(keymap.Clear, "unmark")}
	case p.finder.list.IsSettled() && p.finder.list.Total() == 0:
		return []keymap.Hint{hint(keymap.Filter, "search"), hint(keymap.Clear, "clear")}
	}
	return []keymap.Hint{hint(keymap.Open, "insert at the prompt"), hint(keymap.Filter, "search"), hint(keymap.HistoryRun, "run"),
		hint(keymap.HistoryCopy, "copy"), hint(keymap.HistoryDelete, "delete"), hint(keymap.FocusNext, "details"), hint(keymap.Mark, "mark")}
}

// hintFor returns a hint for an action, with the key that the action has in one of the view's
// scopes.
func (p *Pane) hintFor(a keymap.Action, does string) keymap.Hint {
	return p.env.Bindings().Hint(a, does, keymap.ScopeHistory, keymap.ScopeList, keymap.ScopeGlobal, keymap.ScopeRecall, "")
}

// Cursor returns the cursor of the query.
func (p *Pane) Cursor() *tea.Cursor {
	if !p.typing {
		return nil
	}
	parts := p.computeLayout()
	_, x := p.finder.drawQuery(parts.query.W, true)
	c := tea.NewCursor(parts.query.X+x, parts.query.Y)
	c.Shape = tea.CursorBar
	return c
}
