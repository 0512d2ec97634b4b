package ui

import (
	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/web"
	"tandem/ui/screen"
)

// An input routes the user's keys, pastes and mouse events to the open dialog, to an
// action, or to the pane with the keyboard.
type input struct {
	m         *model
	queue     *screen.Input
	resolver  *keymap.Resolver
	actions   panes.Actions   // of the dashboard itself
	mousePane panes.Pane      // the view in which a mouse button was pressed; it receives the release
	early     []screen.Event  // keys typed before the first session opened
	pending   []panes.Pending // actions that must finish before more input is handled
	detached  bool            // the user has detached; later input is dropped
}

// makeActions returns the dashboard's own actions; each view adds its own.
func (in *input) makeActions() panes.Actions {
	all := panes.Actions{
		keymap.ProcessNew:     in.m.form.showStart,
		keymap.SessionNewTree: in.m.form.showTree,
		keymap.SessionFleet: func() tea.Cmd {
			return tea.Sequence(in.m.setView(keymap.ViewProcesses), in.m.processes.ShowFleet("kind:session"))
		},
		keymap.HistoryInsert: in.m.history.OpenRecall,
		keymap.PasteBuffer:   in.m.clip.pasteLast,

		keymap.Requests: func() tea.Cmd { return in.m.env.ShowRequest("") },
		keymap.Machines: in.m.machines.Show,
		keymap.Browser:  func() tea.Cmd { return web.ShowLink(in.m.env) },
		keymap.Help:     in.m.showHelp,
		keymap.Palette:  in.m.showPalette,

		keymap.ThemePick: in.m.theme.showPicker,
		keymap.TipsHide:  in.m.tips.hide,

		keymap.Detach: in.m.detach,
		keymap.Quit:   in.m.detach,
	}
	for _, v := range in.m.views.all {
		all[v.Action] = func() tea.Cmd { return in.m.setView(v.Action) }
	}
	return all
}

// activeScopes returns the scopes in which keys are looked up, innermost first.
func (in *input) activeScopes() []keymap.Scope {
	if in.m.dialog.open != nil {
		return in.m.dialog.open.Scopes()
	}
	return append(in.m.views.pane().Scopes(), keymap.ScopeGlobal)
}

// pressKey handles a key: it runs the bound action or passes the key to the program.
func (in *input) pressKey(k keys.Key) tea.Cmd {
	pending := in.resolver.Pending()
	// A pane may claim a key before its binding is looked up, but never after the prefix.
	if in.m.dialog.open == nil && !pending && k.Phase != keys.Release && in.interceptKey(k) {
		return nil
	}
	outcome := in.resolver.Resolve(k, in.activeScopes()...)
	if pending != in.resolver.Pending() {
		in.m.frame.redraw()
		if !pending {
			return in.m.prefix.startWait()
		}
	}
	switch outcome.Kind {
	case keymap.Bound:
		in.m.frame.redraw()
		if in.m.dialog.open != nil && outcome.Action != keymap.Help {
			return in.m.dialog.open.Do(in.m.env, outcome.Action)
		}
		if act := in.findAction(outcome.Action); act != nil {
			return act()
		}
	case keymap.Unbound:
		return in.typeKey(k)
	case keymap.Dropped:
		// Esc cancels the prefix without a note.
		if k.Code != keys.Escape {
			return in.m.notices.toast.Say(in.m.o.Bindings.PrefixKeys()[0].Show()+" "+k.Show()+" does nothing", false)
		}
	}
	return nil
}

// typeKey passes a key without a binding to the dialog or pane with the keyboard.
func (in *input) typeKey(k keys.Key) tea.Cmd {
	if in.m.dialog.open != nil {
		in.m.frame.redraw()
		if press, ok := screen.Press(k); ok {
			return in.m.dialog.open.Type(in.m.env, press)
		}
		return nil
	}
	if t, ok := in.m.views.pane().(panes.KeyTaker); ok {
		return t.HandleKey(k)
	}
	return in.typeInto(in.m.views.pane(), k)
}

// interceptKey offers a key to the active view before its binding is looked up.
func (in *input) interceptKey(k keys.Key) (taken bool) {
	t, ok := in.m.views.pane().(panes.KeyTaker)
	return ok && t.TakeKey(k) || in.m.leaveTooSmall(k)
}

// pasteText passes pasted text to the dialog or pane with the keyboard.
func (in *input) pasteText(text string) tea.Cmd {
	if in.m.dialog.open != nil {
		in.m.frame.redraw()
		return in.m.dialog.open.Paste(in.m.env, text)
	}
	in.markDirty(in.m.views.pane())
	return in.m.views.pane().Paste(text)
}

func (m *model) setView(a keymap.Action) tea.Cmd {
	// A toast about the previous view would hide the key hints of the new one.
	if a != m.views.action() && !m.notices.toast.news {
		m.notices.toast.ClearMessage()
	}
	m.switchView(a)
	m.relayout()
	return nil
}

// detach closes the dashboard; sessions and processes keep running.
func (m *model) detach() tea.Cmd {
	m.input.detached = true
	return tea.Quit
}
