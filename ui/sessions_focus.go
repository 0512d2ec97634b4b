package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/terminal"
	"tandem/ui/layout"
)

// focused is the terminal that keys go to; nil when the list or nothing has them.
func (v *sessionsView) focused() *terminal.Pane {
	if !v.shown || v.tabs.Current == nil || v.listFocused {
		return nil
	}
	return v.tabs.Current.Focus.Pane
}

// tellFocus tells the program in the focused pane that it has the keyboard, or
// not any more.
func (v *sessionsView) tellFocus(on bool) {
	if p := v.focused(); p != nil && !(on && v.env.Blurred()) {
		p.Focus(on)
	}
}

// moveFocus runs a change of the focus and tells both programs.
func (v *sessionsView) moveFocus(change func()) {
	before := v.focused()
	change()
	v.dirty = true
	if v.tight {
		v.relayout()
	}
	after := v.focused()
	if before == after || v.env.Blurred() {
		return
	}
	if before != nil {
		before.Focus(false)
	}
	if after != nil {
		after.Focus(true)
	}
}

// focusList gives the keyboard to the session list, or back.
func (v *sessionsView) focusList() tea.Cmd {
	if !v.shown {
		v.env.ShowSessions()
		return nil
	}
	if v.zoomed {
		v.zoomed = false
		v.relayout()
	}
	v.moveFocus(func() { v.listFocused = !v.listFocused })
	v.refreshList()
	return nil
}

// focusLeaf gives a terminal of the tab that is shown the keyboard.
func (v *sessionsView) focusLeaf(l *layout.Node) {
	if t, _ := v.tabs.Of(l.Pane); t != v.tabs.Current {
		v.show(t, l)
		v.refreshList()
		return
	}
	v.moveFocus(func() {
		v.tabs.Current.Go(l)
		v.listFocused = false
	})
	v.refreshList()
}

// focusTerminal gives the keyboard to the terminal that had it last.
func (v *sessionsView) focusTerminal() {
	v.moveFocus(func() { v.listFocused = false })
	v.refreshList()
}

// zoom lets the focused pane fill the screen, or go back to its place.
func (v *sessionsView) zoom() tea.Cmd {
	if !v.shown || v.tabs.Current == nil {
		return nil
	}
	v.listFocused = false
	v.setZoomed(!v.zoomed)
	return nil
}

func (v *sessionsView) setZoomed(zoomed bool) {
	v.zoomed = zoomed
	v.relayout()
	if p := v.focused(); p != nil { // before what is typed next
		p.Claim()
		p.Resized()
	}
	v.refreshList()
}

// steps go from pane to pane and from session to session.
type steps struct {
	v       *sessionsView
	numbers layout.Numbers // that the terminals show; nil for none
}

// towards moves the focus to the pane beside, the list included.
func (s *steps) towards(d layout.Direction) tea.Cmd {
	if !s.v.shown || s.v.tabs.Current == nil || s.v.zoomed {
		return nil
	}
	if s.v.listFocused {
		if d == layout.Right || s.v.areas.list.W == 0 && d == layout.Down {
			s.v.moveFocus(func() { s.v.listFocused = false })
			s.v.refreshList()
		}
		return nil
	}
	if next := s.v.tabs.Current.Focus.Neighbour(d); next != nil {
		s.v.moveFocus(func() { s.v.tabs.Current.Go(next) })
		s.v.refreshList()
		return nil
	}
	if d == layout.Left && s.v.areas.list.W > 0 || d == layout.Up && s.v.areas.strip.W > 0 {
		return s.v.focusList()
	}
	return nil
}

// around goes around the terminals of the tab; from the list it comes back to
// them.
func (s *steps) around(step int) tea.Cmd {
	if !s.v.shown || s.v.tabs.Current == nil || s.v.zoomed {
		return nil
	}
	leaves := s.v.tabs.Current.Root.Leaves(nil)
	at := slices.Index(leaves, s.v.tabs.Current.Focus) + step
	switch {
	case s.v.listFocused && step > 0, at == len(leaves):
		at = 0
	case s.v.listFocused, at < 0:
		at = len(leaves) - 1
	}
	s.v.focusLeaf(leaves[at])
	return nil
}

// paneBefore goes back to the terminal of the tab that had the focus before this
// one; from the list it comes back to them.
func (s *steps) paneBefore() tea.Cmd {
	if !s.v.shown || s.v.tabs.Current == nil || s.v.zoomed {
		return nil
	}
	switch before := s.v.tabs.Current.Before(); {
	case s.v.listFocused:
		s.v.focusTerminal()
	case before == nil:
		return s.v.env.Say("no other pane in this tab", false)
	default:
		s.v.focusLeaf(before)
	}
	return nil
}

// number has the terminals of the tab show numbers, so that a digit goes to one.
func (s *steps) number() tea.Cmd {
	if s.v.tabs.Current == nil {
		return nil
	}
	s.v.env.ShowSessions()
	if len(s.v.visible()) < 2 {
		return s.v.env.Say("no other pane on the screen", false)
	}
	s.numbers, s.v.dirty = layout.Number(s.v.visible()), true
	return nil
}

// takeNumbered takes a key while the terminals show numbers: whatever it is, they go,
// and only what means something everywhere is done besides.
func (s *steps) takeNumbered(k keys.Key) (taken bool) {
	if k.IsModifier() || k.Phase == keys.Repeat {
		return true
	}
	leaf := s.numbers.Leaf(k.Text)
	s.numbers, s.v.dirty = nil, true
	if leaf != nil && slices.Contains(s.v.visible(), leaf) {
		s.v.focusLeaf(leaf)
		return true
	}
	return keymap.NewResolver(s.v.env.Bindings()).Resolve(k, keymap.ScopeGlobal).Kind == keymap.Unbound
}

// session goes to the next session of the list, around its end.
func (s *steps) session(by int) tea.Cmd {
	all := s.v.tabs.Leaves()
	at := -1
	if s.v.tabs.Current != nil {
		at = slices.Index(all, s.v.tabs.Current.Focus)
	}
	if len(all) == 0 {
		return nil
	}
	next := all[(at+by+len(all))%len(all)]
	t, _ := s.v.tabs.Of(next.Pane)
	s.v.show(t, next)
	s.v.env.ShowSessions()
	s.v.refreshList()
	return nil
}

// sessionBefore goes to the tab that was shown before this one.
func (s *steps) sessionBefore() tea.Cmd {
	before := s.v.tabs.Before()
	if before == nil {
		return s.v.env.Say("no other session to go back to", false)
	}
	s.v.show(before, nil)
	s.v.env.ShowSessions()
	s.v.refreshList()
	return nil
}
