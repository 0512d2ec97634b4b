package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/widget"
)

// tipsHeight is the least height of a screen that spares a row for tips.
const tipsHeight = 20

// tipsShown reports whether newcomers have a line of their own.
func (m *model) tipsShown() bool {
	return m.o.Tips && m.areas.h >= tipsHeight && m.areas.w >= minScreenWidth
}

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
	look, b := &m.theme.look, m.o.Bindings
	prefix := b.PrefixKeys()[0].Show()
	actions := []keymap.Action{keymap.SessionNew, keymap.SplitBeside, keymap.Help, keymap.Detach, keymap.TipsHide}
	welcome := " New here? Press " + prefix + ", then  "
	words := [][]string{
		{"another session", "split in two", "all keys", "detach: everything keeps running", "hides this"},
		{"new session", "split", "all keys", "detach", "hides this"},
		{"new", "split", "keys", "detach", "hide"},
	}
	var line string
	var used int
	for _, does := range words {
		var hints []widget.Hint
		for i, a := range actions {
			if key := first(b.KeysOf(a, keymap.ScopePrefix)); key != "" {
				hints = append(hints, widget.Hint{Key: strings.TrimPrefix(key, prefix+" "), Does: does[i]})
			}
		}
		line, used = widget.Hints(hints, m.areas.w-widget.Width(welcome), 1, look.Key, look.Text)
		if used == hintCells(hints) {
			break
		}
	}
	return look.Accent.Text(welcome) + line + widget.Spaces(m.areas.w-widget.Width(welcome)-used)
}

// hintCells is the width of hints beside each other.
func hintCells(hints []widget.Hint) int {
	_, used := widget.Hints(hints, 1<<16, 0, "", "")
	return used
}
