package sessions

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/sessions/layout"
	"tandem/panes/sessions/list"
)

// A switcher decides which tab is shown, which pane has the keyboard and whether it is zoomed.
// It sizes the panes on the screen and attaches them, and keeps the list in step.
type switcher struct {
	env interface {
		panes.Reporter
		Window
		Bindings() keymap.Bindings
		panes.Dialogs
	}
	tabs        *Tabs
	display     *display
	list        *list.Pane
	attachments *attachments
	noteChange  func() // the layout may differ from the saved one

	showCount    uint64 // counts the tabs shown, for Tab.Shown
	zoomReported bool   // the zoom passed to the dashboard
	unsettled    bool   // something happened since the last Fetch that it may have to act on
}

// showsPanes reports whether all panes of the current tab are on the screen.
func (s *switcher) showsPanes() bool {
	return s.tabs.shown && s.tabs.Current != nil && !s.display.zoomed
}

// requestSettle has the next Fetch settle the view.
func (s *switcher) requestSettle() { s.unsettled = true }

// needsSettling reports whether the view must be settled, and resets that state.
func (s *switcher) needsSettling() bool {
	unsettled := s.unsettled
	s.unsettled = false
	return unsettled
}

// relayout divides the view after a change of the tabs or of the view's size.
func (s *switcher) relayout() {
	if s.zoomReported != s.display.zoomed {
		s.zoomReported = s.display.zoomed
		s.env.Relayout()
		return
	}
	s.noteChange()
	s.resizePanes()
}

// resizePanes divides the view, and resizes and attaches every pane on the screen.
func (s *switcher) resizePanes() {
	s.requestSettle()
	if !s.display.divide() {
		return
	}
	for _, l := range s.display.appendLeaves(nil) {
		r := s.display.paneArea(l)
		p := s.tabs.Pane(l.ID)
		p.Resize(r.W, r.H)
		p.SetRowsBelow(s.display.h - r.Y - r.H)
		s.attachments.attach(l.ID)
	}
	s.attachments.sizesChanged = true
}

// refreshList passes the tabs and the focus to the list.
func (s *switcher) refreshList() {
	every := s.tabs.EveryTab()
	ids, names := make([][]string, len(every)), make([]string, len(every))
	var leaves []*layout.Node
	for i, t := range every {
		names[i] = t.Name
		leaves = t.Root.Leaves(leaves[:0])
		for _, l := range leaves {
			ids[i] = append(ids[i], s.listed(l.ID))
		}
	}
	s.list.Focus(s.tabs.inList)
	s.list.HasFloat, s.list.TabNames = s.tabs.Float != nil, names
	s.list.SetTabs(ids, s.listed(s.tabs.CurrentID()))
	s.display.dirty = true
	s.requestSettle()
	// The tab bar changes sizes, not the layout to save.
	if a := &s.display.areas; a.list.W > 0 && (a.tabs.W > 0) != s.display.hasTabBar() {
		s.resizePanes()
	}
}

// listed returns a session's id for the list; "" while it is being started.
func (s *switcher) listed(id string) string {
	if id == "" || s.tabs.isStarting(id) {
		return ""
	}
	return id
}

// change runs a change of the shown tab, the focus or the zoom. That of an event is dropped, unless
// nothing is shown yet.
func (s *switcher) change(do func()) {
	if s.tabs.Current == nil || !s.display.isOpen {
		do()
		return
	}
	s.env.Change(panes.ActionOf(do))
}

// moveFocus runs change, which gives the keyboard to another pane or to the list.
func (s *switcher) moveFocus(change func()) {
	s.change(func() {
		s.tabs.moveFocus(func() {
			change()
			s.display.dirty = true
			if s.display.tight {
				s.relayout()
			}
		})
		s.refreshList()
	})
}

// focusList moves the keyboard to the session list, or back to the pane.
func (s *switcher) focusList() tea.Cmd {
	if !s.tabs.shown {
		s.env.ShowSessions()
		return nil
	}
	s.endZoom()
	s.moveFocus(func() { s.tabs.inList = !s.tabs.inList })
	return nil
}

// focusLeaf focuses a leaf, showing its tab if necessary.
func (s *switcher) focusLeaf(l *layout.Node) {
	if t, _ := s.tabs.FindSession(l.ID); t != s.tabs.Current {
		s.openTab(t, l)
		return
	}
	s.moveFocus(func() {
		s.tabs.Current.SetFocus(l)
		s.tabs.inList = false
	})
}

// focusTerminal moves the keyboard from the list to the pane that had it last.
func (s *switcher) focusTerminal() { s.moveFocus(func() { s.tabs.inList = false }) }

