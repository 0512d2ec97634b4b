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
type layoutDialogs struct{ v *View }

// arrangementChoices lists the arrangements that fit the tab, numbered from first on.
func (d *layoutDialogs) arrangementChoices(first int) (choices []list.Choice) {
	if d.v.Tabs.Current == nil || d.v.Tabs.Current.Root.Pane != nil {
		return nil
	}
	look := d.v.env.Look()
	for i, a := range layout.Arrangements() {
		root, _ := d.v.Tabs.Current.Rearrange(a)
		if root.MinSize(layout.Beside) <= d.v.areas.tree.W && root.MinSize(layout.Below) <= d.v.areas.tree.H {
			choices = append(choices, list.Choice{Number: first + i, Sign: look.Glyphs.More, SignInk: look.Dim,
				Text: a.Name, Also: a.Does, Detail: a.Does})
		}
	}
	return choices
}

// showLayout arranges the sessions as in l. found is how many of them exist.
func (d *layoutDialogs) showLayout(l api.Layout) (found int) {
	t, found := d.v.Tabs.ApplyLayout(l, d.v.env.News().WithLayout(l))
	if t == nil && d.v.Tabs.Current == nil && len(d.v.Tabs.All) > 0 {
		t = d.v.Tabs.All[0]
	}
	d.v.zoomed = false
	if t != nil {
		d.v.showTab(t, nil)
	} else {
		d.v.relayout()
	}
	d.v.refreshList()
	return found
}

// askSaveLayout asks for a name and saves the layout under it.
func (d *layoutDialogs) askSaveLayout() tea.Cmd {
	l := d.v.layoutSync.currentLayout()
	// Hidden sessions are not part of a named layout.
	l.Closed = nil
	if len(l.Tabs) == 0 {
		return d.v.env.Say("no sessions to arrange", true)
	}
	d.v.env.Ask(dialog.NewPrompt("Save the layout as", "", func(name string) tea.Cmd {
		return panes.Call(d.v.env, func(ctx context.Context, e panes.Engine) tea.Msg {
			there, err := api.LayoutGet.Call(ctx, e, api.Empty{})
			if err == nil && slices.ContainsFunc(there.Saved, func(s api.SavedLayout) bool { return s.Name == name }) {
				return layoutExistsMsg{name, l}
			}
			return putLayout(ctx, e, name, l)
		}, func(err error) tea.Msg { return layoutSavedMsg{name, err} })
	}))
	return nil
}

func putLayout(ctx context.Context, e api.Engine, name string, l api.Layout) tea.Msg {
	return layoutSavedMsg{name, api.LayoutPut.Run(ctx, e, api.LayoutPutInput{Name: name, Layout: l})}
}

// layoutExistsMsg reports that the name chosen for a layout is in use.
type layoutExistsMsg struct {
	name   string
	layout api.Layout
}

func (d *layoutDialogs) askReplaceLayout(msg layoutExistsMsg) {
	d.v.env.Ask(&dialog.Question{
		Title: "Replace the layout " + text.Clean(msg.name) + "?",
		Lines: []string{"A layout with this name already exists."},
		Yes:   "replace it",
		Then: panes.Call(d.v.env, func(ctx context.Context, e panes.Engine) tea.Msg { return putLayout(ctx, e, msg.name, msg.layout) },
			func(err error) tea.Msg { return layoutSavedMsg{msg.name, err} }),
	})
}

// layoutSavedMsg is the result of saving a layout under a name.
type layoutSavedMsg struct {
	name string
	err  error
}

func (d *layoutDialogs) reportSaved(msg layoutSavedMsg) tea.Cmd {
	if msg.err != nil {
		return d.v.env.Say(panes.ErrorText(msg.err), true)
	}
	return d.v.env.Say("saved layout "+msg.name, false)
}

// askLayout fetches the saved layouts and lets the user choose one.
func (d *layoutDialogs) askLayout() tea.Cmd {
	return panes.AwaitAnswer(d.v.env.Context(), d.v.env, func(ctx context.Context, e panes.Engine) ([]api.SavedLayout, error) {
		there, err := api.LayoutGet.Call(ctx, e, api.Empty{})
		return there.Saved, err
	}, d.chooseLayout)
}

// chooseLayout opens the list of saved layouts and arrangements.
func (d *layoutDialogs) chooseLayout(saved []api.SavedLayout, err error) tea.Cmd {
	usual := d.arrangementChoices(len(saved))
	switch {
	case err != nil:
		return d.v.env.Say(panes.ErrorText(err), true)
	case len(saved)+len(usual) == 0:
		return d.v.env.Say("no saved layouts yet; "+d.v.env.Bindings().KeyOrName(keymap.LayoutSave, keymap.ScopePrefix)+" saves this one", false)
	}
	u := &dialog.Picker{Title: "Show the layout", Wide: list.ChoicesWidth, Verb: func(list.Choice) string { return "show it" }}
	u.List.Set(append(d.layoutChoices(saved), usual...))
	u.Pick = func(c list.Choice) tea.Cmd {
		if c.Number >= len(saved) {
			return d.v.arranger.applyArrangement(layout.Arrangements()[c.Number-len(saved)])
		}
		d.v.env.ShowSessions()
		if d.showLayout(saved[c.Number].Layout) == 0 {
			return d.v.env.Say("none of its sessions exists", true)
		}
		return nil
	}
	removed := map[int]bool{}
	u.Stays = func(c list.Choice) bool { return c.Number >= len(saved) }
	u.Drop = func(c list.Choice) ([]list.Choice, tea.Cmd) {
		removed[c.Number] = true
		all := append(d.layoutChoices(saved), usual...)
		return slices.DeleteFunc(all, func(c list.Choice) bool { return removed[c.Number] }),
			panes.Do(d.v.env, func(ctx context.Context, e panes.Engine) error {
				return api.LayoutRemove.Run(ctx, e, api.LayoutRemoveInput{Name: saved[c.Number].Name})
			})
	}
	d.v.env.Ask(u)
	return nil
}

func (d *layoutDialogs) layoutChoices(saved []api.SavedLayout) (choices []list.Choice) {
	look := d.v.env.Look()
	for i, s := range saved {
		does := layout.Describe(s.Layout)
		choices = append(choices, list.Choice{Number: i, Sign: look.Glyphs.Terminal, SignInk: look.Accent,
			Text: text.Clean(s.Name), Also: does, Detail: does})
	}
	return choices
}
