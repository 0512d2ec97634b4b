package ui

import (
	"maps"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/ui/layout"
	"tandem/ui/screen"
)

// A table of actions is what each does.
type actionTable map[keymap.Action]func(*model) tea.Cmd

// actions is what each action does.
func actions() actionTable {
	all := actionTable{}
	for _, part := range []actionTable{
		movementActions(), sessionActions(), listActions(),
		layoutActions(),
	} {
		maps.Copy(all, part)
	}
	return all
}

// movementActions are those of the views and panes.
func movementActions() actionTable {
	return actionTable{
		keymap.ViewSessions:  func(m *model) tea.Cmd { return m.setView(viewSessions) },
		keymap.ViewProcesses: func(m *model) tea.Cmd { return m.setView(viewProcesses) },
		keymap.ViewHistory:   func(m *model) tea.Cmd { return m.setView(viewHistory) },
		keymap.ViewFiles:     func(m *model) tea.Cmd { return m.setView(viewFiles) },

		keymap.FocusLeft:     func(m *model) tea.Cmd { return m.focusTowards(layout.Left) },
		keymap.FocusRight:    func(m *model) tea.Cmd { return m.focusTowards(layout.Right) },
		keymap.FocusUp:       func(m *model) tea.Cmd { return m.focusTowards(layout.Up) },
		keymap.FocusDown:     func(m *model) tea.Cmd { return m.focusTowards(layout.Down) },
		keymap.FocusNext:     func(m *model) tea.Cmd { return m.focusStep(1) },
		keymap.FocusPrevious: func(m *model) tea.Cmd { return m.focusStep(-1) },
		keymap.FocusList:     (*model).focusList,
	}
}

// sessionActions are those of sessions and splits.
func sessionActions() actionTable {
	return actionTable{
		keymap.SplitBeside: func(m *model) tea.Cmd { return m.split(layout.Beside) },
		keymap.SplitBelow:  func(m *model) tea.Cmd { return m.split(layout.Below) },
		keymap.PaneZoom:    (*model).zoom,
		keymap.PaneClose:   (*model).closePane,
		keymap.ResizeLeft:  func(m *model) tea.Cmd { return m.push(layout.Left) },
		keymap.ResizeRight: func(m *model) tea.Cmd { return m.push(layout.Right) },
		keymap.ResizeUp:    func(m *model) tea.Cmd { return m.push(layout.Up) },
		keymap.ResizeDown:  func(m *model) tea.Cmd { return m.push(layout.Down) },

		keymap.SessionNew:      (*model).newSession,
		keymap.SessionNext:     func(m *model) tea.Cmd { return m.step(1) },
		keymap.SessionPrevious: func(m *model) tea.Cmd { return m.step(-1) },
		keymap.SessionRename:   (*model).askName,
		keymap.SessionEnd:      (*model).askEnd,
		keymap.SessionForget:   (*model).askForget,
		keymap.SessionKeyboard: (*model).toggleKeyboard,
		keymap.SessionOpen:     (*model).toggleOpen,
	}
}

// listActions are those of every list, and the dashboard itself.
func listActions() actionTable {
	return actionTable{
		keymap.MoveDown:     listBy(1),
		keymap.MoveUp:       listBy(-1),
		keymap.MovePageDown: func(m *model) tea.Cmd { return m.moveList(m.listPage()) },
		keymap.MovePageUp:   func(m *model) tea.Cmd { return m.moveList(-m.listPage()) },
		keymap.MoveFirst:    func(m *model) tea.Cmd { return m.moveList(-allRows) },
		keymap.MoveLast:     func(m *model) tea.Cmd { return m.moveList(allRows) },
		keymap.Open:         (*model).openSelected,
		keymap.Filter:       (*model).askFilter,
		keymap.Clear:        (*model).clearFilter,

		keymap.ProcessNew:    (*model).showStartForm,
		keymap.HistoryInsert: func(m *model) tea.Cmd { return m.history.Recall() },

		keymap.PasteBuffer: (*model).pasteBuffer,

		keymap.Requests: (*model).showRequests,
		keymap.Help:     (*model).showHelp,
		keymap.Palette:  (*model).showPalette,

		keymap.ThemePick: (*model).showThemes,
		keymap.TipsHide:  (*model).hideTips,

		keymap.Detach: (*model).leave,
		keymap.Quit:   (*model).leave,
	}
}

func listBy(rows int) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { return m.moveList(rows) }
}

