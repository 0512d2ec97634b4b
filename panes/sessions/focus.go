package sessions

import (
	"slices"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
	"tandem/panes/sessions/layout"
	"tandem/panes/terminal"
)

// focusToward moves the focus to the neighbour in direction d, which may be the list.
func (s *switcher) focusToward(d layout.Direction) tea.Cmd {
	if !s.showsPanes() {
		return nil
	}
	areas := &s.display.areas
	if s.tabs.inList {
		if d == layout.Right || areas.list.W == 0 && d == layout.Down {
			s.focusTerminal()
		}
		return nil
	}
	if next := s.tabs.Current.Focus.Neighbour(d); next != nil {
		s.focusLeaf(next)
		return nil
	}
	if d == layout.Left && areas.list.W > 0 || d == layout.Up && areas.strip.W > 0 {
		return s.focusList()
	}
	return nil
}

// cycleFocus moves the focus step panes forward in the tab, wrapping around. From the list
// it returns to the panes.
func (s *switcher) cycleFocus(step int) tea.Cmd {
	if !s.showsPanes() {
		return nil
	}
	next := s.tabs.Current.Focus.NextLeaf(step)
	if leaves := s.tabs.Current.Root.Leaves(nil); s.tabs.inList && step > 0 {
		next = leaves[0]
	} else if s.tabs.inList {
		next = leaves[len(leaves)-1]
	}
	s.focusLeaf(next)
	return nil
}

// focusLastPane returns to the tab's previously focused pane. From the list it returns to
// the panes.
func (s *switcher) focusLastPane() tea.Cmd {
	if !s.showsPanes() {
		return nil
	}
	switch before := s.tabs.Current.PreviousFocus(); {
	case s.tabs.inList:
		s.focusTerminal()
	case before == nil:
		return s.env.Say("no other pane in this tab", false)
	default:
		s.focusLeaf(before)
	}
	return nil
}

// showNumbers numbers the visible panes; the next key selects one.
func (s *switcher) showNumbers() tea.Cmd {
	if s.tabs.Current == nil {
		return nil
	}
	s.env.ShowSessions()
	leaves := s.display.visibleLeaves()
	if len(leaves) < 2 {
		return s.env.Say("no other pane on the screen", false)
	}
	s.display.setNumbers(layout.NumberLeaves(leaves))
	return nil
}

// handleNumberKey handles a key while panes show numbers. Any key hides them; only those
// bound everywhere have another effect.
func (s *switcher) handleNumberKey(k keys.Key) (taken bool) {
	if k.IsModifier() || k.Phase == keys.Repeat {
		return true
	}
	leaf := s.display.numbers.LeafFor(k.Text)
	s.display.setNumbers(nil)
	if leaf != nil && slices.Contains(s.display.visibleLeaves(), leaf) {
		s.focusLeaf(leaf)
		return true
	}
	return keymap.NewResolver(s.env.Bindings()).Resolve(k, keymap.ScopeGlobal).Kind == keymap.Unbound
}

// cycleSession moves by sessions in the list's order, wrapping around.
func (s *switcher) cycleSession(by int) tea.Cmd {
	all := s.tabs.Leaves()
	at := -1
	if s.tabs.Current != nil {
		at = slices.Index(all, s.tabs.Current.Focus)
	}
	if len(all) == 0 {
		return nil
	}
	next := all[(at+by+len(all))%len(all)]
	t, _ := s.tabs.FindSession(next.ID)
	s.openTab(t, next)
	s.env.ShowSessions()
	return nil
}

// showTabNumber shows the tab with a number, from 1.
func (s *switcher) showTabNumber(n int) tea.Cmd {
	if n > len(s.tabs.All) {
		return s.env.Say("no tab "+text.Itoa(n), false)
	}
	s.openTab(s.tabs.All[n-1], nil)
	s.env.ShowSessions()
	return nil
}

// askTabName asks for the name of the current tab.
func (s *switcher) askTabName() tea.Cmd {
	t := s.tabs.Current
	if t == nil {
		return s.env.Say("no tab to name", false)
	}
	ask := dialog.NewPrompt("Name the tab", t.Name, func(name string) tea.Cmd {
		for len(name) > api.MaxTabName {
			_, last := utf8.DecodeLastRuneInString(name)
			name = name[:len(name)-last]
		}
		// Another dashboard may have arranged the sessions anew.
		named := t
		for _, l := range t.Root.Leaves(nil) {
			if tab, _ := s.tabs.FindSession(l.ID); tab != nil {
				named = tab
				break
			}
		}
		named.Name, named.Renamed = name, true
		s.noteChange()
		s.refreshList()
		return nil
	})
	ask.Note, ask.Clears = "Without a name, it shows what runs in it.", true
	s.env.Ask(ask)
	return nil
}

// showLastTab returns to the tab shown before this one.
func (s *switcher) showLastTab() tea.Cmd {
	before := s.tabs.PreviousTab()
	if before == nil {
		return s.env.Say("no other session to go back to", false)
	}
	s.openTab(before, nil)
	s.env.ShowSessions()
	return nil
}

// TypingPane returns the focused pane if input without a binding goes there, else nil. marked reports
// whether a selection is shown, which the next key clears.
func (v *View) TypingPane() (p *terminal.Pane, marked bool) {
	if !v.display.isOpen || v.display.numbers != nil || !v.arranger.movedAt.IsZero() {
		return nil, false
	}
	marked = slices.ContainsFunc(v.display.visibleLeaves(), func(l *layout.Node) bool { return v.Tabs.Pane(l.ID).Scroll.HasFlash() })
	return v.Tabs.FocusedPane(), marked
}
