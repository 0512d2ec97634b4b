package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/panes/terminal"
	"tandem/panes/widget"
	"tandem/ui/layout"
)

// Mouse handles an event in the view's cells.
func (v *sessionsView) Mouse(e keys.Mouse) tea.Cmd { return v.mouse.handle(e) }

// mouseHold is what the mouse was pressed on: that keeps it until the button is
// released.
type mouseHold struct {
	v         *sessionsView
	dragged   *layout.Node   // the split whose border it holds
	dragMoved bool           // since the button went down
	pressed   *terminal.Pane // the pane in which a button went down
}

// handle handles an event.
func (m *mouseHold) handle(e keys.Mouse) tea.Cmd {
	if e.Kind == keys.MouseUp {
		return m.letGo(e)
	}
	if widget.LeftDown(e) {
		m.forgetDrag()
		m.v.steps.numbers, m.v.dirty = nil, true
	}
	switch {
	case m.dragged != nil:
		m.drag(e)
	case m.pressed != nil && e.Kind != keys.MouseDown:
		return m.mouseTo(m.pressed, e)
	case m.v.tight && m.v.listFocused:
		if widget.LeftDown(e) {
			return m.v.list.Mouse(e)
		}
	case m.v.areas.strip.Contains(e.X, e.Y), m.v.areas.list.Contains(e.X, e.Y):
		m.v.dirty = true
		return m.v.list.Mouse(e)
	case m.v.areas.tabs.Contains(e.X, e.Y):
		m.mouseOnTabs(e)
	case m.v.tabs.Current != nil:
		return m.mouseOnTree(e)
	}
	return nil
}

// mouseOnTabs shows the tab that is clicked; the wheel goes from one to the next.
func (m *mouseHold) mouseOnTabs(e keys.Mouse) {
	all := m.v.tabs.Every()
	at := slices.Index(all, m.v.tabs.Current)
	switch {
	case e.Button == keys.WheelUp:
		at--
	case e.Button == keys.WheelDown:
		at++
	case widget.LeftDown(e):
		at = m.v.list.TabAt(e.X-m.v.areas.tabs.X, m.v.areas.tabs.W)
	default:
		return
	}
	if at >= 0 && at < len(all) {
		m.v.show(all[at], nil)
		m.v.refreshList()
	}
}

// letGo has the mouse let go of what it holds, whatever is shown by now. A title
// row that was clicked and not moved gives its pane the focus, as every other does.
func (m *mouseHold) letGo(e keys.Mouse) tea.Cmd {
	held, p := m.dragged, m.pressed
	m.dragged, m.pressed = nil, nil
	if held != nil && !m.dragMoved && !m.v.env.Covered() && m.v.tabs.Current != nil {
		if leaf := held.B.LeafAt(e.X, e.Y); leaf != nil && leaf.Root() == held.Root() {
			m.v.focusLeaf(leaf)
		}
	}
	if p == nil {
		return nil
	}
	return m.mouseTo(p, e)
}

// forgetDrag ends a drag of which the end has not been told.
func (m *mouseHold) forgetDrag() {
	m.dragged = nil
	for _, l := range m.v.visible() {
		l.Pane.LetGo()
		l.Pane.Unmark()
	}
}

func (m *mouseHold) mouseOnTree(e keys.Mouse) tea.Cmd {
	leaf := m.v.tabs.Current.Focus
	if !m.v.tight {
		root := m.v.tabs.Base().Root
		if m.v.tabs.Floating() && layout.Frame(m.v.areas.tree).Contains(e.X, e.Y) {
			root = m.v.tabs.Float.Root
			if !root.Rect.Contains(e.X, e.Y) {
				return nil
			}
		}
		if border := root.BorderAt(e.X, e.Y); border != nil && widget.LeftDown(e) {
			m.dragged, m.dragMoved = border, false
			return nil
		}
		leaf = root.LeafAt(e.X, e.Y)
	}
	if leaf == nil {
		return nil
	}
	if e.Kind == keys.MouseDown && !widget.IsWheel(e) {
		if leaf.Pane != m.v.focused() {
			m.v.focusLeaf(leaf)
		}
		m.pressed = leaf.Pane
	}
	return m.mouseTo(leaf.Pane, e)
}

// mouseTo passes an event on to a pane, in its own cells.
func (m *mouseHold) mouseTo(p *terminal.Pane, e keys.Mouse) tea.Cmd {
	for _, l := range m.v.visible() {
		if l.Pane != p {
			continue
		}
		r := m.v.area(l)
		if e.Kind == keys.MouseDown && !r.Contains(e.X, e.Y) {
			return nil
		}
		e.X, e.Y = e.X-r.X, e.Y-r.Y
		return p.Mouse(e)
	}
	if p.Selecting() && e.Kind == keys.MouseUp { // out of sight by now
		return p.Mouse(e)
	}
	return nil
}

// drag moves the border that the mouse holds.
func (m *mouseHold) drag(e keys.Mouse) {
	held, at := m.dragged, e.X
	if held.Axis == layout.Below {
		at = e.Y
	}
	m.dragMoved = m.dragMoved || at != held.Border()
	held.MoveBorder(at)
	m.v.relayout()
}
