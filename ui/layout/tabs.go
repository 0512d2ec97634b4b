package layout

import (
	"slices"

	"tandem/engine/api"
	"tandem/engine/invariants"
	"tandem/panes/terminal"
)

// A Tab is a split tree that fills the sessions view while it is shown.
type Tab struct {
	Root  *Node
	Focus *Node // the leaf that has the keyboard, or would
	Shown uint64

	before *terminal.Pane // had the focus before Focus, if it is still here
}

// NewTab makes a tab of one pane.
func NewTab(p *terminal.Pane) *Tab {
	leaf := Leaf(p)
	return &Tab{Root: leaf, Focus: leaf}
}

// Go moves the focus to a leaf.
func (t *Tab) Go(l *Node) {
	if l != t.Focus {
		t.before, t.Focus = t.Focus.Pane, l
	}
}

// Before is the leaf that had the focus before this one, or else the next one; nil
// if there is no other.
func (t *Tab) Before() *Node {
	for _, l := range t.Root.Leaves(nil) {
		if l.Pane == t.before && l != t.Focus {
			return l
		}
	}
	if next := t.Focus.Next(1); next != t.Focus {
		return next
	}
	return nil
}

// leaf is the leaf with that session; nil if there is none.
func (t *Tab) leaf(id string) *Node {
	for _, l := range t.Root.Leaves(nil) {
		if l.Pane.ID == id {
			return l
		}
	}
	return nil
}

// Tabs are the tabs in their order. Each session is in one of them at most, so
// going from session to session never takes a layout apart.
type Tabs struct {
	New     func(id string) *terminal.Pane // makes the pane of a session
	All     []*Tab
	Current *Tab // the one on the screen; nil without sessions
	Float   *Tab // lies over the others while it is Current; nil if there is none
	Under   *Tab // what lies below it then
}

// Add puts a tab of one pane behind the others.
func (t *Tabs) Add(p *terminal.Pane) *Tab {
	added := NewTab(p)
	t.All = append(t.All, added)
	if invariants.Enabled {
		Check(t)
	}
	return added
}

// Find is the tab and leaf of a session.
func (t *Tabs) Find(id string) (*Tab, *Node) {
	if id == "" {
		return nil, nil
	}
	for _, other := range t.Every() {
		if l := other.leaf(id); l != nil {
			return other, l
		}
	}
	return nil, nil
}

// Of is the tab and leaf that a pane is in.
func (t *Tabs) Of(p *terminal.Pane) (*Tab, *Node) {
	for _, other := range t.Every() {
		for _, l := range other.Root.Leaves(nil) {
			if l.Pane == p {
				return other, l
			}
		}
	}
	return nil, nil
}

// Every are the tabs with the floating one, which comes last.
func (t *Tabs) Every() []*Tab {
	if t.Float == nil {
		return t.All
	}
	return append(slices.Clip(t.All), t.Float)
}

// Index is the place of a tab; -1 if it is not there any more.
func (t *Tabs) Index(of *Tab) int { return slices.Index(t.All, of) }

// Leaves are those of all tabs, in order.
func (t *Tabs) Leaves() (all []*Node) {
	for _, other := range t.Every() {
		all = other.Root.Leaves(all)
	}
	return all
}

// Before is the tab that was shown before this one; nil if there is no other.
func (t *Tabs) Before() (last *Tab) {
	for _, other := range t.All {
		if other != t.Current && (last == nil || other.Shown > last.Shown) {
			last = other
		}
	}
	return last
}

// Detach takes a leaf out of its tab, and the tab away with its last one. The
// pane keeps its attachment.
func (t *Tabs) Detach(from *Tab, l *Node) {
	root, focus := l.Remove()
	if root != nil {
		from.Root = root
		if from.Focus == l {
			from.Focus = focus
		}
		return
	}
	if from == t.Float {
		if t.Floating() {
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

// BreakOut gives a leaf a tab of its own, behind the one that it is in.
func (t *Tabs) BreakOut(from *Tab, l *Node) *Tab {
	at := t.Index(from)
	if at < 0 {
		at = len(t.All) - 1
	}
	t.Detach(from, l)
	own := NewTab(l.Pane)
	t.All = slices.Insert(t.All, at+1, own)
	return own
}

// lay puts sessions where a layout has them; ids are those of its panes, by tab
// and node. It returns the tab to show and how many sessions it has found.
func (t *Tabs) lay(l api.Layout, ids map[[2]int]string) (show *Tab, found int) {
	for i, kept := range all(l) {
		root, focus := readTab(kept, func(j int) *terminal.Pane {
			id := ids[[2]int{i, j}]
			if id == "" {
				return nil
			}
			found++
			return t.takeOut(id)
		})
		if root == nil {
			continue
		}
		laid := &Tab{Root: root, Focus: focus}
		if i == len(l.Tabs) {
			if t.Float != nil {
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

// takeOut is the pane of a session, taken out of the tab it is in.
func (t *Tabs) takeOut(id string) *terminal.Pane {
	from, l := t.Find(id)
	if from == nil {
		return t.New(id)
	}
	p := l.Pane
	t.Detach(from, l)
	return p
}
