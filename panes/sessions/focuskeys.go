package sessions

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/kit/text"
	"tandem/panes/sessions/layout"
)

// toward moves the focus to the neighbour in direction d, which may be the list.
func (s *focus) toward(d layout.Direction) tea.Cmd {
	if !s.showsPanes() {
		return nil
	}
	areas := &s.display.areas
	if s.inList {
		if d == layout.Right || areas.list.W == 0 && d == layout.Down {
			s.onTerminal()
		}
		return nil
	}
	if next := s.tabs.Current.Focus.Neighbour(d); next != nil {
		s.onLeaf(next)
		return nil
	}
	if d == layout.Left && areas.list.W > 0 || d == layout.Up && areas.strip.W > 0 {
		return s.toggleList()
	}
	return nil
}

// cycle moves the focus to the pane step places after the focused one in the tab, wrapping around.
// If the list has the keyboard, it returns the keyboard to the panes instead.
func (s *focus) cycle(step int) tea.Cmd {
	if !s.showsPanes() {
		return nil
	}
	next := s.tabs.Current.Focus.NextLeaf(step)
	if leaves := s.tabs.Current.Root.Leaves(nil); s.inList && step > 0 {
		next = leaves[0]
	} else if s.inList {
		next = leaves[len(leaves)-1]
	}
	s.onLeaf(next)
	return nil
}

// onPrevious returns to the pane of the tab that was focused before. If the list has the keyboard,
// it returns the keyboard to the panes instead.
func (s *focus) onPrevious() tea.Cmd {
	if !s.showsPanes() {
		return nil
	}
	switch before := s.tabs.PreviousFocus(); {
	case s.inList:
		s.onTerminal()
	case before == nil:
		return s.env.Say("no other pane in this tab", false)
	default:
		s.onLeaf(before)
	}
	return nil
}

// showNumbers numbers the visible panes; the next key selects one.
func (s *focus) showNumbers() tea.Cmd {
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

// handleNumberKey handles a key while panes show numbers. Any key hides the numbers. A key that is
// not a number has no other effect, unless it is bound everywhere.
func (s *focus) handleNumberKey(k keys.Key) (taken bool) {
	if k.IsModifier() || k.Phase == keys.Repeat {
		return true
	}
	leaf := s.display.numbers.LeafFor(k.Text)
	s.display.setNumbers(nil)
	if leaf != nil && slices.Contains(s.display.visibleLeaves(), leaf) {
		s.onLeaf(leaf)
		return true
	}
	return keymap.NewResolver(s.env.Bindings()).Resolve(k, keymap.ScopeGlobal).Kind == keymap.Unbound
}

// cycleSessions moves a number of places down the list from the current session, wrapping around,
// and shows the session there. places may be negative.
func (s *focus) cycleSessions(places int) tea.Cmd {
	all := s.tabs.Leaves()
	at := -1
	if s.tabs.Current != nil {
		at = slices.Index(all, s.tabs.Current.Focus)
	}
	if len(all) == 0 {
		return nil
	}
	next := all[(at+places+len(all))%len(all)]
	t, _ := s.tabs.FindSession(next.ID)
	s.openTab(t, next)
	s.env.ShowSessions()
	return nil
}

// showTabNumber shows the tab with a number, from 1.
func (s *focus) showTabNumber(n int) tea.Cmd {
	if n > len(s.tabs.All) {
		return s.env.Say("no tab "+text.Itoa(n), false)
	}
	s.openTab(s.tabs.All[n-1], nil)
	s.env.ShowSessions()
	return nil
}

// showLastTab returns to the tab shown before this one.
func (s *focus) showLastTab() tea.Cmd {
	before := s.tabs.PreviousTab()
	if before == nil {
		return s.env.Say("no other session to go back to", false)
	}
	s.openTab(before, nil)
	s.env.ShowSessions()
	return nil
}
