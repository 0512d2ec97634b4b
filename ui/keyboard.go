package ui

import (
	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/sessions"
	"tandem/panes/terminal"
	"tandem/ui/screen"
)

// A keyboard gives keys and pastes to the open dialog, to an action, or to the view on the
// screen.
type keyboard struct {
	o        *Options
	resolver *keymap.Resolver
	dialog   *openDialog
	views    *views
	prefix   prefixKeys
	frame    *frame
	actions  panes.Actions       // of the dashboard itself
	sessions *sessions.View      // whose actions work everywhere
	escape   func(keys.Key) bool // leaves a view that does not fit
	say      func(text string, bad bool) tea.Cmd
}

// rebind replaces the bindings. A pressed prefix keeps waiting: the next key is meant
// for the dashboard, not for a program.
func (k *keyboard) rebind(b keymap.Bindings) {
	pending := k.resolver.Pending()
	k.resolver = keymap.NewResolver(b)
	if pending {
		k.resolver.Resolve(b.PrefixKeys()[0], keymap.ScopeGlobal)
	}
}

// findAction returns the handler of an action: of the active view, the dashboard, or the
// focused pane. It returns nil if there is none, or nothing to do now.
func (k *keyboard) findAction(a keymap.Action) func() tea.Cmd {
	if a == keymap.QuestionOpen && len(k.dialog.waiting) == 0 || a == keymap.TipsHide && !k.prefix.tips.areShown() {
		return nil
	}
	for _, actions := range []panes.Actions{k.views.pane().Actions(), k.actions} {
		if act := actions[a]; act != nil {
			return act
		}
	}
	return k.sessions.Action(a)
}

// pick runs an action that the user chose from the list of keys after the prefix.
func (k *keyboard) pick(a keymap.Action) tea.Cmd {
	k.resolver.Cancel()
	k.frame.redraw()
	return k.findAction(a)()
}

// textPane returns the pane that can take typed text in one piece, because none of its
// keys is bound. It returns nil if the keys must be handled one by one.
func (k *keyboard) textPane(text string) *terminal.Pane {
	if text == "" || !k.isForPane() {
		return nil
	}
	if p, _ := k.sessions.TypingPane(); p != nil && !k.resolver.BindsAny(text, k.activeScopes()...) {
		if _, takes := p.Takes(); takes {
			return p
		}
	}
	return nil
}

// keyPane returns the pane to which keys without a binding can be typed at once, without Update,
// and the scopes in which bindings are looked up. It returns nil if the keyboard must handle all
// keys.
func (k *keyboard) keyPane() (*terminal.Pane, []keymap.Scope) {
	if !k.isForPane() || k.dialog.press.on != nil {
		return nil, nil
	}
	if p, marked := k.sessions.TypingPane(); p != nil && !marked {
		if takes, _ := p.Takes(); takes {
			return p, k.activeScopes()
		}
	}
	return nil, nil
}

// isForPane reports whether keys without a binding go to the view of sessions.
func (k *keyboard) isForPane() bool {
	return k.views.action() == keymap.ViewSessions && k.dialog.open == nil && !k.resolver.Pending()
}

// activeScopes returns the scopes in which keys are looked up, innermost first.
func (k *keyboard) activeScopes() []keymap.Scope {
	if k.dialog.open != nil {
		return k.dialog.open.Scopes()
	}
	return append(k.views.pane().Scopes(), keymap.ScopeGlobal)
}

// press handles a key: it runs the bound action or passes the key to the program.
func (k *keyboard) press(key keys.Key) tea.Cmd {
	pending := k.resolver.Pending()
	// A pane may claim a key before its binding is looked up, but never after the prefix.
	if k.dialog.open == nil && !pending && key.Phase != keys.Release && k.interceptKey(key) {
		return nil
	}
	outcome := k.resolver.Resolve(key, k.activeScopes()...)
	if pending != k.resolver.Pending() {
		k.frame.redraw()
		if !pending {
			return k.prefix.startWait()
		}
	}
	switch outcome.Kind {
	case keymap.Bound:
		k.frame.redraw()
		if k.dialog.open != nil && outcome.Action != keymap.Help {
			return k.dialog.do(outcome.Action)
		}
		if act := k.findAction(outcome.Action); act != nil {
			return act()
		}
		name := key.Show()
		if pending && key.Code == keys.Escape { // also bound to what is not there
			return nil
		}
		if pending {
			name = k.o.Bindings.PrefixKeys()[0].Show() + " " + name
		}
		return k.say(name+" does nothing here", false)
	case keymap.Unbound:
		return k.typeKey(key)
	case keymap.Dropped:
		// Esc cancels the prefix without a note.
		if key.Code != keys.Escape {
			return k.say(k.o.Bindings.PrefixKeys()[0].Show()+" "+key.Show()+" does nothing", false)
		}
	}
	return nil
}

// typeKey passes a key without a binding to the dialog or pane with the keyboard.
func (k *keyboard) typeKey(key keys.Key) tea.Cmd {
	if k.dialog.open != nil {
		return k.dialog.typeKey(key)
	}
	if t, ok := k.views.pane().(panes.KeyTaker); ok {
		return t.HandleKey(key)
	}
	press, ok := screen.Press(key)
	if !ok {
		return nil
	}
	k.frame.redraw()
	return k.views.pane().Type(press)
}

// interceptKey offers a key to the active view before its binding is looked up.
func (k *keyboard) interceptKey(key keys.Key) (taken bool) {
	t, ok := k.views.pane().(panes.KeyTaker)
	return ok && t.TakeKey(key) || k.escape(key)
}

// focus returns the dialog or pane with the keyboard.
func (k *keyboard) focus() any {
	switch {
	case k.dialog.open != nil:
		return k.dialog.open
	case k.views.action() == keymap.ViewSessions:
		return k.sessions.CurrentPane()
	}
	return k.views.pane()
}

// paste passes pasted text to the dialog or pane with the keyboard.
func (k *keyboard) paste(text string) tea.Cmd {
	if k.dialog.open != nil {
		return k.dialog.paste(text)
	}
	k.frame.redrawFor(k.views.pane())
	return k.views.pane().Paste(text)
}
