package layout

import (
	"tandem/engine/invariants"
	"tandem/panes/terminal"
	"tandem/panes/widget"
)

// An Axis is how a split lays out its two halves.
type Axis uint8

const (
	Beside Axis = iota // left and right, with a column between them
	Below              // top and bottom; the lower half's title row is the border
)

// A Direction is where focus or a border moves.
type Direction uint8

const (
	Left Direction = iota
	Right
	Up
	Down
)

// Least sizes of a pane, its title row included.
const (
	minPaneWidth  = 10
	minPaneHeight = 3
)

// ShareUnit is the whole of a split; node.share counts in it.
const ShareUnit = 10_000

// A Node of the split tree is a leaf with a pane, or a split of two nodes.
type Node struct {
	parent *Node
	Pane   *terminal.Pane // nil for a split
	Axis   Axis
	Share  int // of ShareUnit, what a gets
	A, B   *Node
	Rect   widget.Rect // set by place

	Title string   // drawn title row of a leaf, "" for none
	Rows  []string // drawn rows of its terminal
}

func Leaf(p *terminal.Pane) *Node { return &Node{Pane: p} }

// Place gives the node and all below it their rectangles.
func (n *Node) Place(r widget.Rect) {
	n.Rect = r
	if n.Pane != nil {
		return
	}
	first, second := r, r
	if n.Axis == Beside {
		first.W = portion(r.W-1, n.Share, n.A.Least(Beside), n.B.Least(Beside))
		second.X = r.X + first.W + 1
		second.W = max(r.W-first.W-1, 0)
	} else {
		first.H = portion(r.H, n.Share, n.A.Least(Below), n.B.Least(Below))
		second.Y = r.Y + first.H
		second.H = r.H - first.H
	}
	n.A.Place(first)
	n.B.Place(second)
	if invariants.Enabled {
		n.checkHalves()
	}
}

// Least is how many cells a node needs along an axis for each of its panes to
// have the least size.
func (n *Node) Least(x Axis) int {
	switch {
	case n.Pane != nil && x == Beside:
		return minPaneWidth
	case n.Pane != nil:
		return minPaneHeight
	case n.Axis != x:
		return max(n.A.Least(x), n.B.Least(x))
	case x == Beside:
		return n.A.Least(x) + 1 + n.B.Least(x)
	}
	return n.A.Least(x) + n.B.Least(x)
}

// portion is the share of total cells, with at least the given ones on each side.
// Where there are not that many, what there is is divided as they are.
func portion(total, share, first, second int) int {
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
	if n.Pane != nil {
		return append(out, n)
	}
	return n.B.Leaves(n.A.Leaves(out))
}

// Root is the top of the tree that n is in.
func (n *Node) Root() *Node {
	for n.parent != nil {
		n = n.parent
	}
	return n
}

// CanSplit reports whether both halves would keep the least size.
func (n *Node) CanSplit(x Axis) bool {
	if x == Beside {
		return n.Rect.W >= 2*minPaneWidth+1
	}
	return n.Rect.H >= 2*minPaneHeight
}

// Split makes leaf n a split of itself and a new leaf with pane p, which it
// returns with the tree's root.
func (n *Node) Split(x Axis, p *terminal.Pane) (root, created *Node) {
	s := &Node{parent: n.parent, Axis: x, Share: ShareUnit / 2, Rect: n.Rect}
	n.replaceBy(s)
	created = &Node{parent: s, Pane: p}
	n.parent = s
	s.A, s.B = n, created
	root = s.Root()
	if invariants.Enabled {
		root.check(nil)
	}
	return root, created
}

// replaceBy puts m at n's place in n's parent.
func (n *Node) replaceBy(m *Node) {
	m.parent = n.parent
	switch {
	case n.parent == nil:
	case n.parent.A == n:
		n.parent.A = m
	default:
		n.parent.B = m
	}
}

