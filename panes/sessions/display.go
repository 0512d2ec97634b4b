package sessions

import (
	"tandem/panes"
	"tandem/panes/kit/graphics"
	"tandem/panes/kit/look"
	"tandem/panes/sessions/layout"
	"tandem/panes/sessions/list"
)

// The session list is a column if that leaves at least minTreeWidth cells for the panes; otherwise
// it is a row.
const (
	minListWidth = 25
	maxListWidth = 34
	minTreeWidth = 80
)

// areas are the rectangles of the view's parts. The rectangle of a hidden part is empty.
type areas struct {
	list  look.Rect // the session list as a column
	strip look.Rect // the session list as a row
	tabs  look.Rect // the tab bar, unless the list is a row
	tree  look.Rect // the panes
	bare  bool      // a pane without a title row
}

// divideView divides a view of w×h cells. single means a tab with only one pane, alone gives one
// pane the whole view, and tabs asks for a tab bar.
func divideView(w, h int, single, alone, tabs bool) areas {
	a := areas{tree: look.Rect{W: w, H: h}}
	switch {
	case alone:
		a.bare = true
	case w >= minListWidth+1+minTreeWidth:
		a.list = look.Rect{W: min(max(w/4, minListWidth), maxListWidth, w-1-minTreeWidth), H: h}
		a.tree.X = a.list.W + 1
		a.tree.W = w - a.tree.X
		if tabs {
			a.tabs = look.Rect{X: a.tree.X, W: a.tree.W, H: 1}
			a.tree.Y++
			a.tree.H--
		}
	default:
		a.strip = look.Rect{W: w, H: 1}
		a.tree.Y++
		a.tree.H--
		a.bare = single
	}
	return a
}

// contentOf returns the part of a leaf's rectangle below its title row.
func (a areas) contentOf(leaf look.Rect) look.Rect {
	if a.bare {
		return leaf
	}
	leaf.Y++
	leaf.H--
	return leaf
}

// A display knows where each part of the view is, and draws the view.
type display struct {
	env      panes.Env
	tabs     *SharedTabs
	panes    *Panes
	focus    *focus
	list     *list.Pane
	launcher *Launcher

	w, h     int
	sized    bool // the size is known, even if too small
	tight    bool // one pane has the whole view: it is zoomed, or no more fit
	zoomed   bool
	isOpen   bool
	areas    areas
	numbers  layout.Numbers  // drawn over the panes; nil if none are
	pictures graphics.Screen // how to draw programs' pictures

	dirty  bool           // something must be redrawn
	leaves []*layout.Node // reused by needsRedraw, which runs after every message
}

// setNumbers shows or hides the numbers of panes.
func (d *display) setNumbers(n layout.Numbers) { d.numbers, d.dirty = n, true }

// needsRedraw reports whether the view must be redrawn. The next call reports false unless
// something changes again.
func (d *display) needsRedraw() bool {
	changed := d.dirty
	d.dirty = false
	d.leaves = d.appendVisible(d.leaves[:0])
	for _, l := range d.leaves {
		changed = d.panes.Pane(l.ID).NeedsRedraw() || changed
	}
	return changed
}

// divide sets the rectangles of the view's parts and of the panes on the screen. ok is false if
// there are no panes to resize.
func (d *display) divide() (ok bool) {
	d.dirty = true
	d.areas = areas{}
	if d.w <= 0 || d.h <= 0 {
		return false
	}
	base := d.tabs.BaseTab()
	d.areas = divideView(d.w, d.h, base != nil && base.Root.IsLeaf(), d.tight, d.hasTabBar())
	switch {
	case d.tight:
		d.list.Resize(d.areas.tree.W, d.areas.tree.H)
	case d.areas.list.W == 0:
		d.list.Resize(d.areas.strip.W, d.areas.strip.H)
	default:
		d.list.Resize(d.areas.list.W, d.areas.list.H)
	}
	if base == nil {
		return false
	}
	if !d.tight {
		base.Root.SetRects(d.areas.tree)
	}
	if d.tabs.IsFloating() {
		d.tabs.Float.Root.SetRects(layout.InsideFrame(layout.FrameRect(d.areas.tree)))
	}
	return true
}

// hasTabBar reports whether to draw a tab bar: there are several tabs, and the user wants
// one.
func (d *display) hasTabBar() bool { return len(d.tabs.EveryTab()) > 1 && d.env.Settings().Tabs }

// visibleLeaves returns the leaves on the screen.
func (d *display) visibleLeaves() []*layout.Node { return d.appendVisible(nil) }

// appendVisible appends the visible leaves to leaves.
func (d *display) appendVisible(leaves []*layout.Node) []*layout.Node {
	if d.tabs.Current == nil || !d.focus.shown || d.w <= 0 {
		return leaves
	}
	return d.appendLeaves(leaves)
}

// appendLeaves appends the leaves of the current tab to leaves. They are visible whenever the view
// is.
func (d *display) appendLeaves(leaves []*layout.Node) []*layout.Node {
	if d.tight {
		return append(leaves, d.tabs.Current.Focus)
	}
	leaves = d.tabs.BaseTab().Root.Leaves(leaves)
	if d.tabs.IsFloating() {
		leaves = d.tabs.Float.Root.Leaves(leaves)
	}
	return leaves
}

// paneArea returns the rectangle of a leaf's pane in the view, without the title row above it.
func (d *display) paneArea(l *layout.Node) look.Rect {
	if d.tight {
		return d.areas.tree
	}
	if d.tabs.IsFloating() && l.Root() == d.tabs.Float.Root {
		return areas{bare: l == d.tabs.Float.Root}.contentOf(l.Rect)
	}
	return d.areas.contentOf(l.Rect)
}
