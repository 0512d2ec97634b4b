package ui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/layout"
	"tandem/ui/overlay"
)

// layoutDialogs have layouts saved and shown.
type layoutDialogs struct{ v *sessionsView }

// arrangementChoices are the arrangements that the tab has room for, by numbers
// from first on.
func (d *layoutDialogs) arrangementChoices(first int) (choices []widget.Choice) {
	if d.v.tabs.Current == nil || d.v.tabs.Current.Root.Pane != nil {
		return nil
	}
	look := d.v.env.Look()
	for i, a := range layout.Arrangements() {
		root, _ := d.v.tabs.Current.ArrangedAs(a)
		if root.Least(layout.Beside) <= d.v.areas.tree.W && root.Least(layout.Below) <= d.v.areas.tree.H {
			choices = append(choices, widget.Choice{Number: first + i, Sign: look.Glyphs.More, SignInk: look.Dim,
				Text: a.Name, Also: a.Does, Detail: a.Does})
		}
	}
	return choices
}

// showLayout lays sessions out as l says and shows it.
func (d *layoutDialogs) showLayout(l api.Layout) (found int) {
	t, found := d.v.tabs.Arrange(l, d.v.env.News().WithLayout(l))
	if t == nil && d.v.tabs.Current == nil && len(d.v.tabs.All) > 0 {
		t = d.v.tabs.All[0]
	}
	d.v.zoomed = false
	if t != nil {
		d.v.show(t, nil)
	} else {
		d.v.relayout()
	}
	d.v.refreshList()
	return found
}

// askSaveLayout keeps the layout under a name.
func (d *layoutDialogs) askSaveLayout() tea.Cmd {
	l := d.v.keeper.writeLayout()
	l.Closed = nil // that is of no arrangement
	if len(l.Tabs) == 0 {
		return d.v.env.Say("no sessions to arrange", true)
	}
	d.v.env.Ask(overlay.NewPrompt("Save the layout as", "", func(name string) tea.Cmd {
		if name == "" {
			return nil
		}
		return panes.Call(d.v.env, func(ctx context.Context, e panes.Engine) tea.Msg {
			there, err := api.LayoutGet.Call(ctx, e, api.Empty{})
			if err == nil && slices.ContainsFunc(there.Saved, func(s api.SavedLayout) bool { return s.Name == name }) {
				return layoutTaken{name, l}
			}
			return putLayout(ctx, e, name, l)
		}, func(err error) tea.Msg { return layoutSavedMsg{name, err} })
	}))
	return nil
}

func putLayout(ctx context.Context, e panes.Engine, name string, l api.Layout) tea.Msg {
	return layoutSavedMsg{name, api.LayoutPut.Run(ctx, e, api.LayoutPutInput{Name: name, Layout: l})}
}

// layoutTaken says that there is a layout of the name that one is to be saved
// under.
type layoutTaken struct {
	name   string
	layout api.Layout
}

func (d *layoutDialogs) askReplaceLayout(msg layoutTaken) {
	d.v.env.Ask(&overlay.Question{
		Title: "Replace the layout " + widget.Clean(msg.name) + "?",
		Lines: []string{"There is one of this name already."},
		Yes:   "replace it",
		Then: panes.Call(d.v.env, func(ctx context.Context, e panes.Engine) tea.Msg { return putLayout(ctx, e, msg.name, msg.layout) },
			func(err error) tea.Msg { return layoutSavedMsg{msg.name, err} }),
	})
}

// layoutSavedMsg is the outcome of saving a layout under a name.
type layoutSavedMsg struct {
	name string
	err  error
}

func (d *layoutDialogs) layoutSaved(msg layoutSavedMsg) tea.Cmd {
	if msg.err != nil {
		return d.v.env.Say(panes.ErrorText(msg.err), true)
	}
	return d.v.env.Say("the layout is saved as "+msg.name, false)
}

// askLayout lets the person choose a layout.
func (d *layoutDialogs) askLayout() tea.Cmd {
	return panes.AwaitAnswer(d.v.env.Context(), d.v.env, func(ctx context.Context, e panes.Engine) ([]api.SavedLayout, error) {
		there, err := api.LayoutGet.Call(ctx, e, api.Empty{})
		return there.Saved, err
	}, d.chooseLayout)
}

// chooseLayout shows the choice.
func (d *layoutDialogs) chooseLayout(saved []api.SavedLayout, err error) tea.Cmd {
	usual := d.arrangementChoices(len(saved))
	switch {
	case err != nil:
		return d.v.env.Say(panes.ErrorText(err), true)
	case len(saved)+len(usual) == 0:
		return d.v.env.Say("no layout is saved yet; "+keyFor(d.v.env.Bindings(), keymap.LayoutSave)+" saves this one", false)
	}
	u := &overlay.Picker{Title: "Show the layout", Wide: widget.ChoicesWidth, Verb: func(widget.Choice) string { return "show it" }}
	u.List.Set(append(d.layoutChoices(saved), usual...))
	u.Pick = func(c widget.Choice) tea.Cmd {
		if c.Number >= len(saved) {
			return d.v.moves.arrangeAs(layout.Arrangements()[c.Number-len(saved)])
		}
		d.v.env.ShowSessions()
		if d.showLayout(saved[c.Number].Layout) == 0 {
			return d.v.env.Say("none of its sessions exists", true)
		}
		return nil
	}
	removed := map[int]bool{}
	u.Stays = func(c widget.Choice) bool { return c.Number >= len(saved) }
	u.Drop = func(c widget.Choice) ([]widget.Choice, tea.Cmd) {
		removed[c.Number] = true
		all := append(d.layoutChoices(saved), usual...)
		return slices.DeleteFunc(all, func(c widget.Choice) bool { return removed[c.Number] }),
			panes.Do(d.v.env, func(ctx context.Context, e panes.Engine) error {
				return api.LayoutRemove.Run(ctx, e, api.LayoutRemoveInput{Name: saved[c.Number].Name})
			})
	}
	d.v.env.Ask(u)
	return nil
}

func (d *layoutDialogs) layoutChoices(saved []api.SavedLayout) (choices []widget.Choice) {
	look := d.v.env.Look()
	for i, s := range saved {
		does := layout.Describe(s.Layout)
		choices = append(choices, widget.Choice{Number: i, Sign: look.Glyphs.Terminal, SignInk: look.Accent,
			Text: widget.Clean(s.Name), Also: does, Detail: does})
	}
	return choices
}

// keyFor is the key of an action after the prefix, with the prefix; without one
// the action's name.
func keyFor(b keymap.Bindings, a keymap.Action) string {
	if key := panes.KeyOf(b, a, keymap.ScopePrefix); key != "" {
		return key
	}
	return string(a)
}
