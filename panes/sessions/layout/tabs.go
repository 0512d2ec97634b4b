package layout

import (
	"slices"

	"tandem/engine/api"
	"tandem/engine/base/invariants"
)

// A Tab is a tree of splits that fills the Sessions view while it is shown.
type Tab struct {
	Name  string // given by the user; "" for one made of its sessions' names
	Root  *Node
	Focus *Node // the leaf that has the keyboard while the tab is shown
	Shown uint64
}

// Tabs are all tabs in their order, shown or hidden. A session is in at most one tab, so that
// showing a session never changes the layout.
type Tabs struct {
	All     []*Tab
	Current *Tab // on the screen; nil without sessions
	Float   *Tab // drawn over the others while it is Current; nil if there is none
	Under   *Tab // the tab below it at that time

	focused map[string]uint64 // when each session got the focus, as a count
	count   uint64
}

// SetFocus moves the focus of a tab to a leaf.
func (t *Tabs) SetFocus(tab *Tab, l *Node) {
	tab.Focus = l
	t.noteFocus(l.ID)
}

func (t *Tabs) noteFocus(id string) {
	if t.focused == nil {
		t.focused = map[string]uint64{}
	}
	t.count++
	t.focused[id] = t.count
}

// Show shows a tab with the focus on a leaf.
func (t *Tabs) Show(to *Tab, l *Node) {
	t.SetFocus(to, l)
	to.Shown = t.count
	switch {
	case to != t.Float:
		t.Under = nil
	case !t.IsFloating():
		t.Under = t.Current
	}
	t.Current = to
}

// PreviousFocus returns the leaf of the current tab that was focused before the present one or, if
// there was none, the next leaf. It returns nil if the tab has only one.
func (t *Tabs) PreviousFocus() *Node {
	others := slices.DeleteFunc(t.Current.Root.Leaves(nil), func(l *Node) bool { return l == t.Current.Focus })
	if last := t.lastFocused(others); last != nil {
		return last
	}
	if next := t.Current.Focus.NextLeaf(1); next != t.Current.Focus {
		return next
	}
	return nil
}

// lastFocused returns the leaf that was focused last, nil if none was.
func (t *Tabs) lastFocused(leaves []*Node) (last *Node) {
	for _, l := range leaves {
		if at := t.focused[l.ID]; at > 0 && (last == nil || at > t.focused[last.ID]) {
			last = l
		}
	}
	return last
}

// CurrentID returns the id of the session focused last; "" if there is no session.
func (t *Tabs) CurrentID() string {
	if t.Current == nil {
		return ""
	}
	return t.Current.Focus.ID
}

// FindSession returns the tab and leaf of a session.
func (t *Tabs) FindSession(id string) (*Tab, *Node) {
	if id == "" {
		return nil, nil
	}
	for _, tab := range t.EveryTab() {
		leaves := tab.Root.Leaves(nil)
		if i := slices.IndexFunc(leaves, func(l *Node) bool { return l.ID == id }); i >= 0 {
			return tab, leaves[i]
		}
	}
	return nil, nil
}

// EveryTab returns all tabs, with the floating one last.
func (t *Tabs) EveryTab() []*Tab {
	if t.Float == nil {
		return t.All
	}
	return append(slices.Clip(t.All), t.Float)
}

// IndexOf returns the index of a tab; -1 if it does not exist any more.
func (t *Tabs) IndexOf(tab *Tab) int { return slices.Index(t.All, tab) }

// Leaves returns the leaves of all tabs, in order.
func (t *Tabs) Leaves() (all []*Node) {
	for _, other := range t.EveryTab() {
		all = other.Root.Leaves(all)
	}
	return all
}

// PreviousTab returns the tab shown before the current one; nil if there is no other.
func (t *Tabs) PreviousTab() (last *Tab) {
	for _, other := range t.All {
		if other != t.Current && (last == nil || other.Shown > last.Shown) {
			last = other
		}
	}
	return last
}

