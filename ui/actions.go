package ui

import (
	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/ui/screen"
)

// makeActions is what each action of the dashboard itself does.
func (m *model) makeActions() panes.Actions {
	view := func(v viewKind) func() tea.Cmd { return func() tea.Cmd { return m.setView(v) } }
	return panes.Actions{
		keymap.ViewSessions: view(viewSessions), keymap.ViewProcesses: view(viewProcesses),
		keymap.ViewHistory: view(viewHistory), keymap.ViewFiles: view(viewFiles),

		keymap.ProcessNew:    m.showStartForm,
		keymap.HistoryInsert: m.history.Recall,
		keymap.PasteBuffer:   m.pasteBuffer,

		keymap.Requests: m.showRequests,
		keymap.Help:     m.showHelp,
		keymap.Palette:  m.showPalette,

		keymap.ThemePick: m.showThemes,
		keymap.TipsHide:  m.hideTips,

		keymap.Detach: m.leave,
		keymap.Quit:   m.leave,
	}
}

// scopes are the scopes of what has the keyboard, from the inside outward.
func (m *model) scopes() []keymap.Scope {
	if m.overlay != nil {
		return m.overlay.Scopes()
	}
	return append(m.pane().Scopes(), keymap.ScopeGlobal)
}

// pressKey is the way of every key: an action, or on to the program.
func (m *model) pressKey(k keys.Key) tea.Cmd {
	pending := m.resolver.Pending()
	if m.overlay == nil && !pending && k.Phase != keys.Release && m.takeKey(k) {
		return nil
	}
	outcome := m.resolver.Resolve(k, m.scopes()...)
	if pending != m.resolver.Pending() {
		m.dirty = true
	}
	switch outcome.Kind {
	case keymap.Bound:
		m.dirty = true
		if m.overlay != nil {
			return m.overlay.Do(m, outcome.Action)
		}
		if act := m.action(outcome.Action); act != nil {
			return act()
		}
	case keymap.Unbound:
		return m.typeKey(k)
	}
	return nil
}

// typeKey gives a key that means nothing to the dashboard to what has the
// keyboard.
func (m *model) typeKey(k keys.Key) tea.Cmd {
	if m.overlay != nil {
		m.dirty = true
		if press, ok := screen.Press(k); ok {
			return m.overlay.Type(m, press)
		}
		return nil
	}
	if t, ok := m.pane().(panes.KeyTaker); ok {
		return t.Key(k)
	}
	return m.typeIn(m.pane(), k)
}

// takeKey lets a key be taken before it is looked up.
func (m *model) takeKey(k keys.Key) (taken bool) {
	t, ok := m.pane().(panes.KeyTaker)
	return ok && t.Take(k) || m.leaveTooSmall(k)
}

// paste gives pasted text to what has the keyboard.
func (m *model) paste(text string) tea.Cmd {
	if m.overlay != nil {
		m.dirty = true
		return m.overlay.Paste(m, text)
	}
	m.dirty = m.dirty || m.view != viewSessions
	return m.pane().Paste(text)
}

func (m *model) setView(v viewKind) tea.Cmd {
	if v != m.view && !m.toast.news { // what was said of the other view would hide the keys of this one
		m.hush()
	}
	m.switchTo(v)
	m.relayout()
	return nil
}

// leave ends the dashboard and nothing else.
func (m *model) leave() tea.Cmd {
	m.left = true
	return tea.Quit
}
