package layout

import (
	"slices"

	"tandem/engine/api"
	"tandem/engine/base/invariants"
)

// A Tab is a tree of splits that fills the Sessions view while it is shown.
type Tab struct {
	Name    string // given by the user; "" for one made of its sessions' names
	Renamed bool   // Name is not saved yet
	Root    *Node
	Focus   *Node // the leaf that has the keyboard while the tab is shown
	Shown   uint64

	before string // the session focused previously, if it is still here
}

// NewTab returns a tab with the pane of a session.
func NewTab(id string) *Tab {
	leaf := NewLeaf(id)
	return &Tab{Root: leaf, Focus: leaf}
}

// SetFocus moves the focus to a leaf.
func (t *Tab) SetFocus(l *Node) {
	if l != t.Focus {
		t.before, t.Focus = t.Focus.ID, l
	}
}

// PreviousFocus returns the previously focused leaf, or else the next one; nil if there is
// no other.
func (t *Tab) PreviousFocus() *Node {
	for _, l := range t.Root.Leaves(nil) {
		if l.ID == t.before && l != t.Focus {
			return l
		}
	}
	if next := t.Focus.NextLeaf(1); next != t.Focus {
		return next
	}
	return nil
}

// Tabs are the tabs in their order. A session is in one tab at most, so that going to a
// session never changes a layout.
type Tabs struct {
	All     []*Tab
	Current *Tab // on the screen; nil without sessions
	Float   *Tab // drawn over the others while it is Current; nil if there is none
	Under   *Tab // the tab below it at that time
}

// CurrentID returns the session focused last; "" without one.
func (t *Tabs) CurrentID() string {
	if t.Current == nil {
		return ""
	}
	return t.Current.Focus.ID
}

// AddTab appends a tab with the pane of a session.
func (t *Tabs) AddTab(id string) *Tab {
	added := NewTab(id)
	t.All = append(t.All, added)
	if invariants.Enabled {
		Check(t)
	}
	return added
}

// FindSession returns the tab and leaf of a session.
func (t *Tabs) FindSession(id string) (*Tab, *Node) {
	if id == "" {
		return nil, nil
	}
	return t.findLeaf(func(l *Node) bool { return l.ID == id })
}

// findLeaf returns the first leaf that matches, with its tab.
func (t *Tabs) findLeaf(matches func(*Node) bool) (*Tab, *Node) {
	for _, tab := range t.EveryTab() {
		leaves := tab.Root.Leaves(nil)
		if i := slices.IndexFunc(leaves, matches); i >= 0 {
			return tab, leaves[i]
		}
	}
	return nil, nil
}

// A Place is a leaf with its tab.
type Place struct {
	Tab  *Tab
	Leaf *Node
}

// Places returns the places of all sessions, to look up many of them.
func (t *Tabs) Places() map[string]Place {
	all := map[string]Place{}
	var leaves []*Node
	for _, tab := range t.EveryTab() {
		leaves = tab.Root.Leaves(leaves[:0])
		for _, l := range leaves {
			all[l.ID] = Place{tab, l}
		}
	}
	return all
}

// EveryTab returns all tabs, with the floating one last.
func (t *Tabs) EveryTab() []*Tab {
	if t.Float == nil {
		return t.All
	}
	return append(slices.Clip(t.All), t.Float)
}

// IndexOf returns the index of a tab; -1 if it does not exist any more.
func (t *Tabs) IndexOf(of *Tab) int { return slices.Index(t.All, of) }

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

// DetachLeaf removes a leaf from its tab, and the tab with its last leaf. The pane stays
// attached to its session.
func (t *Tabs) DetachLeaf(from *Tab, l *Node) {
	root, focus := l.RemoveLeaf()
	if root != nil {
		from.Root = root
		if from.Focus == l {
			from.Focus = focus
		}
		return
	}
	if from == t.Float {
		if t.IsFloating() {
			t.Current = t.Under
		}
		t.Float, t.Under = nil, nil
		return
	}
	t.All = slices.DeleteFunc(t.All, func(other *Tab) bool { return other == from })
	if t.Current == from {
		t.Current = nil
	}
	if t.Under == from {
		t.Under = nil
	}
}

// BreakOut moves a leaf to a new tab after its own.
func (t *Tabs) BreakOut(from *Tab, l *Node) *Tab {
	at := t.IndexOf(from)
	if at < 0 {
		at = len(t.All) - 1
	}
	t.DetachLeaf(from, l)
	own := NewTab(l.ID)
	t.All = slices.Insert(t.All, at+1, own)
	return own
}

// arrangeTabs builds the tabs of a layout; ids has the sessions of its panes, by tab and
// node. It returns the tab to show and the number of sessions found.
func (t *Tabs) arrangeTabs(l api.Layout, ids map[[2]int]string) (show *Tab, found int) {
	before := t.Places()
	for i, kept := range allTabs(l) {
		laid := &Tab{Name: kept.Name}
		laid.Root, laid.Focus = readTab(kept, func(j int) string {
			id := ids[[2]int{i, j}]
			if id == "" {
				return ""
			}
			found++
			if from, ok := before[id]; ok {
				// A new tab inherits the last time one of its panes was shown.
				laid.Shown = max(laid.Shown, from.Tab.Shown)
				t.DetachLeaf(from.Tab, from.Leaf)
			}
			return id
		})
		if laid.Root == nil {
			continue
		}
		if i == len(l.Tabs) {
			if t.Float != nil {
				// A floating tab that is not part of the layout becomes an ordinary one.
				t.All = append(t.All, t.Float)
			}
			t.Float = laid
			continue
		}
		t.All = append(t.All, laid)
		if show == nil || i == l.Current {
			show = laid
		}
	}
	return show, found
}
