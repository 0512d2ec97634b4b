package ui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/panes/terminal"
	"tandem/panes/widget"
	"tandem/ui/layout"
)

// The session list has a column of its own as long as that leaves the
// terminals listLeaves columns; on a narrower screen it is a row.
const (
	minListWidth = 25
	maxListWidth = 34
	listLeaves   = 80
)

// sessionAreas say where the parts of the view are in it. Those that are not shown
// are empty.
type sessionAreas struct {
	list  widget.Rect // the session list as a column
	strip widget.Rect // the session list as a row
	tabs  widget.Rect // the bar of tabs, where the list does not stand in a row itself
	tree  widget.Rect // the terminals
	bare  bool        // the one terminal has no title row
}

// sessionAreasFor divides a view; alone says that one terminal has all of it, tabs
// that there is to be a bar of them.
func sessionAreasFor(w, h, panes int, alone, tabs bool) sessionAreas {
	a := sessionAreas{tree: widget.Rect{W: w, H: h}}
	switch {
	case alone:
		a.bare = true
	case w >= minListWidth+1+listLeaves:
		a.list = widget.Rect{W: min(max(w/4, minListWidth), maxListWidth, w-1-listLeaves), H: h}
		a.tree.X = a.list.W + 1
		a.tree.W = w - a.tree.X
		if tabs {
			a.tabs = widget.Rect{X: a.tree.X, W: a.tree.W, H: 1}
			a.tree.Y++
			a.tree.H--
		}
	default:
		a.strip = widget.Rect{W: w, H: 1}
		a.tree.Y++
		a.tree.H--
		a.bare = panes == 1
	}
	return a
}

// content is the part of a leaf's rectangle that its terminal has.
func (a sessionAreas) content(leaf widget.Rect) widget.Rect {
	if a.bare {
		return leaf
	}
	leaf.Y++
	leaf.H--
	return leaf
}

// Resize gives the view its size; nothing of it is shown without one.
func (v *sessionsView) Resize(w, h int) {
	v.w, v.h, v.sized = w, h, true
	v.relayout()
}

// relayout divides the view again and gives every visible terminal its size.
func (v *sessionsView) relayout() {
	if v.zoomTold != v.zoomed {
		v.zoomTold = v.zoomed
		v.env.Relayout()
		return
	}
	v.dirty = true
	v.keeper.changed = true
	var leaves []*layout.Node
	if v.tabs.Current != nil {
		leaves = v.tabs.Base().Root.Leaves(nil)
	}
	v.areas = sessionAreas{}
	if v.w <= 0 || v.h <= 0 {
		return
	}
	v.areas = sessionAreasFor(v.w, v.h, len(leaves), v.tight, v.hasTabBar())
	list := v.areas.list
	switch {
	case v.tight:
		list = v.areas.tree
	case list.W == 0:
		list = v.areas.strip
	}
	v.list.Resize(list.W, list.H)
	if v.tabs.Current == nil {
		return
	}
	if !v.tight {
		v.tabs.Base().Root.Place(v.areas.tree)
	}
	if v.tabs.Floating() {
		v.tabs.Float.Root.Place(layout.Inside(layout.Frame(v.areas.tree)))
		leaves = v.tabs.Float.Root.Leaves(leaves)
	}
	for _, l := range leaves {
		if v.tight && l != v.tabs.Current.Focus {
			continue
		}
		r := v.area(l)
		l.Pane.Resize(r.W, r.H)
		l.Pane.RowsBelow(v.h - r.Y - r.H)
		v.feeds.attach(l.Pane)
	}
	v.sizes.changed = true
}

// hasTabBar reports whether the tabs are shown as such: there is something to
// choose from.
func (v *sessionsView) hasTabBar() bool { return len(v.tabs.Every()) > 1 && v.env.TabBar() }

// visible are the leaves that are on the screen.
func (v *sessionsView) visible() []*layout.Node { return v.appendVisible(nil) }

// appendVisible appends them to a slice.
func (v *sessionsView) appendVisible(leaves []*layout.Node) []*layout.Node {
	switch {
	case v.tabs.Current == nil || !v.shown || v.w <= 0:
		return leaves
	case v.tight:
		return append(leaves, v.tabs.Current.Focus)
	}
	leaves = v.tabs.Base().Root.Leaves(leaves)
	if v.tabs.Floating() {
		leaves = v.tabs.Float.Root.Leaves(leaves)
	}
	return leaves
}

// area is where the terminal of a leaf is in the view.
func (v *sessionsView) area(l *layout.Node) widget.Rect {
	if v.tight {
		return v.areas.tree
	}
	if v.tabs.Floating() && l.Root() == v.tabs.Float.Root {
		return sessionAreas{bare: l == v.tabs.Float.Root}.content(l.Rect)
	}
	return v.areas.content(l.Rect)
}

const (
	// sizeEvery is how often sessions are told of a size while it changes.
	sizeEvery = 60 * time.Millisecond
	// settleTime is how long a session has to take a size before the pane
	// shows that it has another one.
	settleTime = 300 * time.Millisecond
)

// toldSizes are what sessions were told of theirs.
type toldSizes struct {
	changed bool // a pane may have a size that its session was not told
	calm    bool // a timer runs until the next are told
}

// sizesDue ends the pause after sizes were told; settled comes when they should
// have been taken.
type (
	sizesDue struct{}
	settled  struct{}
)

// tell tells the sessions of fed panes of their sizes, and which of them are out of
// sight: at once the first time, then at most every sizeEvery while they go on changing.
func (s *toldSizes) tell(fed map[*terminal.Pane]context.CancelFunc, see func() []*layout.Node) tea.Cmd {
	if !s.changed || s.calm {
		return nil
	}
	*s = toldSizes{calm: true}
	visible := see()
	for p := range fed {
		p.SetHidden(!slices.ContainsFunc(visible, func(l *layout.Node) bool { return l.Pane == p }))
		p.Resized()
	}
	return tea.Batch(
		tea.Tick(sizeEvery, func(time.Time) tea.Msg { return sizesDue{} }),
		tea.Tick(settleTime, func(time.Time) tea.Msg { return settled{} }),
	)
}
