package layout

import (
	"slices"

	"tandem/engine/api"
	"tandem/panes/terminal"
)

// A stray is a pane that a layout does not name, and where it was.
type stray struct {
	pane   *terminal.Pane
	beside *terminal.Pane // that it had half of a split with
	axis   Axis
	share  int
	first  bool
}

// strayFrom says where leaf n is beside the closest leaf that stays.
func (n *Node) strayFrom(stays func(*Node) bool) (s stray, ok bool) {
	for c := n; c.parent != nil; c = c.parent {
		split := c.parent
		sibling := split.A
		if sibling == c {
			sibling = split.B
		}
		for _, leaf := range sibling.Leaves(nil) {
			if stays(leaf) {
				return stray{n.Pane, leaf.Pane, split.Axis, split.Share, split.A == c}, true
			}
		}
	}
	return s, false
}

// Follow lays the sessions out as another dashboard has them. The tab that is
// shown and the pane that has the keyboard stay; so does what the layout does not
// know of, beside what it is beside.
func (t *Tabs) Follow(l api.Layout, processes []api.Process) {
	var focused *terminal.Pane
	if t.Current != nil {
		focused = t.Current.Focus.Pane
	}
	var under *terminal.Pane
	if t.Under != nil {
		under = t.Under.Focus.Pane
	}
	before := slices.Clone(t.All)
	shown := map[*terminal.Pane]uint64{}
	for _, other := range before {
		for _, leaf := range other.Root.Leaves(nil) {
			shown[leaf.Pane] = other.Shown
		}
	}
	ids := newSeeker(processes).byID(l)
	strays := t.strays(ids)
	t.lay(l, ids)
	for _, s := range strays {
		t.putBeside(s)
	}
	t.keepPlaces(before)
	for _, other := range t.All {
		for _, leaf := range other.Root.Leaves(nil) {
			other.Shown = max(other.Shown, shown[leaf.Pane])
		}
	}
	if with, leaf := t.Of(focused); with != nil {
		t.Current, with.Focus = with, leaf
	}
	t.Under = nil
	if with, leaf := t.Of(under); t.Floating() && with != nil && with != t.Float {
		t.Under, with.Focus = with, leaf
	}
	t.Settle()
}

// strays are the panes of tabs whose session is not among ids, but for those that
// have their tab to themselves.
func (t *Tabs) strays(ids map[[2]int]string) (out []stray) {
	named := map[string]bool{}
	for _, id := range ids {
		named[id] = id != ""
	}
	for _, leaf := range t.Leaves() {
		if !named[leaf.Pane.ID] {
			if s, ok := leaf.strayFrom(func(n *Node) bool { return named[n.Pane.ID] }); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// putBeside gives a pane its half of a split again.
func (t *Tabs) putBeside(s stray) {
	from, leaf := t.Of(s.pane)
	to, beside := t.Of(s.beside)
	if from == nil || to == nil || from == to {
		return
	}
	t.Detach(from, leaf)
	root, created := beside.Split(s.axis, s.pane)
	to.Root = root
	split := created.parent
	split.Share = s.share
	if s.first {
		split.A, split.B = split.B, split.A
	}
}

// keepPlaces puts the tabs that were there before, and are still, where they were.
func (t *Tabs) keepPlaces(before []*Tab) {
	for i, other := range before {
		if at := t.Index(other); at >= 0 {
			t.All = slices.Delete(t.All, at, at+1)
			t.All = slices.Insert(t.All, min(i, len(t.All)), other)
		}
	}
}
