package ui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/panes/widget"
	"tandem/ui/overlay"
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

// drawTips is the line, without what the status bar below it tells.
func (s *statusBar) drawTips() string {
	return overlay.DrawTips(s.m.o.Bindings, s.hints, s.m.areas.w, &s.m.theme.look)
}

// hintCells is the width of hints beside each other.
func hintCells(hints []widget.Hint) int {
	_, used := widget.Hints(hints, 1<<16, 0, "", "")
	return used
}

// tmuxPrefix is the key that tmux keeps for itself.
const tmuxPrefix = "ctrl+b"

// otherPrefixes are offered in its place.
var otherPrefixes = []string{"ctrl+a", "ctrl+g", "ctrl+space"}

// prefixKept is the outcome of making a prefix key the person's for good.
type prefixKept struct {
	key, path string
	err       error
}

func (msg prefixKept) take(m *model) tea.Cmd {
	if msg.err != nil {
		return m.notices.say(msg.err.Error(), true)
	}
	return m.notices.say(fmt.Sprintf("prefix = %q is in %s now", msg.key, widget.ShortPath(msg.path, m.o.Home)), false)
}

// offerPrefix has somebody within tmux choose the prefix key, unless they have.
func (m *model) offerPrefix() {
	keep := m.o.KeepPrefix
	taken := slices.ContainsFunc(m.o.Bindings.PrefixKeys(), func(k keys.Key) bool { return k.String() == tmuxPrefix })
	if !m.o.InTmux || m.o.PrefixChosen || keep == nil || !taken {
		return
	}
	u := &overlay.Picker{Title: "tmux uses " + tmuxPrefix + " too. Which key comes before Tandem's commands?", Wide: 72,
		Verb: func(widget.Choice) string { return "use it" }}
	names := append([]string{tmuxPrefix}, otherPrefixes...)
	var choices []widget.Choice
	for i, name := range names {
		choices = append(choices, widget.Choice{Text: name, Number: i})
	}
	choices[0].Detail = "press it twice: tmux passes the second one on"
	u.List.Set(choices)
	u.Pick = func(c widget.Choice) tea.Cmd {
		return func() tea.Msg {
			path, err := keep(names[c.Number])
			return prefixKept{names[c.Number], path, err}
		}
	}
	m.dialog.open = u
}
