package layout

import (
	"slices"

	"tandem/engine/base/invariants"
	"tandem/panes/kit/look"
)

// checkTree panics unless the tree below n is consistent: each node has either a session or
// two halves that point back to it, and no session occurs twice. It returns ids with those of
// the tree's sessions appended.
func (n *Node) checkTree(ids []string) []string {
	if n.IsLeaf() {
		if n.A != nil || n.B != nil || slices.Contains(ids, n.ID) {
			invariants.Failf("the leaf of session %q has children, or the session is in another leaf too", n.ID)
		}
		return append(ids, n.ID)
	}
	switch {
	case n.A == nil, n.B == nil, n.A == n.B, n.A.parent != n, n.B.parent != n:
		invariants.Failf("a split at %+v has the halves %p and %p, which are the same, missing or another split's", n.Rect, n.A, n.B)
	case n.Share <= 0, n.Share >= ShareUnit, n.Axis > Below:
		invariants.Failf("a split at %+v along axis %d has %d of %d in its first half", n.Rect, n.Axis, n.Share, ShareUnit)
	}
	return n.B.checkTree(n.A.checkTree(ids))
}

// checkHalves panics unless the halves of a split tile its rectangle, with a column between them if
// they are side by side. If there is enough space, both must have at least their minimum size.
func (n *Node) checkHalves() {
	a, b, border := n.A.Rect, n.B.Rect, 0
	tiled := look.Rect{X: a.X, Y: a.Y, W: a.W, H: a.H + b.H}
	second := look.Rect{X: a.X, Y: a.Y + a.H, W: a.W, H: b.H}
	size, first, rest := n.Rect.H, a.H, b.H
	if n.Axis == Beside {
		border = 1
		tiled = look.Rect{X: a.X, Y: a.Y, W: a.W + border + b.W, H: a.H}
		second = look.Rect{X: a.X + a.W + border, Y: a.Y, W: b.W, H: a.H}
		size, first, rest = n.Rect.W, a.W, b.W
	}
	switch {
	case b != second, tiled != n.Rect && size >= border, a.W < 0, a.H < 0, b.W < 0, b.H < 0:
		invariants.Failf("halves %+v and %+v do not tile %+v", a, b, n.Rect)
	case size >= n.MinSize(n.Axis) && (first < n.A.MinSize(n.Axis) || rest < n.B.MinSize(n.Axis)):
		invariants.Failf("halves %+v and %+v of %+v are smaller than %d and %d, although there is room", a, b, n.Rect, n.A.MinSize(n.Axis), n.B.MinSize(n.Axis))
	}
}

// Check panics unless each session occurs once, each tab contains its focus, and the current and
// the floating tab are among the others. It is a function, because the linker cannot leave an
// exported method out of builds without checks.
func Check(t *Tabs) {
	var ids []string
	every := t.EveryTab()
	for i, tab := range every {
		if tab == nil || tab.Root == nil || tab.Root.parent != nil || slices.Contains(every[:i], tab) {
			invariants.Failf("tab %d of %d has no tree, a part of one, or another tab's", i, len(every))
		}
		ids = tab.Root.checkTree(ids)
		leaves := tab.Root.Leaves(nil)
		if !slices.Contains(leaves, tab.Focus) {
			invariants.Failf("the focus of tab %d is on none of its %d panes", i, len(leaves))
		}
	}
	switch {
	case t.Current != nil && !slices.Contains(every, t.Current):
		invariants.Failf("the visible tab is not among the %d", len(every))
	case t.IsFloating() != (t.Under != nil), t.Under != nil && t.IndexOf(t.Under) < 0:
		invariants.Failf("the tab below the floating one is tab %d of %d; it is shown: %v", t.IndexOf(t.Under), len(t.All), t.IsFloating())
	}
}
