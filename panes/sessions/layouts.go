package sessions

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
	"tandem/panes/kit/text"
	"tandem/panes/sessions/layout"
)

// layoutDialogs opens the dialogs that save and show layouts.
type layoutDialogs struct {
	env      Env
	tabs     *Tabs
	display  *display
	switcher *switcher
	current  func() api.Layout                // as it would be saved
	arrange  func(layout.Arrangement) tea.Cmd // rearranges the current tab
}

// arrangementChoices lists the arrangements that fit the tab, numbered from first on.
func (d *layoutDialogs) arrangementChoices(first int) (choices []list.Choice) {
	if d.tabs.Current == nil || d.tabs.Current.Root.IsLeaf() {
		return nil
	}
	look := d.env.Look()
	for i, a := range layout.Arrangements() {
		root, _ := d.tabs.Current.Rearrange(a)
		if root.MinSize(layout.Beside) <= d.display.areas.tree.W && root.MinSize(layout.Below) <= d.display.areas.tree.H {
			choices = append(choices, list.Choice{Number: first + i, Sign: look.Glyphs.More, SignInk: look.Dim,
				Text: a.Name, Also: a.Does, Detail: a.Does})
		}
	}
	return choices
}

// showLayout arranges the sessions as in l. found is how many of them exist.
func (d *layoutDialogs) showLayout(l api.Layout) (found int) {
	t, found := d.tabs.ApplyLayout(l, d.env.News().WithLayout(l))
	if t == nil && d.tabs.Current == nil && len(d.tabs.All) > 0 {
		t = d.tabs.All[0]
	}
	if t != nil {
		d.switcher.openTab(t, nil)
		d.switcher.setZoomed(l.Zoomed && layout.IsFocused(l, t.Focus.ID))
	}
	return found
}

// askSaveLayout asks for a name and saves the layout under it.
func (d *layoutDialogs) askSaveLayout() tea.Cmd {
	l := d.current()
	// Hidden sessions are not part of a named layout.
	l.Closed = nil
	if len(l.Tabs) == 0 {
		return d.env.Say("no sessions to arrange", true)
	}
	d.env.Ask(dialog.NewPrompt("Save the layout as", "", func(name string) tea.Cmd {
		return panes.AwaitAnswer(d.env.Context(), d.env, fetchSaved, panes.ReportErrors(d.env.Say, func(saved []api.SavedLayout) tea.Cmd {
			if !slices.ContainsFunc(saved, func(s api.SavedLayout) bool { return s.Name == name }) {
				return d.save(name, l)
			}
			d.env.Ask(&dialog.Question{
				Title: "Replace the layout " + text.Clean(name) + "?",
				Lines: []string{"A layout with this name already exists."},
				Yes:   "replace it",
				Then:  func() tea.Cmd { return d.save(name, l) },
			})
			return nil
		}))
	}))
	return nil
}

// save saves a layout under a name, in place of any other.
func (d *layoutDialogs) save(name string, l api.Layout) tea.Cmd {
	return panes.Ask(d.env.Context(), d.env, func(ctx context.Context, e panes.Engine) (api.LayoutPutOutput, error) {
		return api.LayoutPut.Call(ctx, e, api.LayoutPutInput{Name: name, Layout: l})
	}, panes.ReportErrors(d.env.Say, func(api.LayoutPutOutput) tea.Cmd { return d.env.Say("saved layout "+name, false) }))
}

// fetchSaved fetches the saved layouts.
func fetchSaved(ctx context.Context, e panes.Engine) ([]api.SavedLayout, error) {
	there, err := api.LayoutGet.Call(ctx, e, api.Empty{})
	return there.Saved, err
}

// askLayout fetches the saved layouts and lets the user choose one.
func (d *layoutDialogs) askLayout() tea.Cmd {
	return panes.AwaitAnswer(d.env.Context(), d.env, fetchSaved, panes.ReportErrors(d.env.Say, d.chooseLayout))
}

// chooseLayout opens the list of saved layouts and arrangements.
func (d *layoutDialogs) chooseLayout(saved []api.SavedLayout) tea.Cmd {
	usual := d.arrangementChoices(len(saved))
	if len(saved)+len(usual) == 0 {
		return d.env.Say("no saved layouts yet; "+d.env.Bindings().KeyOrName(keymap.LayoutSave, keymap.ScopePrefix)+" saves this one", false)
	}
	u := &dialog.Picker{Title: "Show the layout", Wide: list.ChoicesWidth, Verb: func(list.Choice) string { return "show it" }}
	u.List.Set(append(d.layoutChoices(saved), usual...))
	u.Pick = func(c list.Choice) tea.Cmd {
		if c.Number >= len(saved) {
			return d.arrange(layout.Arrangements()[c.Number-len(saved)])
		}
		d.env.ShowSessions()
		if d.showLayout(saved[c.Number].Layout) == 0 {
			return d.env.Say("none of its sessions exists", true)
		}
		return nil
	}
	removed := map[int]bool{}
	u.Stays = func(c list.Choice) bool { return c.Number >= len(saved) }
	u.Drop = func(c list.Choice) ([]list.Choice, tea.Cmd) {
		removed[c.Number] = true
		all := append(d.layoutChoices(saved), usual...)
		return slices.DeleteFunc(all, func(c list.Choice) bool { return removed[c.Number] }),
			panes.Do(d.env, func(ctx context.Context, e panes.Engine) error {
				return api.LayoutRemove.Run(ctx, e, api.LayoutRemoveInput{Name: saved[c.Number].Name})
			})
	}
	d.env.Ask(u)
	return nil
}

func (d *layoutDialogs) layoutChoices(saved []api.SavedLayout) (choices []list.Choice) {
	look := d.env.Look()
	for i, s := range saved {
		does := layout.Describe(s.Layout)
		choices = append(choices, list.Choice{Number: i, Sign: look.Glyphs.Terminal, SignInk: look.Accent,
			Text: text.Clean(s.Name), Also: does, Detail: does})
	}
	return choices
}
