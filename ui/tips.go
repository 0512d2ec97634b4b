package ui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
	"tandem/panes/kit/text"
)

// tipsHeight is the minimum height of a screen with a row of tips.
const tipsHeight = 20

// tips is the row of tips for newcomers. It also offers a prefix key that suits tmux.
type tips struct {
	o        *Options
	areas    *areas
	relayout func()
	ask      func(dialog.Overlay)
	say      func(text string, bad bool) tea.Cmd
}

func (t *tips) areShown() bool {
	return t.o.ShowTips && t.areas.h >= tipsHeight && t.areas.w >= minScreenWidth
}

// hide hides the row permanently.
func (t *tips) hide() tea.Cmd {
	if !t.o.ShowTips {
		return nil
	}
	t.o.ShowTips = false
	t.relayout()
	if hide := t.o.HideTips; hide != nil {
		return func() tea.Msg {
			hide()
			return nil
		}
	}
	return nil
}

// tmuxPrefix is tmux's default prefix key. Inside tmux it never reaches the dashboard.
const tmuxPrefix = "ctrl+b"

// otherPrefixes are the alternatives offered.
var otherPrefixes = []string{"ctrl+a", "ctrl+g", "ctrl+space"}

// offerPrefix asks a user inside tmux for another prefix key, unless they have chosen one.
func (t *tips) offerPrefix() tea.Cmd {
	keep := t.o.KeepPrefix
	taken := slices.ContainsFunc(t.o.Bindings.PrefixKeys(), func(k keys.Key) bool { return k.String() == tmuxPrefix })
	if !t.o.InTmux || t.o.PrefixChosen || keep == nil || !taken {
		return nil
	}
	u := &dialog.Picker{Title: "tmux takes the first " + tmuxPrefix + ". Which key comes before Tandem's commands?", Wide: 72,
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
			return panes.Result(func() tea.Cmd { return t.reportPrefix(names[c.Number], path, err) })
		}
	}
	t.ask(u)
	return nil
}

func (t *tips) reportPrefix(key, path string, err error) tea.Cmd {
	if err != nil {
		return t.say(err.Error(), true)
	}
	return t.say(fmt.Sprintf("saved prefix %s to %s", key, text.ShortPath(path, t.o.Home)), false)
}
