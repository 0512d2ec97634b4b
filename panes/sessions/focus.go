package sessions

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/sessions/layout"
	"tandem/panes/sessions/list"
	"tandem/panes/terminal"
)

// A focus decides which tab is shown, which pane has the keyboard and whether it is zoomed. It
// sizes and attaches the panes on the screen, and keeps the list up to date.
type focus struct {
	env interface {
		panes.NewsSource
		panes.Reporter
		Window
		Bindings() keymap.Bindings
		panes.Dialogs
	}
	tabs    *SharedTabs
	panes   *Panes
	display *display
	list    *list.Pane

	shown   bool // the view is on the screen
	blurred bool // another window has the keyboard
	inList  bool // the session list has the keyboard

	zoomReported bool // the zoom passed to the dashboard
	needsSync    bool // the next Fetch must call syncEngine
}

// pane returns the pane that receives keys; nil if the list or another view does.
func (s *focus) pane() *terminal.Pane {
	if !s.shown || s.inList {
		return nil
	}
	return s.panes.Pane(s.tabs.CurrentID())
}

// showsPanes reports whether all panes of the current tab are on the screen.
func (s *focus) showsPanes() bool {
	return s.shown && s.tabs.Current != nil && !s.display.zoomed
}

// requestSync makes the next Fetch call syncEngine.
func (s *focus) requestSync() { s.needsSync = true }

// takeSyncRequest reports whether requestSync was called since the last call of takeSyncRequest.
func (s *focus) takeSyncRequest() bool {
	requested := s.needsSync
	s.needsSync = false
	return requested
}

// relayout divides the view again after the tabs or the view's size have changed.
func (s *focus) relayout() {
	if s.zoomReported != s.display.zoomed {
		s.zoomReported = s.display.zoomed
		s.env.Relayout()
		return
	}
	s.resizePanes()
}

// resizePanes divides the view, and resizes and attaches every pane on the screen.
func (s *focus) resizePanes() {
	s.requestSync()
	if !s.display.divide() {
		return
	}
	for _, l := range s.display.appendLeaves(nil) {
		r := s.display.paneArea(l)
		p := s.panes.Pane(l.ID)
		p.Resize(r.W, r.H)
		p.SetRowsBelow(s.display.h - r.Y - r.H)
		s.panes.attach(l.ID)
	}
	s.panes.sizesChanged = true
}

// refreshList passes the tabs and the focus to the list.
func (s *focus) refreshList() {
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
	s.list.Focus(s.inList)
	s.list.HasFloat, s.list.TabNames = s.tabs.Float != nil, names
	s.list.SetTabs(ids, s.listed(s.tabs.CurrentID()))
	s.display.dirty = true
	s.requestSync()
	// The tab bar changes sizes, not the layout.
	if a := &s.display.areas; a.list.W > 0 && (a.tabs.W > 0) != s.display.hasTabBar() {
		s.resizePanes()
	}
}

// listed returns the id by which the list shows a session; "" while the session is being started.
func (s *focus) listed(id string) string {
	if s.panes.isStarting(id) {
		return ""
	}
	return id
}

// refresh shows the layout as it is now. If the session with the keyboard no longer has a pane, a
// neighbour is shown: one of its tab or, if there is none, of the list.
func (s *focus) refresh() {
	before, at := s.tabs.CurrentID(), s.tabs.IndexOf(s.tabs.Current)
	s.moveKeyboard(func() {
		if !s.tabs.refresh() {
			return
		}
		next := s.tabs.Current
		switch {
		case before == "" || before == s.tabs.CurrentID() || len(s.tabs.All) == 0:
			s.display.zoomed = s.display.zoomed && next != nil
			s.relayout()
			return
		case next == nil:
			next = s.tabs.All[max(min(at, len(s.tabs.All)-1), 0)]
		}
		machine, _ := api.MachineOf(before)
		s.display.zoomed = false
		s.showNext(next, machine)
	})
	s.showAnyTab()
	s.refreshList()
}

// change makes changes of the layout at the user's request, and gives the keyboard to the pane of
// session id.
func (s *focus) change(id string, changes ...api.LayoutChange) {
	s.tabs.change(changes...)
	s.byUser(func() {
		s.moveKeyboard(func() {
			changed := s.tabs.refresh()
			if t, l := s.tabs.FindSession(id); t != nil {
				s.setTab(t, l, false)
			} else if changed {
				s.relayout()
			}
		})
	})
	s.refresh() // also if no user asked for the change
}

// leave moves the keyboard away from leaf l, if it is there: to its neighbour or, without one, to
// the tab below the floating tab.
func (s *focus) leave(t *layout.Tab, l *layout.Node) {
	if t != s.tabs.Current || l != t.Focus {
		return
	}
	s.tabs.refocused, s.display.zoomed = true, false
	s.moveKeyboard(func() {
		if next := t.Neighbour(); next != nil {
			s.tabs.SetFocus(t, next)
		} else if s.tabs.Under != nil {
			s.setTab(s.tabs.Under, nil, s.inList)
		}
	})
}