// toggleZoom zooms the focused pane, or ends the zoom.
func (s *switcher) toggleZoom() tea.Cmd {
	if !s.tabs.shown || s.tabs.Current == nil {
		return nil
	}
	s.focusTerminal()
	s.setZoomed(!s.display.zoomed)
	return nil
}

func (s *switcher) setZoomed(zoomed bool) {
	s.change(func() {
		s.display.zoomed = zoomed
		s.relayout()
		// The program must have its new size before it receives the next key.
		if p := s.tabs.FocusedPane(); p != nil {
			p.View.ClaimSize()
			p.View.SendSize()
		}
		s.refreshList()
	})
}

// endZoom shows the other panes again.
func (s *switcher) endZoom() {
	if s.display.zoomed {
		s.change(func() {
			s.display.zoomed = false
			s.relayout()
		})
	}
}

// showTab shows t and focuses l, or the leaf focused last if l is nil.
func (s *switcher) showTab(t *layout.Tab, l *layout.Node) {
	s.change(func() {
		s.tabs.reportFocus(false)
		s.setTab(t, l, false)
	})
}

// setTab shows t and focuses l, or the leaf focused last if l is nil. The keyboard goes to that leaf or
// to the list.
func (s *switcher) setTab(t *layout.Tab, l *layout.Node, inList bool) {
	if l != nil {
		t.SetFocus(l)
	}
	if t != s.tabs.Current {
		s.display.zoomed = false
	}
	s.tabs.SetCurrent(t)
	s.display.numbers = nil
	s.showCount++
	t.Shown = s.showCount
	s.tabs.inList = inList
	s.relayout()
	s.attachments.releaseIdle(&s.tabs.Tabs)
	s.tabs.reportFocus(true)
}

// openTab shows a tab, also in the list.
func (s *switcher) openTab(t *layout.Tab, l *layout.Node) {
	s.showTab(t, l)
	s.refreshList()
}

// showAnyTab shows a tab if none is shown.
func (s *switcher) showAnyTab() {
	if s.display.isOpen && s.tabs.Current == nil && len(s.tabs.All) > 0 {
		s.showNext(s.tabs.All[0], "")
	}
}

// leafOn returns a leaf of t on this machine or on another one, the focused leaf if possible. It
// returns nil if there is none.
func (s *switcher) leafOn(t *layout.Tab, machine string) *layout.Node {
	for _, l := range append([]*layout.Node{t.Focus}, t.Root.Leaves(nil)...) {
		if on, _ := api.MachineOf(l.ID); on == "" || on == machine {
			return l
		}
	}
	return nil
}

// findLeafOn returns the first tab with such a leaf, from t on, and the leaf.
func (s *switcher) findLeafOn(t *layout.Tab, machine string) (*layout.Tab, *layout.Node) {
	at := max(s.tabs.IndexOf(t), 0)
	for _, next := range slices.Concat([]*layout.Tab{t}, s.tabs.All[at:], s.tabs.All[:at]) {
		if l := s.leafOn(next, machine); l != nil {
			return next, l
		}
	}
	return nil, nil
}

// showNext shows t in place of a pane or tab that is gone. A user who is typing must not type into
// another machine, so the keyboard goes to the next pane on machine or on this one, else to the list.
// The list keeps the keyboard.
func (s *switcher) showNext(t *layout.Tab, machine string) {
	inList := s.tabs.inList
	var l *layout.Node
	if !inList {
		if next, leaf := s.findLeafOn(t, machine); leaf != nil {
			t, l = next, leaf
		} else {
			inList = true
		}
	}
	s.setTab(t, l, inList)
}

// closeLeaf removes a leaf from its tab, and the tab with its last leaf. Its neighbour in
// the tab, else in the list, is shown next.
func (s *switcher) closeLeaf(t *layout.Tab, l *layout.Node) {
	s.attachments.release(l.ID)
	at := s.tabs.IndexOf(t)
	machine, _ := api.MachineOf(l.ID)
	focused := t == s.tabs.Current && l == t.Focus
	s.display.zoomed = s.display.zoomed && !focused
	s.tabs.DetachLeaf(t, l)
	s.tabs.SettleFloat()
	switch {
	case !focused || len(s.tabs.All) == 0:
		s.relayout()
	case s.tabs.Current != nil: // the tab is still there, or the one below a floating pane
		s.showNext(s.tabs.Current, machine)
	default:
		s.showNext(s.tabs.All[max(min(at, len(s.tabs.All)-1), 0)], machine)
	}
}
