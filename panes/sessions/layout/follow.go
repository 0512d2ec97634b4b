// Another dashboard's layout lists the sessions known there. Panes missing in it, such as
// that of a session still starting here, must not be lost or moved to the end. So their
// position is recorded relative to the nearest pane that stays (an orphan), the layout is
// applied, and each orphan gets its half of a split back.

package layout

import (
	"slices"

	"tandem/engine/api"
)

// An orphan is a pane missing in a layout, with its position.
type orphan struct {
	id     string // its session
	beside string // the session it shared a split with
	axis   Axis
	share  int
	first  bool
}

// orphanBeside returns the position of leaf n relative to the closest leaf that stays.
func (n *Node) orphanBeside(stays func(*Node) bool) (s orphan, ok bool) {
	for c := n; c.parent != nil; c = c.parent {
		split := c.parent
		sibling := split.A
		if sibling == c {
			sibling = split.B
		}
		for _, leaf := range sibling.Leaves(nil) {
			if stays(leaf) {
				return orphan{n.ID, leaf.ID, split.Axis, split.Share, split.A == c}, true
			}
		}
	}
	return s, false
}

// FollowLayout arranges the sessions as another dashboard does. The current tab and the
// focus stay, and names that are not saved yet. Panes missing in the layout keep their neighbours.
func (t *Tabs) FollowLayout(l api.Layout, processes []api.Process) {
	focused, under := t.CurrentID(), ""
	if t.Under != nil {
		under = t.Under.Focus.ID
	}
	before := slices.Clone(t.All)
	renamed := map[string]string{} // by the first session
	for _, tab := range t.EveryTab() {
		if tab.Renamed {
			renamed[tab.Root.Leaves(nil)[0].ID] = tab.Name
		}
	}
	ids := findSessions(l, processes, false)
	// Positions are recorded first: arrangeTabs takes the neighbours out of their tabs.
	strays := t.findOrphans(ids)
	t.arrangeTabs(l, ids)
	for _, s := range strays {
		t.restoreOrphan(s)
	}
	t.keepOrder(before)
	for id, name := range renamed {
		if tab, _ := t.FindSession(id); tab != nil {
			tab.Name, tab.Renamed = name, true
		}
	}
	if with, leaf := t.FindSession(focused); with != nil {
		t.Current, with.Focus = with, leaf
	}
	t.Under = nil
	if with, leaf := t.FindSession(under); t.IsFloating() && with != nil && with != t.Float {
		t.Under, with.Focus = with, leaf
	}
	t.SettleFloat()
}

// findOrphans returns the panes whose session is not among ids, except those alone in
// their tab.
func (t *Tabs) findOrphans(ids map[[2]int]string) (out []orphan) {
	named := map[string]bool{}
	for _, id := range ids {
		named[id] = id != ""
	}
	for _, leaf := range t.Leaves() {
		if !named[leaf.ID] {
			if s, ok := leaf.orphanBeside(func(n *Node) bool { return named[n.ID] }); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// restoreOrphan gives an orphan its half of a split back.
func (t *Tabs) restoreOrphan(s orphan) {
	from, leaf := t.FindSession(s.id)
	to, beside := t.FindSession(s.beside)
	if from == nil || to == nil || from == to {
		return
	}
	t.DetachLeaf(from, leaf)
	root, created := beside.SplitLeaf(s.axis, s.id)
	to.Root = root
	split := created.parent
	split.Share = s.share
	if s.first {
		split.A, split.B = split.B, split.A
	}
}

// keepOrder moves the tabs in before that still exist back to their positions.
func (t *Tabs) keepOrder(before []*Tab) {
	for i, other := range before {
		if at := t.IndexOf(other); at >= 0 {
			t.All = slices.Delete(t.All, at, at+1)
			t.All = slices.Insert(t.All, min(i, len(t.All)), other)
		}
	}
}
