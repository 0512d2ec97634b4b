package ui

import (
	"tandem/panes/widget"
	"tandem/ui/layout"
)

// Least size of the terminal that the dashboard draws in.
const (
	minScreenWidth  = 60
	minScreenHeight = 15
)

// Least size of a terminal that shows the focused pane or the session list
// alone, above the status bar, where there is no room for more.
const (
	minTightWidth  = 20
	minTightHeight = 4
)

// The session list has a column of its own as long as that leaves the
// terminals listLeaves columns; on a narrower screen it is a row.
const (
	minListWidth = 25
	maxListWidth = 34
	listLeaves   = 80
)

// Areas say where everything is on a screen of a size. Rectangles that are
// not shown are empty.
type areas struct {
	w, h  int
	body  widget.Rect // between the bars
	list  widget.Rect // the session list as a column
	strip widget.Rect // the session list as a row
	tips  widget.Rect // the line for newcomers
	tree  widget.Rect // the terminals
	bare  bool        // the one terminal has no title row
	tight bool        // there is room for one terminal alone
}

// areasOptions are what decides them beside the size.
type areasOptions struct {
	zoomed bool
	panes  int
	tips   bool
}

func areasFor(w, h int, o areasOptions) areas {
	l := areas{w: w, h: h}
	if w < minScreenWidth || h < minScreenHeight {
		if w >= minTightWidth && h >= minTightHeight {
			l.tight, l.bare, l.tree = true, true, widget.Rect{X: 0, Y: 0, W: w, H: h - 1}
		}
		return l
	}
	l.body = widget.Rect{X: 0, Y: 1, W: w, H: h - 2}
	if o.tips {
		l.body.H--
		l.tips = widget.Rect{X: 0, Y: h - 2, W: w, H: 1}
	}
	l.tree = l.body
	switch {
	case o.zoomed:
		l.bare = true
	case w >= minListWidth+1+listLeaves:
		l.list = l.body
		l.list.W = min(max(w/4, minListWidth), maxListWidth, w-1-listLeaves)
		l.tree.X = l.list.W + 1
		l.tree.W = w - l.tree.X
	default:
		l.strip = l.body
		l.strip.H = 1
		l.tree.Y++
		l.tree.H--
		l.bare = o.panes == 1
	}
	return l
}

// tooSmall reports whether there is no room for the dashboard; for the focused
// pane alone there may be.
func (l areas) tooSmall() bool { return l.body.W == 0 }

// content is the part of a leaf's rectangle that its terminal has.
func (l areas) content(leaf widget.Rect) widget.Rect {
	if l.bare {
		return leaf
	}
	leaf.Y++
	leaf.H--
	return leaf
}

// relayout computes the layout anew and gives every visible pane its size.
func (m *model) relayout() {
	m.dirty = true
	m.layouts.changed = true
	o := areasOptions{zoomed: m.zoomed, tips: m.tipsShown()}
	var leaves []*layout.Node
	if m.tabs.Current != nil {
		leaves = m.tabs.Current.Root.Leaves(nil)
	}
	o.panes = len(leaves)
	m.layout = areasFor(m.w, m.h, o)
	for _, p := range m.views {
		if p != nil {
			p.Resize(m.layout.body.W, m.layout.body.H)
		}
	}
	if m.layout.tooSmall() && !m.layout.tight || m.tabs.Current == nil {
		return
	}
	if !m.layout.tight {
		m.tabs.Current.Root.Place(m.layout.tree)
	}
	for _, l := range leaves {
		if m.alone() && l != m.tabs.Current.Focus {
			continue
		}
		r := m.area(l)
		l.Pane.Resize(r.W, r.H)
		l.Pane.RowsBelow(m.layout.tree.Y + m.layout.tree.H - r.Y - r.H)
		m.attach(l.Pane)
	}
	m.resized = true
}

// visible are the leaves that are on the screen.
func (m *model) visible() []*layout.Node {
	if m.tabs.Current == nil || m.view != viewSessions || m.layout.tooSmall() && !m.tight() {
		return nil
	}
	if m.alone() {
		return []*layout.Node{m.tabs.Current.Focus}
	}
	return m.tabs.Current.Root.Leaves(nil)
}

// alone reports whether the focused pane has all the room that there is.
func (m *model) alone() bool { return m.zoomed || m.layout.tight }

// tight reports whether the focused pane, or the list in its place, is all that
// is shown, for want of room. The other views are not shown there.
func (m *model) tight() bool {
	return m.layout.tight && m.view == viewSessions && m.tabs.Current != nil
}

// area is where the terminal of a leaf is on the screen.
func (m *model) area(l *layout.Node) widget.Rect {
	if m.alone() {
		return m.layout.tree
	}
	return m.layout.content(l.Rect)
}
