package ui

import (
	"tandem/panes/terminal"
	"tandem/panes/widget"
)

// An axis is how a split lays out its two halves.
type axis uint8

const (
	beside axis = iota // left and right, with a column between them
	below              // top and bottom; the lower half's title row is the border
)

// A direction is where focus or a border moves.
type direction uint8

const (
	left direction = iota
	right
	up
	down
)

// Least sizes of a pane, its title row included.
const (
	minPaneWidth  = 10
	minPaneHeight = 3
)

// shareUnit is the whole of a split; node.share counts in it.
const shareUnit = 10_000

// A node of the split tree is a leaf with a pane, or a split of two nodes.
type node struct {
	parent *node
	pane   *terminal.Terminal // nil for a split
	axis   axis
	share  int // of shareUnit, what a gets
	a, b   *node
	rect   widget.Rect // set by place

	title string   // drawn title row of a leaf, "" for none
	rows  []string // drawn rows of its terminal
}

func leafOf(p *terminal.Terminal) *node { return &node{pane: p} }

// place gives the node and all below it their rectangles.
func (n *node) place(r widget.Rect) {
	n.rect = r
	if n.pane != nil {
		return
	}
	first, second := r, r
	if n.axis == beside {
		first.W = portion(r.W-1, n.share, n.a.least(beside), n.b.least(beside))
		second.X = r.X + first.W + 1
		second.W = r.W - first.W - 1
	} else {
		first.H = portion(r.H, n.share, n.a.least(below), n.b.least(below))
		second.Y = r.Y + first.H
		second.H = r.H - first.H
	}
	n.a.place(first)
	n.b.place(second)
}

// least is how many cells a node needs along an axis for each of its panes to
// have the least size.
func (n *node) least(x axis) int {
	switch {
	case n.pane != nil && x == beside:
		return minPaneWidth
	case n.pane != nil:
		return minPaneHeight
	case n.axis != x:
		return max(n.a.least(x), n.b.least(x))
	case x == beside:
		return n.a.least(x) + 1 + n.b.least(x)
	}
	return n.a.least(x) + n.b.least(x)
}

// portion is the share of total cells, with at least the given ones on each side.
// Where there are not that many, what there is is divided as they are.
func portion(total, share, first, second int) int {
	total = max(total, 0)
	if total < first+second {
		return total * first / (first + second)
	}
	return min(max((total*share+shareUnit/2)/shareUnit, first), total-second)
}

// leaves appends the leaves in reading order.
func (n *node) leaves(out []*node) []*node {
	if n == nil {
		return out
	}
	if n.pane != nil {
		return append(out, n)
	}
	return n.b.leaves(n.a.leaves(out))
}

// root is the top of the tree that n is in.
func (n *node) root() *node {
	for n.parent != nil {
		n = n.parent
	}
	return n
}

// canSplit reports whether both halves would keep the least size.
func (n *node) canSplit(x axis) bool {
	if x == beside {
		return n.rect.W >= 2*minPaneWidth+1
	}
	return n.rect.H >= 2*minPaneHeight
}

// split makes leaf n a split of itself and a new leaf with pane p, which it
// returns with the tree's root.
func (n *node) split(x axis, p *terminal.Terminal) (root, created *node) {
	s := &node{parent: n.parent, axis: x, share: shareUnit / 2, rect: n.rect}
	n.replaceBy(s)
	created = &node{parent: s, pane: p}
	n.parent = s
	s.a, s.b = n, created
	return s.root(), created
}

// replaceBy puts m at n's place in n's parent.
func (n *node) replaceBy(m *node) {
	m.parent = n.parent
	switch {
	case n.parent == nil:
	case n.parent.a == n:
		n.parent.a = m
	default:
		n.parent.b = m
	}
}

// remove takes leaf n out of its tree; its sibling grows into the place. It
// returns the root that is left and the leaf to focus, both nil after the
// last.
func (n *node) remove() (root, focus *node) {
	s := n.parent
	if s == nil {
		return nil, nil
	}
	sibling := s.a
	if sibling == n {
		sibling = s.b
	}
	s.replaceBy(sibling)
	n.parent = nil
	return sibling.root(), sibling.nearest(n.rect)
}

// nearest is the leaf of n whose rectangle is closest to r.
func (n *node) nearest(r widget.Rect) *node {
	var best *node
	least := 1 << 30
	for _, l := range n.leaves(nil) {
		if d := distance(l.rect, r); d < least {
			best, least = l, d
		}
	}
	return best
}

// neighbour is the leaf next to n in a direction: of those that touch it there,
// the one across from its middle. nil at the edge.
func (n *node) neighbour(d direction) *node {
	var best *node
	least := 1 << 30
	for _, l := range n.root().leaves(nil) {
		if l == n || !touches(l.rect, n.rect, d) {
			continue
		}
		if off := offAxis(l.rect, n.rect, d); off < least {
			best, least = l, off
		}
	}
	return best
}

// next is the leaf after (or, with step -1, before) n in reading order, around
// the end.
func (n *node) next(step int) *node {
	all := n.root().leaves(nil)
	for i, l := range all {
		if l == n {
			return all[(i+step+len(all))%len(all)]
		}
	}
	return n
}

// push moves a border of leaf n by delta cells in a direction: the border on
// that side, or, at the edge of the screen, the opposite one. It reports
// whether there is one to move.
func (n *node) push(d direction, delta int) bool {
	x := beside
	if d == up || d == down {
		x = below
	}
	if d == left || d == up {
		delta = -delta
	}
	s := n.borderTowards(x, d == right || d == down)
	if s == nil {
		s = n.borderTowards(x, d == left || d == up)
	}
	if s == nil {
		return false
	}
	s.moveBorder(s.border() + delta)
	return true
}

// borderTowards is the closest split along x that has n in its first half
// (forward) or in its second.
func (n *node) borderTowards(x axis, forward bool) *node {
	for c := n; c.parent != nil; c = c.parent {
		s := c.parent
		if s.axis == x && (s.a == c) == forward {
			return s
		}
	}
	return nil
}

// border is where split n's border is: a column, or the lower half's first row.
func (n *node) border() int {
	if n.axis == beside {
		return n.a.rect.X + n.a.rect.W
	}
	return n.b.rect.Y
}

// moveBorder puts split n's border at a column or row, as far as the least
// sizes of both halves let it, and places the tree below n again.
func (n *node) moveBorder(at int) {
	size, total := at-n.rect.X, n.rect.W-1
	if n.axis == below {
		size, total = at-n.rect.Y, n.rect.H
	}
	first, second := n.a.least(n.axis), n.b.least(n.axis)
	if total < first+second {
		return
	}
	size = min(max(size, first), total-second)
	n.share = (size*shareUnit + total/2) / total
	n.place(n.rect)
}

// borderAt is the split whose border is at a cell; nil if there is none.
func (n *node) borderAt(x, y int) *node {
	if n == nil || n.pane != nil || !n.rect.Contains(x, y) {
		return nil
	}
	if n.axis == beside && x == n.border() || n.axis == below && y == n.border() {
		return n
	}
	if s := n.a.borderAt(x, y); s != nil {
		return s
	}
	return n.b.borderAt(x, y)
}

// leafAt is the leaf at a cell; nil on a border and outside.
func (n *node) leafAt(x, y int) *node {
	if n == nil || !n.rect.Contains(x, y) {
		return nil
	}
	if n.pane != nil {
		return n
	}
	if l := n.a.leafAt(x, y); l != nil {
		return l
	}
	return n.b.leafAt(x, y)
}
