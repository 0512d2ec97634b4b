package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// A recall is the history over a terminal: what is chosen goes onto the prompt.
type recall struct {
	m *model
	finder
	click click
	top   int // rows above the list
}

const (
	recallEdge = 4 // columns of the box around its inside
	recallRows = 4 // beside the list: the query, the filters, and the keys with a blank row
)

func (m *model) showRecall() tea.Cmd {
	u := &recall{m: m}
	u.list.Focused = true
	u.search(m, 0)
	m.overlay = u
	return nil
}

func (u *recall) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopeRecall} }

func (u *recall) Do(_ overlay.Host, a keymap.Action) tea.Cmd {
	switch a {
	case keymap.HistoryPick:
		return u.pick(u.m, u.choose)
	case keymap.HistoryOlder:
		u.list.Move(1)
	case keymap.HistoryNewer:
		u.list.Move(-1)
	case keymap.HistoryRun:
		return u.withSelected(u.m, func(m *model, row api.HistoryRow) tea.Cmd {
			u.close(u.m)
			return u.m.runAgain(row)
		})
	case keymap.HistoryCopy:
		return u.withSelected(u.m, func(m *model, row api.HistoryRow) tea.Cmd {
			u.close(u.m)
			return u.m.copyCommand(row)
		})
	case keymap.HistoryLeave:
		u.close(u.m)
	default:
		u.toggle(u.m, a)
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

func (u *recall) Type(_ overlay.Host, k tea.KeyPressMsg) tea.Cmd {
	u.typeKey(u.m, k)
	return nil
}

func (u *recall) Paste(_ overlay.Host, text string) tea.Cmd {
	u.insert(u.m, text)
	return nil
}

func (u *recall) Draw(h overlay.Host, w, height int) (rows []string, width, x, y int) {
	width = min(w-recallEdge-2, 136)
	height = min(max(height*3/5, 11), height-6)
	query, x := u.drawQuery(u.m, width, true)
	rows = []string{query, u.drawFilters(u.m, width, keymap.ScopeRecall)}
	u.top = len(rows)
	rows = append(rows, u.list.Draw(width, height-recallRows, time.Now(), &u.m.look)...)
	line, used := widget.Hints(u.Hints(h), width-1, 1, u.m.look.Key, u.m.look.Dim)
	return append(rows, widget.Spaces(width), " "+line+widget.Spaces(width-1-used)), width, x, 0
}

// hints are the next useful keys: with nothing found there is nothing to do
// anything with.
func (u *recall) Hints(_ overlay.Host) []widget.Hint {
	leave := u.m.hintFor(keymap.HistoryLeave, "close")
	if u.list.Settled() && u.list.Total() == 0 {
		return []widget.Hint{leave}
	}
	return []widget.Hint{u.m.hintFor(keymap.HistoryPick, "insert at the prompt"), u.m.chooses(keymap.ScopeRecall, keymap.HistoryNewer, keymap.HistoryOlder, "choose"),
		u.m.hint(keymap.ScopeRecall, keymap.HistoryRun, "run"), u.m.hint(keymap.ScopeRecall, keymap.HistoryCopy, "copy"), leave}
}

// mouse handles the mouse inside the box.
func (u *recall) Mouse(_ overlay.Host, e keys.Mouse) tea.Cmd {
	row := u.list.RowAt(e.Y - u.top)
	switch {
	case widget.IsWheel(e):
		u.list.Move(widget.WheelRows(e))
	case !widget.LeftDown(e):
		return nil
	case e.Y == 1:
		u.clickFilter(u.m, e.X)
	case row >= 0 && e.Y < u.top+1+u.list.Page()+1:
		u.list.Go(row)
		if u.click.again(row) {
			return u.withSelected(u.m, u.choose)
		}
	}
	u.m.dirty = true
	return nil
}
