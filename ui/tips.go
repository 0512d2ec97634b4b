package ui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// tipsHeight is the minimum height of a screen with a row of tips.
const tipsHeight = 20

// showsTips reports whether the row of tips is shown.
func (m *model) showsTips() bool {
	return m.o.ShowTips && m.areas.h >= tipsHeight && m.areas.w >= minScreenWidth
}

// hideTips hides the row permanently.
func (m *model) hideTips() tea.Cmd {
	if !m.o.ShowTips {
		return nil
	}
	m.o.ShowTips = false
	m.relayout()
	if hide := m.o.HideTips; hide != nil {
		return func() tea.Msg {
			hide()
			return nil
		}
	}
	return nil
}

// drawTips draws the row of tips, leaving out keys the status bar shows.
func (s *statusBar) drawTips() string {
	return dialog.DrawTips(s.m.o.Bindings, s.hints, s.m.areas.w, &s.m.theme.look)
}

// hintsWidth returns the width of hints side by side, in cells.
func hintsWidth(hints []keymap.Hint) int {
	_, used := look.Hints(hints, 1<<16, 0, "", "")
	return used
}

// tmuxPrefix is tmux's default prefix key. Inside tmux it never reaches the dashboard.
const tmuxPrefix = "ctrl+b"

// otherPrefixes are the alternatives offered.
var otherPrefixes = []string{"ctrl+a", "ctrl+g", "ctrl+space"}

// prefixSaved is the result of saving the prefix key.
type prefixSaved struct {
	key, path string
	err       error
}

func (msg prefixSaved) applyTo(m *model) tea.Cmd {
	if msg.err != nil {
		return m.notices.showToast(msg.err.Error(), true)
	}
	return m.notices.showToast(fmt.Sprintf("prefix = %q is in %s now", msg.key, text.ShortPath(msg.path, m.o.Home)), false)
}

// offerPrefix asks a user inside tmux for another prefix key, unless they have chosen one.
func (m *model) offerPrefix() {
	keep := m.o.KeepPrefix
	taken := slices.ContainsFunc(m.o.Bindings.PrefixKeys(), func(k keys.Key) bool { return k.String() == tmuxPrefix })
	if !m.o.InTmux || m.o.PrefixChosen || keep == nil || !taken {
		return
	}
	u := &dialog.Picker{Title: "tmux uses " + tmuxPrefix + " too. Which key comes before Tandem's commands?", Wide: 72,
		Verb: func(list.Choice) string { return "use it" }}
	names := append([]string{tmuxPrefix}, otherPrefixes...)
	var choices []list.Choice
	for i, name := range names {
		choices = append(choices, list.Choice{Text: name, Number: i})
	}
	choices[0].Detail = "press it twice: tmux passes the second one on"
	u.List.Set(choices)
	u.Pick = func(c list.Choice) tea.Cmd {
		return func() tea.Msg {
			path, err := keep(names[c.Number])
			return prefixSaved{names[c.Number], path, err}
		}
	}
	m.dialog.open = u
}
