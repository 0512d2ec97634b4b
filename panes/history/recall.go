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

// A recall is a dialog with the history, over a terminal. The command that the user chooses is
// inserted at the prompt.
type recall struct {
	finder finder
	act    *actions
	click  list.Click
	top    int // rows above the list
}

const (
	recallBorder = 4 // columns of the border
	recallRows   = 2 // rows besides the list: the query and the filters
)

// OpenRecall opens the history over a terminal.
func (p *Pane) OpenRecall() tea.Cmd {
	u := &recall{finder: newFinder(p.env), act: &p.act}
	u.finder.isShown, u.finder.onCancel = func() bool { return p.env.Shows(u) }, u.close
	u.finder.list.Focused = true
	u.finder.startSearch(0)
	p.recall = u
	p.env.Ask(u)
	return nil
}

func (u *recall) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopeRecall} }

func (u *recall) Do(_ dialog.Host, a keymap.Action) tea.Cmd {
	switch a {
	case keymap.HistoryPick:
		return u.finder.actOnChosen(u.insertChosen)
	case keymap.HistoryOlder:
		u.finder.list.Move(1)
	case keymap.HistoryNewer:
		u.finder.list.Move(-1)
	case keymap.HistoryRun:
		return u.closeAndAct(u.act.runCommands)
	case keymap.HistoryCopy:
		return u.closeAndAct(u.act.copyCommands)
	case keymap.HistoryLeave:
		u.close()
	default:
		u.finder.toggleFilter(a)
	}
	return nil
}

func (u *recall) close() {
	u.finder.fetching.Cancel()
	u.finder.env.Close()
}

// closeAndAct closes the dialog and calls act with the selected command.
func (u *recall) closeAndAct(act func([]api.HistoryRow) tea.Cmd) tea.Cmd {
	return u.finder.actOnSelected(func(row api.HistoryRow) tea.Cmd {
		u.close()
		return act([]api.HistoryRow{row})
	})
}

func (u *recall) insertChosen(row api.HistoryRow) tea.Cmd {
	u.close()
	return u.act.insertAtPrompt(row)
}

func (u *recall) Type(_ dialog.Host, k tea.KeyPressMsg) tea.Cmd {
	u.finder.typeKey(k)
	return nil
}

func (u *recall) Paste(_ dialog.Host, text string) tea.Cmd {
	u.finder.insertText(text)
	return nil
}

func (u *recall) Draw(h dialog.Host, w, height int) (rows []string, width, x, y int) {
	width = min(w-recallBorder-2, 136)
	height = min(max(height*3/5, 11), height-6)
	query, x := u.finder.drawQuery(width, true)
	rows = []string{query, u.finder.query.drawFilters(width, keymap.ScopeRecall)}
	u.top = len(rows)
	rows = append(rows, u.finder.drawList(width, height-recallRows, time.Now())...)
	return rows, width, x, 0
}

// Hints returns the keys that are useful next: only the one that closes the dialog if no command
// was found.
func (u *recall) Hints(h dialog.Host) []keymap.Hint {
	hint := func(a keymap.Action, does string) keymap.Hint { return h.Bindings().Hint(a, does, keymap.ScopeRecall) }
	leave := hint(keymap.HistoryLeave, "close")
	if u.finder.list.IsSettled() && u.finder.list.Total() == 0 {
		return []keymap.Hint{leave}
	}
	return []keymap.Hint{hint(keymap.HistoryPick, "insert at the prompt"),
		h.Bindings().PairHint(keymap.HistoryNewer, keymap.HistoryOlder, "choose", keymap.ScopeRecall),
		hint(keymap.HistoryRun, "run"), hint(keymap.HistoryCopy, "copy"), leave}
}

func (u *recall) Traits() dialog.Traits { return dialog.Traits{Mouse: u.Mouse} }

func (u *recall) Mouse(_ dialog.Host, e keys.Mouse) tea.Cmd {
	row := u.finder.list.RowAt(e.Y - u.top)
	switch {
	case e.IsWheel():
		u.finder.list.Move(list.WheelRows(e))
	case !e.IsLeftDown():
		return nil
	case e.Y == 1:
		u.finder.toggleFilter(u.finder.query.filterAt(e.X))
	case row >= 0 && e.Y < u.top+1+u.finder.list.PageRows()+1:
		u.finder.list.MoveTo(row)
		if u.click.Again(row) {
			return u.finder.actOnSelected(u.insertChosen)
		}
	}
	return nil
}
