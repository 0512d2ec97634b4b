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

// arrangementChoices lists the possible arrangements of the current tab, as choices numbered from
// first.
func (m *arranger) arrangementChoices(first int) (choices []list.Choice) {
	if m.tabs.Current == nil || m.tabs.Current.Root.IsLeaf() {
		return nil
	}
	look := m.env.Look()
	for i, a := range layout.Arrangements() {
		root := m.tabs.Current.Rearrange(a)
		if root.MinSize(layout.Beside) <= m.display.areas.tree.W && root.MinSize(layout.Below) <= m.display.areas.tree.H {
			choices = append(choices, list.Choice{Number: first + i, Sign: look.Glyphs.More, SignInk: look.Dim,
				Text: a.Name, Also: a.Does, Detail: a.Does})
		}
	}
	return choices
}

// currentLayout returns the layout as it is shown, with the names of its sessions.
func (m *arranger) currentLayout() (l api.Layout) {
	processes := m.env.News().ByID()
	for i, t := range m.tabs.EveryTab() {
		tab := api.LayoutTab{Name: t.Name}
		for _, n := range t.Root.Nodes() {
			if p := processes[n.ID]; p != nil {
				n.Name = p.Name
			}
			if n.ID == t.Focus.ID {
				tab.Focus = len(tab.Nodes)
			}
			tab.Nodes = append(tab.Nodes, n)
		}
		switch {
		case t == m.tabs.Float:
			l.Float = &tab
			continue
		case t == m.tabs.BaseTab():
			l.Current = i
		}
		l.Tabs = append(l.Tabs, tab)
	}
	l.Floats, l.Zoomed = m.tabs.IsFloating(), m.display.zoomed
	return l
}

// showLayout replaces the tabs with those of l, and shows its current tab. found is the number of
// l's sessions that exist.
func (m *arranger) showLayout(l api.Layout) (found int) {
	shown, changes := "", []api.LayoutChange(nil)
	l = layout.Resolve(l, m.env.News().Processes, m.env.News().MayHave)
	for i, t := range l.AllTabs() {
		own := api.OwnEnd
		if i == len(l.Tabs) {
			own = api.OwnFloat
		}
		changes = append(changes, api.LayoutChange{Do: api.LayoutArrange, Nodes: t.Nodes, Own: own, Name: t.Name})
		found += (len(t.Nodes) + 1) / 2
		if focus := t.Nodes[t.Focus].ID; focus != "" && (shown == "" || i == l.Current || (l.Floats && own == api.OwnFloat)) {
			shown = focus
		}
	}
	if found > 0 {
		m.focus.change(shown, changes...)
		m.focus.setZoomed(l.Zoomed)
	}
	return found
}

// askSaveLayout asks for a name and saves the layout under it.
func (m *arranger) askSaveLayout() tea.Cmd {
	l := m.currentLayout()
	if len(l.Tabs) == 0 {
		return m.env.Say("no sessions to arrange", true)
	}
	m.env.Ask(dialog.NewPrompt("Save the layout as", "", func(name string) tea.Cmd {
		return panes.AwaitAnswer(m.env.Context(), m.env, fetchSaved, panes.ReportErrors(m.env.Say, func(saved []api.SavedLayout) tea.Cmd {
			if !slices.ContainsFunc(saved, func(s api.SavedLayout) bool { return s.Name == name }) {
				return m.saveLayout(name, l)
			}
			m.env.Ask(&dialog.Question{
				Title: "Replace the layout " + text.Clean(name) + "?",
				Lines: []string{"A layout with this name already exists."},
				Yes:   "replace it",
				Then:  func() tea.Cmd { return m.saveLayout(name, l) },
			})
			return nil
		}))
	}))
	return nil
}

// saveLayout saves a layout under a name, and replaces an existing layout with the same name.
func (m *arranger) saveLayout(name string, l api.Layout) tea.Cmd {
	return panes.Call(m.env.Context(), m.env, func(ctx context.Context, e panes.Engine) (api.Empty, error) {
		return api.LayoutPut.Call(ctx, e, api.LayoutPutInput{Name: name, Layout: l})
	}, panes.ReportErrors(m.env.Say, func(api.Empty) tea.Cmd { return m.env.Say("saved layout "+name, false) }))
}

// fetchSaved fetches the layouts saved by name.
func fetchSaved(ctx context.Context, e panes.Engine) ([]api.SavedLayout, error) {
	there, err := api.LayoutGet.Call(ctx, e, api.Empty{})
	return there.Saved, err
}

// askLayout fetches the saved layouts and lets the user choose one.
func (m *arranger) askLayout() tea.Cmd {
	return panes.AwaitAnswer(m.env.Context(), m.env, fetchSaved, panes.ReportErrors(m.env.Say, m.chooseLayout))
}

// chooseLayout opens the list of saved layouts and arrangements.
func (m *arranger) chooseLayout(saved []api.SavedLayout) tea.Cmd {
	usual := m.arrangementChoices(len(saved))
	if len(saved)+len(usual) == 0 {
		return m.env.Say("no saved layouts yet; "+m.env.Bindings().KeyOrName(keymap.LayoutSave, keymap.ScopePrefix)+" saves this one", false)
	}
	u := &dialog.Picker{Title: "Show the layout", Wide: list.ChoicesWidth, Verb: func(list.Choice) string { return "show it" }}
	u.List.Set(append(m.layoutChoices(saved), usual...))
	u.Pick = func(c list.Choice) tea.Cmd {
		if c.Number >= len(saved) {
			return m.applyArrangement(layout.Arrangements()[c.Number-len(saved)])
		}
		m.env.ShowSessions()
		if m.showLayout(saved[c.Number].Layout) == 0 {
			return m.env.Say("none of its sessions exist any more", true)
		}
		return nil
	}
	removed := map[int]bool{}
	u.Stays = func(c list.Choice) bool { return c.Number >= len(saved) }
	u.Drop = func(c list.Choice) ([]list.Choice, tea.Cmd) {
		removed[c.Number] = true
		all := append(m.layoutChoices(saved), usual...)
		return slices.DeleteFunc(all, func(c list.Choice) bool { return removed[c.Number] }),
			panes.Do(m.env, func(ctx context.Context, e panes.Engine) error {
				return api.LayoutRemove.Run(ctx, e, api.LayoutRemoveInput{Name: saved[c.Number].Name})
			})
	}
	m.env.Ask(u)
	return nil
}

func (m *arranger) layoutChoices(saved []api.SavedLayout) (choices []list.Choice) {
	look := m.env.Look()
	for i, s := range saved {
		does := layout.Describe(s.Layout)
		choices = append(choices, list.Choice{Number: i, Sign: look.Glyphs.Terminal, SignInk: look.Accent,
			Text: text.Clean(s.Name), Also: does, Detail: does})
	}
	return choices
}