// byUser runs do, a change of the shown tab, the focus or the zoom. If no input of the user is
// being handled, do is not run, unless nothing is shown yet.
func (s *focus) byUser(do func()) {
	if s.tabs.Current == nil || !s.display.isOpen {
		do()
		return
	}
	s.env.Change(panes.ActionOf(func() {
		s.tabs.refocused = true
		do()
	}))
}

// moveKeyboard runs change, and tells the programs that lost and gained the keyboard.
func (s *focus) moveKeyboard(change func()) {
	before := s.pane()
	change()
	after := s.pane()
	if before == after || s.blurred {
		return
	}
	if before != nil && s.panes.isAttached(before.ID) {
		before.Focus(false)
	}
	if after != nil {
		after.Focus(true)
	}
}

// moveFocus runs change to give the keyboard to another pane or to the list.
func (s *focus) moveFocus(change func()) {
	s.byUser(func() {
		s.moveKeyboard(func() {
			change()
			s.display.dirty = true
			if s.display.tight {
				s.relayout()
			}
		})
		s.refreshList()
	})
}

// toggleList moves the keyboard to the session list, or back to the pane.
func (s *focus) toggleList() tea.Cmd {
	if !s.shown {
		s.env.ShowSessions()
		return nil
	}
	s.endZoom()
	s.moveFocus(func() { s.inList = !s.inList })
	return nil
}

// onLeaf focuses a leaf, showing its tab if necessary.
func (s *focus) onLeaf(l *layout.Node) {
	if t, _ := s.tabs.FindSession(l.ID); t != s.tabs.Current {
		s.openTab(t, l)
		return
	}
	s.moveFocus(func() {
		s.tabs.SetFocus(s.tabs.Current, l)
		s.inList = false
	})
}

// onTerminal moves the keyboard from the list to the pane that had it last.
func (s *focus) onTerminal() { s.moveFocus(func() { s.inList = false }) }

// toggleZoom zooms the focused pane, or ends the zoom.
func (s *focus) toggleZoom() tea.Cmd {
	if !s.shown || s.tabs.Current == nil {
		return nil
	}
	s.onTerminal()
	s.setZoomed(!s.display.zoomed)
	return nil
}

func (s *focus) setZoomed(zoomed bool) {
	s.byUser(func() {
		s.display.zoomed = zoomed
		s.relayout()
		// The program must have its new size before it receives the next key.
		if p := s.pane(); p != nil {
			p.View.ClaimSize()
			p.View.SendSize()
		}
		s.refreshList()
	})
}

// endZoom shows the other panes again.
func (s *focus) endZoom() {
	if s.display.zoomed {
		s.byUser(func() {
			s.display.zoomed = false
			s.relayout()
		})
	}
}

// showTab shows t and focuses l, or the leaf focused last if l is nil.
func (s *focus) showTab(t *layout.Tab, l *layout.Node) {
	s.byUser(func() {
		s.moveKeyboard(func() { s.setTab(t, l, false) })
	})
}

// setTab shows t and focuses l, or the leaf focused last if l is nil. The keyboard goes to that leaf or
// to the list.
func (s *focus) setTab(t *layout.Tab, l *layout.Node, inList bool) {
	if l == nil {
		l = t.Focus
	}
	if t != s.tabs.Current {
		s.display.zoomed = false
	}
	s.tabs.Show(t, l)
	s.display.numbers = nil
	s.inList = inList
	s.relayout()
	s.panes.releaseIdle(&s.tabs.Tabs)
}

// openTab shows a tab, also in the list.
func (s *focus) openTab(t *layout.Tab, l *layout.Node) {
	s.showTab(t, l)
	s.refreshList()
}

// showAnyTab shows a tab if none is shown.
func (s *focus) showAnyTab() {
	if s.display.isOpen && s.tabs.Current == nil && len(s.tabs.All) > 0 {
		s.moveKeyboard(func() { s.showNext(s.tabs.All[0], "") })
	}
}

// leafOn returns a leaf of t whose session is on this machine or on the given one, the focused leaf
// if possible; nil if there is none.
func leafOn(t *layout.Tab, machine string) *layout.Node {
	for _, l := range append([]*layout.Node{t.Focus}, t.Root.Leaves(nil)...) {
		if on, _ := api.MachineOf(l.ID); on == "" || on == machine {
			return l
		}
	}
	return nil
}

// findLeafOn returns a leaf on this machine or on the given one, with its tab. It searches the tabs
// from t on, wrapping around.
func (s *focus) findLeafOn(t *layout.Tab, machine string) (*layout.Tab, *layout.Node) {
	at := max(s.tabs.IndexOf(t), 0)
	for _, next := range slices.Concat([]*layout.Tab{t}, s.tabs.All[at:], s.tabs.All[:at]) {
		if l := leafOn(next, machine); l != nil {
			return next, l
		}
	}
	return nil, nil
}

// showNext shows t in place of a pane or tab that is gone. A user who is typing must not type into
// yet another machine, so the keyboard goes to the next pane on machine or on this one, and
// otherwise to the list. If the list has the keyboard, the list keeps it.
func (s *focus) showNext(t *layout.Tab, machine string) {
	inList := s.inList
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