// Update adopts layout l without the sessions for which include returns false. It keeps the focus
// where it is. If the session with the keyboard is gone, Current becomes the tab with another
// session of the same tab, or nil. Update reports whether anything has changed.
func (t *Tabs) Update(l api.Layout, include func(id string) bool) (changed bool) {
	tabs := update{Tabs: t, before: map[string]*Tab{}}
	for _, tab := range t.EveryTab() {
		for _, leaf := range tab.Root.Leaves(nil) {
			tabs.before[leaf.ID] = tab
		}
	}
	var all []*Tab
	var float *Tab
	for i, kept := range l.AllTabs() {
		tab := tabs.tab(kept, include)
		switch {
		case tab == nil:
		case i == len(l.Tabs):
			float = tab
		default:
			all = append(all, tab)
		}
	}
	if len(all) == 0 && float != nil {
		all, float = []*Tab{float}, nil
	}
	if !tabs.changed && slices.Equal(all, t.All) && float == t.Float {
		return false
	}
	current, under := t.Current, t.Under
	t.All, t.Float, t.Current, t.Under = all, float, nil, nil
	if t.Current = t.remains(current); t.IsFloating() {
		t.Under = t.remains(under)
		if t.Under == nil || t.Under == t.Float {
			t.Under = t.PreviousTab()
		}
	}
	if t.Current == nil && current != nil && under != nil { // the floating tab is gone
		t.Current = t.remains(under)
	}
	if invariants.Enabled {
		Check(t)
	}
	return true
}

// remains returns the tab that now has the focused session of the tab former or, if that is gone,
// another session of former. It returns nil if all its sessions are gone.
func (t *Tabs) remains(former *Tab) *Tab {
	if former == nil {
		return nil
	}
	for _, l := range append([]*Node{former.Focus}, former.Root.Leaves(nil)...) {
		if tab, _ := t.FindSession(l.ID); tab != nil {
			return tab
		}
	}
	return nil
}

// An update of Tabs finds out what has changed.
type update struct {
	*Tabs
	before  map[string]*Tab // by session
	changed bool
}

// tab returns the tab for a tab of the new layout: the existing one if it has the same panes,
// otherwise a new one. It returns nil if no pane remains.
func (u *update) tab(kept api.LayoutTab, include func(id string) bool) *Tab {
	nodes, _ := appendShown(nil, kept.Nodes, include)
	if len(nodes) == 0 {
		return nil
	}
	tab, rest := u.before[firstSession(nodes)], nodes
	if tab != nil && tab.Root.matches(&rest) && len(rest) == 0 {
		rest = nodes
		u.changed = tab.Root.setShares(&rest) || u.changed
	} else {
		tab, u.changed = u.build(kept, nodes), true
	}
	u.changed, tab.Name = u.changed || tab.Name != kept.Name, kept.Name
	return tab
}

// build makes a new tab. Its focus follows that of the tab in which its sessions were before.
func (u *update) build(kept api.LayoutTab, nodes []api.LayoutNode) *Tab {
	tab := &Tab{Root: buildTree(&nodes)}
	leaves := tab.Root.Leaves(nil)
	leafOf := func(id string) *Node {
		if i := slices.IndexFunc(leaves, func(l *Node) bool { return l.ID == id }); i >= 0 {
			return leaves[i]
		}
		return nil
	}
	last := u.lastFocused(leaves)
	if last != nil {
		tab.Shown = u.focused[last.ID]
	}
	tab.Focus = leafOf(u.CurrentID())
	for _, l := range leaves {
		// If the pane with the focus is gone, its neighbour gets the focus.
		if from := u.before[l.ID]; tab.Focus == nil && from != nil && leafOf(from.Focus.ID) == nil {
			tab.Focus = nearestTo(from, leaves)
		}
	}
	if tab.Focus == nil {
		tab.Focus = last
	}
	if kept.Focus >= 0 && kept.Focus < len(kept.Nodes) && tab.Focus == nil {
		tab.Focus = leafOf(kept.Nodes[kept.Focus].ID)
	}
	if tab.Focus == nil {
		tab.Focus = leaves[0]
	}
	return tab
}

