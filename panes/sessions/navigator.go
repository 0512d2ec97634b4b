package sessions

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/sessions/layout"
)

// A navigator moves the keyboard between panes and sessions.
type navigator struct {
	env interface {
		panes.Reporter
		Window
		Bindings() keymap.Bindings
	}
	tabs     *Tabs
	display  *Display
	switcher *switcher
}

// focusToward moves the focus to the neighbour in direction d, which may be the list.
func (n *navigator) focusToward(d layout.Direction) tea.Cmd {
	if !n.switcher.showsPanes() {
		return nil
	}
	areas := &n.display.areas
	if n.tabs.inList {
		if d == layout.Right || areas.list.W == 0 && d == layout.Down {
			n.switcher.focusTerminal()
		}
		return nil
	}
	if next := n.tabs.Current.Focus.Neighbour(d); next != nil {
		n.switcher.focusLeaf(next)
		return nil
	}
	if d == layout.Left && areas.list.W > 0 || d == layout.Up && areas.strip.W > 0 {
		return n.switcher.focusList()
	}
	return nil
}

// cycleFocus moves the focus step panes forward in the tab, wrapping around. From the list
// it returns to the panes.
func (n *navigator) cycleFocus(step int) tea.Cmd {
	if !n.switcher.showsPanes() {
		return nil
	}
	leaves := n.tabs.Current.Root.Leaves(nil)
	at := slices.Index(leaves, n.tabs.Current.Focus) + step
	switch {
	case n.tabs.inList && step > 0, at == len(leaves):
		at = 0
	case n.tabs.inList, at < 0:
		at = len(leaves) - 1
	}
	n.switcher.focusLeaf(leaves[at])
	return nil
}

// focusLastPane returns to the tab's previously focused pane. From the list it returns to
// the panes.
func (n *navigator) focusLastPane() tea.Cmd {
	if !n.switcher.showsPanes() {
		return nil
	}
	switch before := n.tabs.Current.PreviousFocus(); {
	case n.tabs.inList:
		n.switcher.focusTerminal()
	case before == nil:
		return n.env.Say("no other pane in this tab", false)
	default:
		n.switcher.focusLeaf(before)
	}
	return nil
}

// showNumbers numbers the visible panes; the next key selects one.
func (n *navigator) showNumbers() tea.Cmd {
	if n.tabs.Current == nil {
		return nil
	}
	n.env.ShowSessions()
	leaves := n.display.visibleLeaves()
	if len(leaves) < 2 {
		return n.env.Say("no other pane on the screen", false)
	}
	n.display.setNumbers(layout.NumberLeaves(leaves))
	return nil
}

// handleNumberKey handles a key while panes show numbers. Any key hides them; only those
// bound everywhere have another effect.
func (n *navigator) handleNumberKey(k keys.Key) (taken bool) {
	if k.IsModifier() || k.Phase == keys.Repeat {
		return true
	}
	leaf := n.display.numbers.LeafFor(k.Text)
	n.display.setNumbers(nil)
	if leaf != nil && slices.Contains(n.display.visibleLeaves(), leaf) {
		n.switcher.focusLeaf(leaf)
		return true
	}
	return keymap.NewResolver(n.env.Bindings()).Resolve(k, keymap.ScopeGlobal).Kind == keymap.Unbound
}

// cycleSession moves by sessions in the list's order, wrapping around.
func (n *navigator) cycleSession(by int) tea.Cmd {
	all := n.tabs.Leaves()
	at := -1
	if n.tabs.Current != nil {
		at = slices.Index(all, n.tabs.Current.Focus)
	}
	if len(all) == 0 {
		return nil
	}
	next := all[(at+by+len(all))%len(all)]
	t, _ := n.tabs.FindPane(next.Pane)
	n.switcher.openTab(t, next)
	n.env.ShowSessions()
	return nil
}

// showLastTab returns to the tab shown before this one.
func (n *navigator) showLastTab() tea.Cmd {
	before := n.tabs.PreviousTab()
	if before == nil {
		return n.env.Say("no other session to go back to", false)
	}
	n.switcher.openTab(before, nil)
	n.env.ShowSessions()
	return nil
}