// Remove takes leaf n out of its tree; its sibling grows into the place. It
// returns the root that is left and the leaf to focus, both nil after the
// last.
func (n *Node) Remove() (root, focus *Node) {
	s := n.parent
	if s == nil {
		return nil, nil
	}
	sibling := s.A
	if sibling == n {
		sibling = s.B
	}
	s.replaceBy(sibling)
	n.parent = nil
	root = sibling.Root()
	if invariants.Enabled {
		root.check(nil)
	}
	return root, sibling.nearest(n.Rect)
}

// nearest is the leaf of n whose rectangle is closest to r.
func (n *Node) nearest(r widget.Rect) *Node {
	var best *Node
	least := 1 << 30
	for _, l := range n.Leaves(nil) {
		if d := distance(l.Rect, r); d < least {
			best, least = l, d
		}
	}
	return best
}

// Neighbour is the leaf next to n in a direction: of those that touch it there,
// the one across from its middle. nil at the edge.
func (n *Node) Neighbour(d Direction) *Node {
	var best *Node
	least := 1 << 30
	for _, l := range n.Root().Leaves(nil) {
		if l == n || !touches(l.Rect, n.Rect, d) {
			continue
		}
		if off := offAxis(l.Rect, n.Rect, d); off < least {
			best, least = l, off
		}
	}
	return best
}

// Next is the leaf after (or, with step -1, before) n in reading order, around
// the end.
func (n *Node) Next(step int) *Node {
	all := n.Root().Leaves(nil)
	for i, l := range all {
		if l == n {
			return all[(i+step+len(all))%len(all)]
		}
	}
	return n
}

// Push moves a border of leaf n by delta cells in a direction: the border on
// that side, or, at the edge of the screen, the opposite one. It reports
// whether there is one to move.
func (n *Node) Push(d Direction, delta int) bool {
	x := Beside
	if d == Up || d == Down {
		x = Below
	}
	if d == Left || d == Up {
		delta = -delta
	}
	s := n.borderTowards(x, d == Right || d == Down)
	if s == nil {
		s = n.borderTowards(x, d == Left || d == Up)
	}
	if s == nil {
		return false
	}
	s.MoveBorder(s.Border() + delta)
	return true
}

// borderTowards is the closest split along x that has n in its first half
// (forward) or in its second.
func (n *Node) borderTowards(x Axis, forward bool) *Node {
	for c := n; c.parent != nil; c = c.parent {
		s := c.parent
		if s.Axis == x && (s.A == c) == forward {
			return s
		}
	}
	return nil
}

// Border is where split n's border is: a column, or the lower half's first row.
func (n *Node) Border() int {
	if n.Axis == Beside {
		return n.A.Rect.X + n.A.Rect.W
	}
	return n.B.Rect.Y
}

// MoveBorder puts split n's border at a column or row, as far as the least
// sizes of both halves let it, and places the tree below n again.
func (n *Node) MoveBorder(at int) {
	size, total := at-n.Rect.X, n.Rect.W-1
	if n.Axis == Below {
		size, total = at-n.Rect.Y, n.Rect.H
	}
	first, second := n.A.Least(n.Axis), n.B.Least(n.Axis)
	if total < first+second {
		return
	}
	size = min(max(size, first), total-second)
	n.Share = (size*ShareUnit + total/2) / total
	n.Place(n.Rect)
}

// BorderAt is the split whose border is at a cell; nil if there is none.
func (n *Node) BorderAt(x, y int) *Node {
	if n == nil || n.Pane != nil || !n.Rect.Contains(x, y) {
		return nil
	}
	if n.Axis == Beside && x == n.Border() || n.Axis == Below && y == n.Border() {
		return n
	}
	if s := n.A.BorderAt(x, y); s != nil {
		return s
	}
	return n.B.BorderAt(x, y)
}

// LeafAt is the leaf at a cell; nil on a border and outside.
func (n *Node) LeafAt(x, y int) *Node {
	if n == nil || !n.Rect.Contains(x, y) {
		return nil
	}
	if n.Pane != nil {
		return n
	}
	if l := n.A.LeafAt(x, y); l != nil {
		return l
	}
	return n.B.LeafAt(x, y)
}