// Neighbour returns the leaf closest to the focused one; nil if the tab has no other leaf.
func (t *Tab) Neighbour() *Node {
	return nearestTo(t, slices.DeleteFunc(t.Root.Leaves(nil), func(l *Node) bool { return l == t.Focus }))
}

// nearestTo returns the leaf among leaves whose session was closest to the focus in the tab former;
// nil if former has none of them.
func nearestTo(former *Tab, leaves []*Node) (nearest *Node) {
	least := 0
	for _, was := range former.Root.Leaves(nil) {
		i := slices.IndexFunc(leaves, func(l *Node) bool { return l.ID == was.ID })
		if d := centreDistance(was.Rect, former.Focus.Rect); i >= 0 && (nearest == nil || d < least) {
			nearest, least = leaves[i], d
		}
	}
	return nearest
}

// appendShown appends the first tree in nodes to out, without the sessions for which include
// returns false. A split with an empty half is replaced by the other half. rest are the nodes after
// the tree.
func appendShown(out, nodes []api.LayoutNode, include func(id string) bool) (shown, rest []api.LayoutNode) {
	n, rest := nodes[0], nodes[1:]
	if n.Axis == "" {
		if include(n.ID) {
			out = append(out, n)
		}
		return out, rest
	}
	start := len(out)
	out, rest = appendShown(append(out, n), rest, include)
	middle := len(out)
	out, rest = appendShown(out, rest, include)
	if middle == start+1 || middle == len(out) {
		out = slices.Delete(out, start, start+1)
	}
	return out, rest
}

func firstSession(nodes []api.LayoutNode) string {
	return nodes[slices.IndexFunc(nodes, func(n api.LayoutNode) bool { return n.Axis == "" })].ID
}

func axisOf(n api.LayoutNode) Axis {
	if n.Axis == api.AxisBelow {
		return Below
	}
	return Beside
}

func shareOf(n api.LayoutNode) int { return min(max(n.Share, 1), ShareUnit-1) }

// buildTree builds the first tree in nodes, and removes it from nodes.
func buildTree(nodes *[]api.LayoutNode) *Node {
	n := (*nodes)[0]
	*nodes = (*nodes)[1:]
	if n.Axis == "" {
		return NewLeaf(n.ID)
	}
	split := &Node{Axis: axisOf(n), Share: shareOf(n), A: buildTree(nodes)}
	split.B = buildTree(nodes)
	split.A.parent, split.B.parent = split, split
	return split
}

// matches reports whether the first tree in nodes has the same splits and sessions as n; shares may
// differ. It removes that tree from nodes.
func (n *Node) matches(nodes *[]api.LayoutNode) bool {
	if len(*nodes) == 0 {
		return false
	}
	other := (*nodes)[0]
	*nodes = (*nodes)[1:]
	if other.Axis == "" || n.IsLeaf() {
		return other.Axis == "" && n.ID == other.ID
	}
	return n.Axis == axisOf(other) && n.A.matches(nodes) && n.B.matches(nodes)
}

// setShares adopts the shares of the first tree in nodes, which must match n, and removes that tree
// from nodes. It reports whether any share has changed.
func (n *Node) setShares(nodes *[]api.LayoutNode) (changed bool) {
	other := (*nodes)[0]
	*nodes = (*nodes)[1:]
	if n.IsLeaf() {
		return false
	}
	changed = n.Share != shareOf(other)
	n.Share = shareOf(other)
	changed = n.A.setShares(nodes) || changed
	return n.B.setShares(nodes) || changed
}

// Nodes returns the tree as the nodes of a layout.
func (n *Node) Nodes() []api.LayoutNode { return n.appendNodes(nil) }

func (n *Node) appendNodes(nodes []api.LayoutNode) []api.LayoutNode {
	if n.IsLeaf() {
		return append(nodes, api.LayoutNode{ID: n.ID})
	}
	split := api.LayoutNode{Axis: n.Axis.name(), Share: n.Share}
	return n.B.appendNodes(n.A.appendNodes(append(nodes, split)))
}
