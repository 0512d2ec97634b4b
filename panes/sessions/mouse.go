package sessions

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/panes"
	kit "tandem/panes/kit/list"
	"tandem/panes/sessions/layout"
	"tandem/panes/sessions/list"
)

// A mouseGrab routes mouse events. What a button was pressed on receives all events until the
// button is released.
type mouseGrab struct {
	tabs    *SharedTabs
	panes   *Panes
	focus   *focus
	display *display
	list    *list.Pane
	dialogs panes.Dialogs
	resize  func(...*layout.Node) // after borders were moved
	askName func() tea.Cmd        // asks for the name of the current tab

	dragged   *layout.Node // the split whose border is dragged
	dragMoved bool         // since the press
	pressed   string       // the session in whose pane a button went down; "" for none
	tabClick  kit.Click    // the last click on a tab that had the keyboard
}

// handleMouse routes an event to the list, the tab bar, a border or a pane.
func (m *mouseGrab) handleMouse(e keys.Mouse) tea.Cmd {
	if e.Kind == keys.MouseUp {
		return m.releaseButton(e)
	}
	if e.IsLeftDown() {
		m.forgetDrag()
		m.display.setNumbers(nil)
	}
	switch {
	case m.dragged != nil:
		m.dragBorder(e)
	case m.pressed != "" && e.Kind != keys.MouseDown:
		return m.sendMouse(m.pressed, e)
	case m.display.tight && m.focus.inList:
		if e.IsLeftDown() {
			return m.list.Mouse(e)
		}
	case m.display.areas.strip.Contains(e.X, e.Y), m.display.areas.list.Contains(e.X, e.Y):
		m.display.dirty = true
		return m.list.Mouse(e)
	case m.display.areas.tabs.Contains(e.X, e.Y):
		return m.mouseOnTabs(e)
	case m.tabs.Current != nil:
		return m.mouseOnTree(e)
	}
	return nil
}

// mouseOnTabs shows the clicked tab; the wheel moves by one tab. A double click on the tab with the
// keyboard asks for its name.
func (m *mouseGrab) mouseOnTabs(e keys.Mouse) tea.Cmd {
	all := m.tabs.EveryTab()
	at := slices.Index(all, m.tabs.Current)
	switch {
	case e.Button == keys.WheelUp:
		at--
	case e.Button == keys.WheelDown:
		at++
	case e.IsLeftDown():
		at = m.list.TabAt(e.X-m.display.areas.tabs.X, m.display.areas.tabs.W)
		if at >= 0 && at < len(all) && all[at] == m.tabs.Current && m.focus.pane() != nil {
			if m.tabClick.Again(at) {
				return m.askName()
			}
			return nil
		}
		m.tabClick = kit.Click{}
	default:
		return nil
	}
	if at >= 0 && at < len(all) {
		m.focus.openTab(all[at], nil)
	}
	return nil
}

// releaseButton ends a drag or a press, even if its target is no longer shown. A border can be a
// title row, so a click that did not move it focuses the pane below it.
func (m *mouseGrab) releaseButton(e keys.Mouse) tea.Cmd {
	held, pressed := m.dragged, m.pressed
	m.endDrag()
	m.pressed = ""
	if held != nil && !m.dragMoved && m.dialogs.Shows(nil) && m.tabs.Current != nil {
		if leaf := held.B.LeafAt(e.X, e.Y); leaf != nil && leaf.Root() == held.Root() {
			m.focus.onLeaf(leaf)
		}
	}
	if pressed == "" {
		return nil
	}
	return m.sendMouse(pressed, e)
}

// endDrag releases a dragged border. From now on the layout is exchanged with the engine again.
func (m *mouseGrab) endDrag() {
	if m.dragged != nil {
		m.dragged, m.tabs.held = nil, false
		m.focus.refresh()
	}
}

// forgetDrag ends a drag whose release was lost.
func (m *mouseGrab) forgetDrag() {
	m.endDrag()
	for _, l := range m.display.visibleLeaves() {
		p := m.panes.Pane(l.ID)
		p.CancelDrag()
		p.ClearMarks()
	}
}

func (m *mouseGrab) mouseOnTree(e keys.Mouse) tea.Cmd {
	leaf := m.tabs.Current.Focus
	if !m.display.tight {
		root := m.tabs.BaseTab().Root
		if m.tabs.IsFloating() && layout.FrameRect(m.display.areas.tree).Contains(e.X, e.Y) {
			root = m.tabs.Float.Root
			if !root.Rect.Contains(e.X, e.Y) {
				return nil
			}
		}
		if border := root.BorderAt(e.X, e.Y); border != nil && e.IsLeftDown() {
			m.dragged, m.dragMoved, m.tabs.held = border, false, true
			return nil
		}
		leaf = root.LeafAt(e.X, e.Y)
	}
	if leaf == nil {
		return nil
	}
	if e.Kind == keys.MouseDown && !e.IsWheel() {
		if m.panes.Pane(leaf.ID) != m.focus.pane() {
			m.focus.onLeaf(leaf)
		}
		m.pressed = leaf.ID
	}
	return m.sendMouse(leaf.ID, e)
}

// sendMouse passes an event to the pane of a session, in the pane's cells.
func (m *mouseGrab) sendMouse(id string, e keys.Mouse) tea.Cmd {
	for _, l := range m.display.visibleLeaves() {
		if l.ID != id {
			continue
		}
		r := m.display.paneArea(l)
		if e.Kind == keys.MouseDown && !r.Contains(e.X, e.Y) {
			return nil
		}
		e.X, e.Y = e.X-r.X, e.Y-r.Y
		return m.panes.Pane(id).Mouse(e)
	}
	// The pane is hidden by now, but its selection is still copied.
	if p := m.panes.all[id]; p != nil && p.Selecting() && e.Kind == keys.MouseUp {
		return p.Mouse(e)
	}
	return nil
}

// dragBorder moves the border to the mouse.
func (m *mouseGrab) dragBorder(e keys.Mouse) {
	held, at := m.dragged, e.X
	if held.Axis == layout.Below {
		at = e.Y
	}
	m.dragMoved = m.dragMoved || at != held.BorderCell()
	held.MoveBorder(at)
	m.resize(held)
}
