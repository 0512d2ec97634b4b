package sessions

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/sessions/layout"
	"tandem/panes/terminal"
)

// FocusedPane returns the pane that receives keys; nil if the list or another view does.
func (v *View) FocusedPane() *terminal.Pane {
	if !v.shown || v.Tabs.Current == nil || v.listFocused {
		return nil
	}
	return v.Tabs.Current.Focus.Pane
}

// reportFocus tells the program in the focused pane that it has gained or lost the
// keyboard.
func (v *View) reportFocus(on bool) {
	if p := v.FocusedPane(); p != nil && !(on && v.blurred) {
		p.Focus(on)
	}
}

// moveFocus runs change and reports the new focus to both programs.
func (v *View) moveFocus(change func()) {
	before := v.FocusedPane()
	change()
	v.dirty = true
	if v.tight {
		v.relayout()
	}
	after := v.FocusedPane()
	if before == after || v.blurred {
		return
	}
	if before != nil {
		before.Focus(false)
	}
	if after != nil {
		after.Focus(true)
	}
}

// focusList moves the keyboard to the session list, or back to the pane.
func (v *View) focusList() tea.Cmd {
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

// focusLeaf focuses a leaf, showing its tab if necessary.
func (v *View) focusLeaf(l *layout.Node) {
	if t, _ := v.Tabs.FindPane(l.Pane); t != v.Tabs.Current {
		v.showTab(t, l)
		v.refreshList()
		return
	}
	v.moveFocus(func() {
		v.Tabs.Current.SetFocus(l)
		v.listFocused = false
	})
	v.refreshList()
}

// FocusTerminal moves the keyboard from the list to the pane that had it last.
func (v *View) FocusTerminal() {
	v.moveFocus(func() { v.listFocused = false })
	v.refreshList()
}

// toggleZoom zooms the focused pane, or ends the zoom.
func (v *View) toggleZoom() tea.Cmd {
	if !v.shown || v.Tabs.Current == nil {
		return nil
	}
	v.listFocused = false
	v.setZoomed(!v.zoomed)
	return nil
}

func (v *View) setZoomed(zoomed bool) {
	v.zoomed = zoomed
	v.relayout()
	// The program must have its new size before it receives the next key.
	if p := v.FocusedPane(); p != nil {
		p.View.ClaimSize()
		p.View.SendSize()
	}
	v.refreshList()
}

// A navigator moves the focus between panes and sessions.
type navigator struct {
	v       *View
	numbers layout.Numbers // shown in the panes; nil if none are
}

// focusToward moves the focus to the neighbour in direction d, which may be the list.
func (s *navigator) focusToward(d layout.Direction) tea.Cmd {
	if !s.v.shown || s.v.Tabs.Current == nil || s.v.zoomed {
		return nil
	}
	if s.v.listFocused {
		if d == layout.Right || s.v.areas.list.W == 0 && d == layout.Down {
			s.v.moveFocus(func() { s.v.listFocused = false })
			s.v.refreshList()
		}
		return nil
	}
	if next := s.v.Tabs.Current.Focus.Neighbour(d); next != nil {
		s.v.moveFocus(func() { s.v.Tabs.Current.SetFocus(next) })
		s.v.refreshList()
		return nil
	}
	if d == layout.Left && s.v.areas.list.W > 0 || d == layout.Up && s.v.areas.strip.W > 0 {
		return s.v.focusList()
	}
	return nil
}

// cycleFocus moves the focus step panes forward in the tab, wrapping around. From the list
// it returns to the panes.
func (s *navigator) cycleFocus(step int) tea.Cmd {
	if !s.v.shown || s.v.Tabs.Current == nil || s.v.zoomed {
		return nil
	}
	leaves := s.v.Tabs.Current.Root.Leaves(nil)
	at := slices.Index(leaves, s.v.Tabs.Current.Focus) + step
	switch {
	case s.v.listFocused && step > 0, at == len(leaves):
		at = 0
	case s.v.listFocused, at < 0:
		at = len(leaves) - 1
	}
	s.v.focusLeaf(leaves[at])
	return nil
}

// focusLastPane returns to the tab's previously focused pane. From the list it returns to
// the panes.
func (s *navigator) focusLastPane() tea.Cmd {
	if !s.v.shown || s.v.Tabs.Current == nil || s.v.zoomed {
		return nil
	}
	switch before := s.v.Tabs.Current.PreviousFocus(); {
	case s.v.listFocused:
		s.v.FocusTerminal()
	case before == nil:
		return s.v.env.Say("no other pane in this tab", false)
	default:
		s.v.focusLeaf(before)
	}
	return nil
}

// showNumbers numbers the visible panes; the next key selects one.
func (s *navigator) showNumbers() tea.Cmd {
	if s.v.Tabs.Current == nil {
		return nil
	}
	s.v.env.ShowSessions()
	if len(s.v.visibleLeaves()) < 2 {
		return s.v.env.Say("no other pane on the screen", false)
	}
	s.numbers, s.v.dirty = layout.NumberLeaves(s.v.visibleLeaves()), true
	return nil
}

// handleNumberKey handles a key while panes show numbers. Any key hides them; only those
// bound everywhere have another effect.
func (s *navigator) handleNumberKey(k keys.Key) (taken bool) {
	if k.IsModifier() || k.Phase == keys.Repeat {
		return true
	}
	leaf := s.numbers.LeafFor(k.Text)
	s.numbers, s.v.dirty = nil, true
	if leaf != nil && slices.Contains(s.v.visibleLeaves(), leaf) {
		s.v.focusLeaf(leaf)
		return true
	}
	return keymap.NewResolver(s.v.env.Bindings()).Resolve(k, keymap.ScopeGlobal).Kind == keymap.Unbound
}

// cycleSession moves by sessions in the list's order, wrapping around.
func (s *navigator) cycleSession(by int) tea.Cmd {
	all := s.v.Tabs.Leaves()
	at := -1
	if s.v.Tabs.Current != nil {
		at = slices.Index(all, s.v.Tabs.Current.Focus)
	}
	if len(all) == 0 {
		return nil
	}
	next := all[(at+by+len(all))%len(all)]
	t, _ := s.v.Tabs.FindPane(next.Pane)
	s.v.showTab(t, next)
	s.v.env.ShowSessions()
	s.v.refreshList()
	return nil
}

// showLastTab returns to the tab shown before this one.
func (s *navigator) showLastTab() tea.Cmd {
	before := s.v.Tabs.PreviousTab()
	if before == nil {
		return s.v.env.Say("no other session to go back to", false)
	}
	s.v.showTab(before, nil)
	s.v.env.ShowSessions()
	s.v.refreshList()
	return nil
}