// scopes are the scopes of what has the keyboard, from the inside outward.
func (m *model) scopes() []keymap.Scope {
	p := m.focused()
	switch {
	case m.overlay != nil:
		return m.overlay.Scopes()
	case p != nil:
		return append(p.Scopes(), keymap.ScopeGlobal)
	}
	if p := m.pane(); p != nil {
		return append(p.Scopes(), keymap.ScopeGlobal)
	}
	return []keymap.Scope{keymap.ScopeSessions, keymap.ScopeList, keymap.ScopeGlobal}
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
	if p := m.pane(); p != nil {
		return m.typeIn(p, k)
	}
	if p := m.focused(); p != nil {
		return p.Key(k)
	}
	return nil
}

// takeKey lets a key be taken before it is looked up.
func (m *model) takeKey(k keys.Key) (taken bool) {
	for _, l := range m.visible() {
		l.Pane.Unmark()
	}
	if p := m.focused(); p != nil && p.Take(k) {
		return true
	}
	return m.pushAgain(k) || m.leaveTooSmall(k)
}

// paste gives pasted text to what has the keyboard.
func (m *model) paste(text string) tea.Cmd {
	if m.overlay != nil {
		m.dirty = true
		return m.overlay.Paste(m, text)
	}
	if p := m.pane(); p != nil {
		m.dirty = true
		return p.Paste(text)
	}
	if p := m.focused(); p != nil {
		return p.Paste(text)
	}
	return nil
}

func (m *model) setView(v viewKind) tea.Cmd {
	if v != m.view && !m.toast.news { // what was said of the other view would hide the keys of this one
		m.hush()
	}
	m.moveFocus(func() { m.switchTo(v) })
	m.relayout()
	return nil
}

// focusTowards moves the focus to the pane beside, the list included.
func (m *model) focusTowards(d layout.Direction) tea.Cmd {
	if m.view != viewSessions || m.tabs.Current == nil || m.zoomed {
		return nil
	}
	if m.listFocused {
		if back := layout.Right; d == back || m.layout.list.W == 0 && d == layout.Down {
			m.moveFocus(func() { m.listFocused = false })
		}
		return nil
	}
	if next := m.tabs.Current.Focus.Neighbour(d); next != nil {
		m.moveFocus(func() { m.tabs.Current.Focus = next })
		return nil
	}
	if d == layout.Left && m.layout.list.W > 0 || d == layout.Up && m.layout.strip.W > 0 {
		return m.focusList()
	}
	return nil
}

// focusStep goes around all panes of the view.
func (m *model) focusStep(step int) tea.Cmd {
	if m.view != viewSessions || m.tabs.Current == nil || m.zoomed {
		return nil
	}
	leaves := m.tabs.Current.Root.Leaves(nil)
	at := -1 // the list
	if !m.listFocused {
		for i, l := range leaves {
			if l == m.tabs.Current.Focus {
				at = i
			}
		}
	}
	at += step
	if at < -1 {
		at = len(leaves) - 1
	}
	m.moveFocus(func() {
		m.listFocused = at < 0 || at == len(leaves)
		if !m.listFocused {
			m.tabs.Current.Focus = leaves[at]
		}
	})
	m.refreshList()
	return nil
}

// focusList gives the keyboard to the session list, or back.
func (m *model) focusList() tea.Cmd {
	if m.view != viewSessions {
		return m.setView(viewSessions)
	}
	if m.zoomed {
		m.zoomed = false
		m.relayout()
	}
	m.moveFocus(func() { m.listFocused = !m.listFocused })
	m.refreshList()
	return nil
}

func (m *model) push(d layout.Direction) tea.Cmd {
	if m.tabs.Current != nil && !m.zoomed && m.view == viewSessions {
		step := 2
		if d == layout.Left || d == layout.Right {
			step = 4
		}
		m.tabs.Current.Focus.Push(d, step)
		m.relayout()
		m.layouts.pushed = time.Now()
	}
	return nil
}

// allRows is more than any list has.
const allRows = 1 << 30

func (m *model) moveList(rows int) tea.Cmd {
	switch m.view {
	case viewSessions:
		m.list.Move(rows)
	}
	return nil
}

func (m *model) listPage() int {
	return max(m.layout.list.H-2, 1)
}

// leave ends the dashboard and nothing else.
func (m *model) leave() tea.Cmd {
	m.left = true
	return tea.Quit
}
