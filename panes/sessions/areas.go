package sessions

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/panes/kit/look"
	"tandem/panes/sessions/layout"
	"tandem/panes/terminal"
)

// The session list is a column if at least minTreeWidth columns remain for the panes, else
// a row.
const (
	minListWidth = 25
	maxListWidth = 34
	minTreeWidth = 80
)

// areas are the rectangles of the view's parts. A part that is not shown has an
// empty one.
type areas struct {
	list  look.Rect // the session list as a column
	strip look.Rect // the session list as a row
	tabs  look.Rect // the tab bar, unless the list is a row
	tree  look.Rect // the panes
	bare  bool      // a pane without a title row
}

// divideView divides a view of w×h cells. alone gives one pane all of it; tabs asks for a
// tab bar.
func divideView(w, h, panes int, alone, tabs bool) areas {
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
		a.bare = panes == 1
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

// Resize sets the view's size. With an empty size nothing is drawn.
func (v *View) Resize(w, h int) {
	v.w, v.h, v.sized = w, h, true
	v.relayout()
}

// relayout divides the view and resizes every visible pane.
func (v *View) relayout() {
	if v.zoomReported != v.zoomed {
		v.zoomReported = v.zoomed
		v.env.Relayout()
		return
	}
	v.dirty = true
	v.layoutSync.changed = true
	var leaves []*layout.Node
	if v.Tabs.Current != nil {
		leaves = v.Tabs.BaseTab().Root.Leaves(nil)
	}
	v.areas = areas{}
	if v.w <= 0 || v.h <= 0 {
		return
	}
	v.areas = divideView(v.w, v.h, len(leaves), v.tight, v.hasTabBar())
	list := v.areas.list
	switch {
	case v.tight:
		list = v.areas.tree
	case list.W == 0:
		list = v.areas.strip
	}
	v.List.Resize(list.W, list.H)
	if v.Tabs.Current == nil {
		return
	}
	if !v.tight {
		v.Tabs.BaseTab().Root.SetRects(v.areas.tree)
	}
	if v.Tabs.IsFloating() {
		v.Tabs.Float.Root.SetRects(layout.InsideFrame(layout.FrameRect(v.areas.tree)))
		leaves = v.Tabs.Float.Root.Leaves(leaves)
	}
	for _, l := range leaves {
		if v.tight && l != v.Tabs.Current.Focus {
			continue
		}
		r := v.paneArea(l)
		l.Pane.Resize(r.W, r.H)
		l.Pane.SetRowsBelow(v.h - r.Y - r.H)
		v.Attachments.attach(l.Pane)
	}
	v.sizes.changed = true
}

// hasTabBar reports whether to draw a tab bar: there are several tabs, and the user wants
// one.
func (v *View) hasTabBar() bool { return len(v.Tabs.EveryTab()) > 1 && v.env.Settings().Tabs }

// visibleLeaves returns the leaves on the screen.
func (v *View) visibleLeaves() []*layout.Node { return v.appendVisible(nil) }

// appendVisible appends the visible leaves to leaves.
func (v *View) appendVisible(leaves []*layout.Node) []*layout.Node {
	switch {
	case v.Tabs.Current == nil || !v.shown || v.w <= 0:
		return leaves
	case v.tight:
		return append(leaves, v.Tabs.Current.Focus)
	}
	leaves = v.Tabs.BaseTab().Root.Leaves(leaves)
	if v.Tabs.IsFloating() {
		leaves = v.Tabs.Float.Root.Leaves(leaves)
	}
	return leaves
}

// paneArea returns the rectangle of a leaf's pane in the view, without its title row.
func (v *View) paneArea(l *layout.Node) look.Rect {
	if v.tight {
		return v.areas.tree
	}
	if v.Tabs.IsFloating() && l.Root() == v.Tabs.Float.Root {
		return areas{bare: l == v.Tabs.Float.Root}.contentOf(l.Rect)
	}
	return v.areas.contentOf(l.Rect)
}

const (
	// sizeInterval is the minimum time between two size reports to sessions during a
	// resize.
	sizeInterval = 60 * time.Millisecond
	// settleTime is how long a session may take to adopt a size before its pane shows the
	// mismatch.
	settleTime = 300 * time.Millisecond
)

// sizeSync reports the sizes of panes to their sessions.
type sizeSync struct {
	changed bool // a session may have an outdated size
	pausing bool // a sizesDue message is scheduled
}

// sizesDue ends the pause after sizes were reported. settleDue follows once sessions had
// time to adopt them.
type (
	sizesDue  struct{}
	settleDue struct{}
)

// sendSizes reports to each attached session its size and whether it is hidden. The first
// change is reported at once, further ones at most every sizeInterval.
func (s *sizeSync) sendSizes(fed map[*terminal.Pane]context.CancelFunc, see func() []*layout.Node) tea.Cmd {
	if !s.changed || s.pausing {
		return nil
	}
	*s = sizeSync{pausing: true}
	visible := see()
	for p := range fed {
		p.View.SetHidden(!slices.ContainsFunc(visible, func(l *layout.Node) bool { return l.Pane == p }))
		p.View.SendSize()
	}
	return tea.Batch(
		tea.Tick(sizeInterval, func(time.Time) tea.Msg { return sizesDue{} }),
		tea.Tick(settleTime, func(time.Time) tea.Msg { return settleDue{} }),
	)
}
