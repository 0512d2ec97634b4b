package ui

import (
	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/panes"
)

// tipsHeight is the least height of a screen that spares a row for tips.
const tipsHeight = 20

// tipsShown reports whether newcomers have a line of their own.
func (m *model) tipsShown() bool { return m.o.Tips && m.h >= tipsHeight && m.w >= minScreenWidth }

// hideTips takes the line away for good.
func (m *model) hideTips() tea.Cmd {
	if !m.o.Tips {
		return nil
	}
	m.o.Tips = false
	m.relayout()
	if hide := m.o.HideTips; hide != nil {
		return func() tea.Msg {
			hide()
			return nil
		}
	}
	return nil
}

// drawTips is the line: four keys, and how to be rid of it.
func (m *model) drawTips() string {
	look, b := &m.look, m.o.Bindings
	hint := func(a keys.Action, does string) panes.Hint {
		return panes.Hint{Key: first(b.KeysOf(a, keys.ScopePrefix)), Does: does}
	}
	hide := panes.Hint{Key: first(b.KeysOf(keys.TipsHide, keys.ScopePrefix)), Does: "hides this"}
	hints := []panes.Hint{hint(keys.SessionNew, "new session"), hint(keys.SplitBeside, "split"), hint(keys.Help, "all keys"),
		hint(keys.Detach, "leave, all goes on"), hide}
	const welcome = " New here?  "
	room := m.w - panes.Width(welcome) - 1
	line, used := panes.Hints(hints, room, 0, look.Key, look.Text)
	if used < hintCells(hints) { // in few words
		for i, does := range []string{"new", "split", "keys", "leave", "hide"} {
			hints[i].Does = does
		}
		line, used = panes.Hints(hints, room, 0, look.Key, look.Text)
	}
	return look.Accent.Text(welcome) + line + panes.Spaces(m.w-panes.Width(welcome)-used)
}

// hintCells is the width of hints beside each other.
func hintCells(hints []panes.Hint) int {
	_, used := panes.Hints(hints, 1<<16, 0, "", "")
	return used
}
