package history

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// A recall is the history over a terminal: what is chosen goes onto the prompt.
type recall struct {
	finder
	pane  *Pane
	click widget.Click
	top   int // rows above the list
}

const (
	recallEdge = 4 // columns of the box around its inside
	recallRows = 2 // beside the list: the query and the filters
)

// Recall opens the history over a terminal.
func (p *Pane) Recall() tea.Cmd {
	u := &recall{finder: finder{env: p.env}, pane: p}
	u.shows, u.leave = func() bool { return p.env.Shows(u) }, u.close
	u.list.Focused = true
	u.search(0)
	p.recall = u
	p.env.Ask(u)
	return nil
}

func (u *recall) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopeRecall} }

func (u *recall) Do(_ overlay.Host, a keymap.Action) tea.Cmd {
	switch a {
	case keymap.HistoryPick:
		return u.pick(u.choose)
	case keymap.HistoryOlder:
		u.list.Move(1)
	case keymap.HistoryNewer:
		u.list.Move(-1)
	case keymap.HistoryRun:
		return u.withSelected(func(row api.HistoryRow) tea.Cmd {
			u.close()
			return u.pane.runAgain(row)
		})
	case keymap.HistoryCopy:
		return u.withSelected(func(row api.HistoryRow) tea.Cmd {
			u.close()
			return u.pane.copyCommand(row)
		})
	case keymap.HistoryLeave:
		u.close()
	default:
		u.toggle(a)
	}
	return nil
}

func (u *recall) close() {
	u.end()
	u.env.Close()
}

func (u *recall) choose(row api.HistoryRow) tea.Cmd {
	u.close()
	return u.pane.PutOnPrompt(row)
}

func (u *recall) Type(_ overlay.Host, k tea.KeyPressMsg) tea.Cmd {
	u.typeKey(k)
	return nil
}

func (u *recall) Paste(_ overlay.Host, text string) tea.Cmd {
	u.insert(text)
	return nil
}

func (u *recall) Draw(h overlay.Host, w, height int) (rows []string, width, x, y int) {
	width = min(w-recallEdge-2, 136)
	height = min(max(height*3/5, 11), height-6)
	query, x := u.drawQuery(width, true)
	rows = []string{query, u.drawFilters(width, keymap.ScopeRecall)}
	u.top = len(rows)
	rows = append(rows, u.drawList(width, height-recallRows, time.Now())...)
	return rows, width, x, 0
}

// Hints are the next useful keys: with nothing found there is nothing to do
// anything with.
func (u *recall) Hints(_ overlay.Host) []widget.Hint {
	leave := u.hint(keymap.HistoryLeave, "close")
	if u.list.Settled() && u.list.Total() == 0 {
		return []widget.Hint{leave}
	}
	return []widget.Hint{u.hint(keymap.HistoryPick, "insert at the prompt"), u.chooses(keymap.ScopeRecall, keymap.HistoryNewer, keymap.HistoryOlder, "choose"),
		panes.HintFor(u.env.Bindings(), keymap.HistoryRun, "run", keymap.ScopeRecall), panes.HintFor(u.env.Bindings(), keymap.HistoryCopy, "copy", keymap.ScopeRecall), leave}
}

// Mouse handles the mouse inside the box.
func (u *recall) Mouse(_ overlay.Host, e keys.Mouse) tea.Cmd {
	row := u.list.RowAt(e.Y - u.top)
	switch {
	case widget.IsWheel(e):
		u.list.Move(widget.WheelRows(e))
	case !widget.LeftDown(e):
		return nil
	case e.Y == 1:
		u.clickFilter(e.X)
	case row >= 0 && e.Y < u.top+1+u.list.Page()+1:
		u.list.Go(row)
		if u.click.Again(row) {
			return u.withSelected(u.choose)
		}
	}
	return nil
}
