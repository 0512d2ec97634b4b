package layout

import (
	"slices"

	"tandem/engine/api"
	"tandem/engine/base/invariants"
	"tandem/panes/kit/look"
)

// An Axis is the direction in which a split divides its area.
type Axis uint8

const (
	Beside Axis = iota // left and right, with a column between them
	Below              // top and bottom; the lower half's title row is the border
)

// name returns the axis as in a layout.
func (x Axis) name() string {
	if x == Below {
		return api.AxisBelow
	}
	return api.AxisBeside
}

// A Direction is where the focus or a border moves.
type Direction uint8

const (
	Left Direction = iota
	Right
	Up
	Down
)

// Minimum size of a pane, including its title row.
const (
	minPaneWidth  = 10
	minPaneHeight = 3
)

// ShareUnit is the unit of Node.Share: a half with this share would have the whole area.
const ShareUnit = api.LayoutShare

// A Node of the tree is a leaf with the pane of a session, or a split of two nodes.
type Node struct {
	parent *Node
	ID     string // of the session; "" for a split
	Axis   Axis
	Share  int // share of A, in parts of ShareUnit
	A, B   *Node
	Rect   look.Rect // set by SetRects

	Title string   // title row of a leaf; "" for none
	Rows  []string // rows of its pane
	Cuts  [][2]int // of each row, its first byte and the one after the last in the buffer of AppendRow
}

// NewLeaf returns the leaf of a session.
func NewLeaf(id string) *Node { return &Node{ID: id} }

// IsLeaf reports whether the node is a leaf.
func (n *Node) IsLeaf() bool { return n.ID != "" }

// SetRects sets the rectangles of the node and everything below it.
func (n *Node) SetRects(r look.Rect) {
	n.Rect = r
	if n.IsLeaf() {
		return
	}
	first, second := r, r
	if n.Axis == Beside {
		// The column between the halves belongs to neither.
		first.W = divideCells(r.W-1, n.Share, n.A.MinSize(Beside), n.B.MinSize(Beside))
		second.X = r.X + first.W + 1
		second.W = max(r.W-first.W-1, 0)
	} else {
		first.H = divideCells(r.H, n.Share, n.A.MinSize(Below), n.B.MinSize(Below))
		second.Y = r.Y + first.H
		second.H = r.H - first.H
	}
	n.A.SetRects(first)
	n.B.SetRects(second)
	if invariants.Enabled {
		n.checkHalves()
	}
}

// MinSize returns the number of cells the node needs along an axis to give each of its
// panes the minimum size.
func (n *Node) MinSize(x Axis) int {
	switch {
	case n.IsLeaf() && x == Beside:
		return minPaneWidth
	case n.IsLeaf():
		return minPaneHeight
	case n.Axis != x:
		return max(n.A.MinSize(x), n.B.MinSize(x))
	case x == Beside:
		return n.A.MinSize(x) + 1 + n.B.MinSize(x)
	}
	return n.A.MinSize(x) + n.B.MinSize(x)
}

// divideCells divides total cells by share, and returns the size of the first part. first and
// second are the minimum sizes of the parts. If total is too small for both, it is divided in
// proportion to them.
func divideCells(total, share, first, second int) int {
	total = max(total, 0)
	if total < first+second {
		return total * first / (first + second)
	}
	return min(max((total*share+ShareUnit/2)/ShareUnit, first), total-second)
}

// Leaves appends the leaves in reading order.
func (n *Node) Leaves(out []*Node) []*Node {
	if n == nil {
		return out
	}
	if n.IsLeaf() {
		return append(out, n)
	}
	return n.B.Leaves(n.A.Leaves(out))
}

// Root returns the root of n's tree.
func (n *Node) Root() *Node {
	for n.parent != nil {
		n = n.parent
	}
	return n
}

// CanSplit reports whether both halves would have the minimum size after a split of n along x.
func (n *Node) CanSplit(x Axis) bool {
	if x == Beside {
		return n.Rect.W >= 2*minPaneWidth+1
	}
	return n.Rect.H >= 2*minPaneHeight
}

