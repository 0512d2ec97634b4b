package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

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

// focusTowards moves the focus to the pane beside, the list included.
func (v *sessionsView) focusTowards(d layout.Direction) tea.Cmd {
	if !v.shown || v.tabs.Current == nil || v.zoomed {
		return nil
	}
	if v.listFocused {
		if d == layout.Right || v.areas.list.W == 0 && d == layout.Down {
			v.moveFocus(func() { v.listFocused = false })
			v.refreshList()
		}
		return nil
	}
	if next := v.tabs.Current.Focus.Neighbour(d); next != nil {
		v.moveFocus(func() { v.tabs.Current.Focus = next })
		v.refreshList()
		return nil
	}
	if d == layout.Left && v.areas.list.W > 0 || d == layout.Up && v.areas.strip.W > 0 {
		return v.focusList()
	}
	return nil
}

// focusStep goes around the terminals of the tab; from the list it comes back to
// them.
func (v *sessionsView) focusStep(step int) tea.Cmd {
	if !v.shown || v.tabs.Current == nil || v.zoomed {
		return nil
	}
	leaves := v.tabs.Current.Root.Leaves(nil)
	at := slices.Index(leaves, v.tabs.Current.Focus) + step
	switch {
	case v.listFocused && step > 0, at == len(leaves):
		at = 0
	case v.listFocused, at < 0:
		at = len(leaves) - 1
	}
	v.focusLeaf(leaves[at])
	return nil
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
	v.moveFocus(func() { v.tabs.Current.Focus, v.listFocused = l, false })
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
