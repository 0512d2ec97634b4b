package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/widget"
)

// A recall is the history over a terminal: what is chosen goes onto the prompt.
type recall struct {
	finder
	click click
	top   int // rows above the list
}

const (
	recallEdge = 4 // columns of the box around its inside
	recallRows = 4 // beside the list: the query, the filters, and the keys with a blank row
)

func (m *model) showRecall() tea.Cmd {
	u := &recall{}
	u.list.Focused = true
	u.search(m, 0)
	m.overlay = u
	return nil
}

func (u *recall) scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopeRecall} }

func (u *recall) act(m *model, a keymap.Action) tea.Cmd {
	switch a {
	case keymap.HistoryPick:
		return u.pick(m, u.choose)
	case keymap.HistoryOlder:
		u.list.Move(1)
	case keymap.HistoryNewer:
		u.list.Move(-1)
	case keymap.HistoryRun:
		return u.withSelected(m, func(m *model, row api.HistoryRow) tea.Cmd {
			u.close(m)
			return m.runAgain(row)
		})
	case keymap.HistoryCopy:
		return u.withSelected(m, func(m *model, row api.HistoryRow) tea.Cmd {
			u.close(m)
			return m.copyCommand(row)
		})
	case keymap.HistoryLeave:
		u.close(m)
	default:
		u.toggle(m, a)
	}
	return nil
}

func (u *recall) close(m *model) {
	u.end()
	m.overlay = nil
}

func (u *recall) choose(m *model, row api.HistoryRow) tea.Cmd {
	u.close(m)
	return m.putOnPrompt(row)
}

func (u *recall) typed(m *model, k tea.KeyPressMsg) tea.Cmd {
	u.typeKey(m, k)
	return nil
}

func (u *recall) pasted(m *model, text string) tea.Cmd {
	u.insert(m, text)
	return nil
}

func (u *recall) draw(m *model, screen rect) ([]string, int, int, int) {
	width := min(screen.w-recallEdge-2, 136)
	height := min(max(screen.h*3/5, 11), screen.h-6)
	query, x := u.drawQuery(m, width, true)
	rows := []string{query, u.drawFilters(m, width, keymap.ScopeRecall)}
	u.top = len(rows)
	rows = append(rows, u.list.Draw(width, height-recallRows, time.Now(), &m.look)...)
	line, used := widget.Hints(u.hints(m), width-1, 1, m.look.Key, m.look.Dim)
	return append(rows, widget.Spaces(width), " "+line+widget.Spaces(width-1-used)), width, x, 0
}

// hints are the next useful keys: with nothing found there is nothing to do
// anything with.
func (u *recall) hints(m *model) []widget.Hint {
	leave := m.hintFor(keymap.HistoryLeave, "close")
	if u.list.Settled() && u.list.Total() == 0 {
		return []widget.Hint{leave}
	}
	return []widget.Hint{m.hintFor(keymap.HistoryPick, "put on the prompt"), m.chooses(keymap.ScopeRecall, keymap.HistoryNewer, keymap.HistoryOlder, "choose"),
		m.hint(keymap.ScopeRecall, keymap.HistoryRun, "run"), m.hint(keymap.ScopeRecall, keymap.HistoryCopy, "copy"), leave}
}

// mouse handles the mouse inside the box.
func (u *recall) mouse(m *model, e keys.Mouse) tea.Cmd {
	row := u.list.RowAt(e.Y - u.top)
	switch {
	case isWheel(e):
		u.list.Move(wheelRows(e))
	case !leftDown(e):
		return nil
	case e.Y == 1:
		u.clickFilter(m, e.X)
	case row >= 0 && e.Y < u.top+1+u.list.Page()+1:
		u.list.Go(row)
		if u.click.again(row) {
			return u.withSelected(m, u.choose)
		}
	}
	m.dirty = true
	return nil
}