// SplitWith returns the nodes of a split whose halves are leaf n and a new leaf of session id.
func (n *Node) SplitWith(x Axis, id string) []api.LayoutNode {
	return []api.LayoutNode{{Axis: x.name(), Share: ShareUnit / 2}, {ID: n.ID}, {ID: id}}
}

// Neighbour returns the leaf next to n in a direction. If there are several, it returns the one
// opposite n's middle. It returns nil at the edge.
func (n *Node) Neighbour(d Direction) *Node {
	next := slices.DeleteFunc(n.Root().Leaves(nil), func(l *Node) bool { return l == n || !isAdjacent(l.Rect, n.Rect, d) })
	if len(next) == 0 {
		return nil
	}
	return slices.MinFunc(next, func(a, b *Node) int { return offAxis(a.Rect, n.Rect, d) - offAxis(b.Rect, n.Rect, d) })
}

// NextLeaf returns the leaf step places after n in reading order, wrapping around. step is
// 1 or -1.
func (n *Node) NextLeaf(step int) *Node {
	all := n.Root().Leaves(nil)
	return all[(slices.Index(all, n)+step+len(all))%len(all)]
}

// PushBorder moves a border of leaf n by delta cells: the border on the side of direction d or, at
// the edge of the screen, the border on the opposite side. It returns the split whose border was
// moved; nil if n has neither border.
func (n *Node) PushBorder(d Direction, delta int) *Node {
	x := Beside
	if d == Up || d == Down {
		x = Below
	}
	if d == Left || d == Up {
		delta = -delta
	}
	s := n.borderToward(x, d == Right || d == Down)
	if s == nil {
		// At the edge of the screen there is no border on the side of d.
		s = n.borderToward(x, d == Left || d == Up)
	}
	if s != nil {
		s.MoveBorder(s.BorderCell() + delta)
	}
	return s
}

// borderToward returns the closest split along x above n that has n in its first half if forward is
// set, or in its second half otherwise.
func (n *Node) borderToward(x Axis, forward bool) *Node {
	for c := n; c.parent != nil; c = c.parent {
		s := c.parent
		if s.Axis == x && (s.A == c) == forward {
			return s
		}
	}
	return nil
}

// BorderCell returns the position of split n's border: a column, or the first row of the
// lower half.
func (n *Node) BorderCell() int {
	if n.Axis == Beside {
		return n.A.Rect.X + n.A.Rect.W
	}
	return n.B.Rect.Y
}

// MoveBorder moves split n's border to a column or row, within the minimum sizes of both
// halves, and sets the rectangles below n.
func (n *Node) MoveBorder(at int) {
	size, total := at-n.Rect.X, n.Rect.W-1
	if n.Axis == Below {
		size, total = at-n.Rect.Y, n.Rect.H
	}
	first, second := n.A.MinSize(n.Axis), n.B.MinSize(n.Axis)
	if total < first+second {
		return
	}
	size = min(max(size, first), total-second)
	n.Share = (size*ShareUnit + total/2) / total
	n.SetRects(n.Rect)
}

// BorderAt returns the split with a border at a cell; nil if there is none.
func (n *Node) BorderAt(x, y int) *Node {
	if n == nil || n.IsLeaf() || !n.Rect.Contains(x, y) {
		return nil
	}
	if n.Axis == Beside && x == n.BorderCell() || n.Axis == Below && y == n.BorderCell() {
		return n
	}
	if s := n.A.BorderAt(x, y); s != nil {
		return s
	}
	return n.B.BorderAt(x, y)
}

// LeafAt returns the leaf at a cell; nil on a border or outside.
func (n *Node) LeafAt(x, y int) *Node {
	if n == nil || !n.Rect.Contains(x, y) {
		return nil
	}
	if n.IsLeaf() {
		return n
	}
	if l := n.A.LeafAt(x, y); l != nil {
		return l
	}
	return n.B.LeafAt(x, y)
}
