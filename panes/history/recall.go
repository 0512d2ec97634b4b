package history

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
)

// A recall is the history in a dialog over a terminal: the chosen command is inserted at the
// prompt.
type recall struct {
	finder
	pane  *Pane
	click list.Click
	top   int // rows above the list
}

const (
	recallBorder = 4 // columns of the border
	recallRows   = 2 // rows besides the list: the query and the filters
)

// OpenRecall opens the history over a terminal.
func (p *Pane) OpenRecall() tea.Cmd {
	u := &recall{finder: finder{env: p.env}, pane: p}
	u.isShown, u.onCancel = func() bool { return p.env.Shows(u) }, u.close
	u.list.Focused = true
	u.startSearch(0)
	p.recall = u
	p.env.Ask(u)
	return nil
}

func (u *recall) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopeRecall} }

func (u *recall) Do(_ dialog.Host, a keymap.Action) tea.Cmd {
	switch a {
	case keymap.HistoryPick:
		return u.actOnChosen(u.insertChosen)
	case keymap.HistoryOlder:
		u.list.Move(1)
	case keymap.HistoryNewer:
		u.list.Move(-1)
	case keymap.HistoryRun:
		return u.actOnSelected(func(row api.HistoryRow) tea.Cmd {
			u.close()
			return u.pane.runAgain(row)
		})
	case keymap.HistoryCopy:
		return u.actOnSelected(func(row api.HistoryRow) tea.Cmd {
			u.close()
			return u.pane.copyCommand(row)
		})
	case keymap.HistoryLeave:
		u.close()
	default:
		u.toggleFilter(a)
	}
	return nil
}

func (u *recall) close() {
	u.cancelFetch()
	u.env.Close()
}

func (u *recall) insertChosen(row api.HistoryRow) tea.Cmd {
	u.close()
	return u.pane.InsertAtPrompt(row)
}

func (u *recall) Type(_ dialog.Host, k tea.KeyPressMsg) tea.Cmd {
	u.typeKey(k)
	return nil
}

func (u *recall) Paste(_ dialog.Host, text string) tea.Cmd {
	u.insertText(text)
	return nil
}

func (u *recall) Draw(h dialog.Host, w, height int) (rows []string, width, x, y int) {
	width = min(w-recallBorder-2, 136)
	height = min(max(height*3/5, 11), height-6)
	query, x := u.drawQuery(width, true)
	rows = []string{query, u.drawFilters(width, keymap.ScopeRecall)}
	u.top = len(rows)
	rows = append(rows, u.drawList(width, height-recallRows, time.Now())...)
	return rows, width, x, 0
}

// Hints returns the next useful keys. Without any row there is only one.
func (u *recall) Hints(_ dialog.Host) []keymap.Hint {
	leave := u.hintFor(keymap.HistoryLeave, "close")
	if u.list.IsSettled() && u.list.Total() == 0 {
		return []keymap.Hint{leave}
	}
	return []keymap.Hint{u.hintFor(keymap.HistoryPick, "insert at the prompt"), u.upDownHint(keymap.ScopeRecall, keymap.HistoryNewer, keymap.HistoryOlder, "choose"),
		u.env.Bindings().Hint(keymap.HistoryRun, "run", keymap.ScopeRecall), u.env.Bindings().Hint(keymap.HistoryCopy, "copy", keymap.ScopeRecall), leave}
}

func (u *recall) Traits() dialog.Traits { return dialog.Traits{Mouse: u.Mouse} }

func (u *recall) Mouse(_ dialog.Host, e keys.Mouse) tea.Cmd {
	row := u.list.RowAt(e.Y - u.top)
	switch {
	case e.IsWheel():
		u.list.Move(list.WheelRows(e))
	case !e.IsLeftDown():
		return nil
	case e.Y == 1:
		u.clickFilter(e.X)
	case row >= 0 && e.Y < u.top+1+u.list.PageRows()+1:
		u.list.MoveTo(row)
		if u.click.Again(row) {
			return u.actOnSelected(u.insertChosen)
		}
	}
	return nil
}
