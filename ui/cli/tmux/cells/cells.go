// Package cells divides a window into panes as tmux does. A layout is a tree: its leaves are panes, its
// groups hold cells side by side or one above the other, with a one-cell border between neighbours. The
// package handles pane ids only; programs and terminals belong to its importers.
//
// Scripts read sizes and layouts, so plain proportional division is not enough: cells are rounded as
// tmux rounds them, and a new size is handed out one cell at a time.
package cells

import "slices"

// minSize is the minimum width and height of a pane.
const minSize = 1

// noPane is the id of a leaf without a pane, as between the steps of a move.
const noPane = -1

// A Kind is the kind of a cell, and for groups also the axis along which they are divided.
type Kind string

const (
	Leaf   Kind = ""       // a pane
	Beside Kind = "beside" // children from left to right
	Below  Kind = "below"  // children from top to bottom
)

// A Cell is a pane or a group of cells, with its position and size in the window.
type Cell struct {
	Kind     Kind    `json:"kind,omitempty"`
	Pane     int     `json:"pane,omitempty"`
	X        int     `json:"x"`
	Y        int     `json:"y"`
	W        int     `json:"w"`
	H        int     `json:"h"`
	Children []*Cell `json:"children,omitempty"`
}

// New returns the layout of a window with one pane.
func New(pane, w, h int) *Cell { return &Cell{Pane: pane, W: w, H: h} }

// Leaves returns the panes from left to right and top to bottom.
func (c *Cell) Leaves() []*Cell {
	if c.Kind == Leaf {
		return []*Cell{c}
	}
	var panes []*Cell
	for _, child := range c.Children {
		panes = append(panes, child.Leaves()...)
	}
	return panes
}

// FindPane returns the leaf of a pane, or nil.
func (c *Cell) FindPane(pane int) *Cell {
	for _, leaf := range c.Leaves() {
		if leaf.Pane == pane {
			return leaf
		}
	}
	return nil
}

// ParentOf returns the group with cell as a child; nil if cell is the root c.
func (c *Cell) ParentOf(cell *Cell) *Cell {
	for _, child := range c.Children {
		if child == cell {
			return c
		}
		if p := child.ParentOf(cell); p != nil {
			return p
		}
	}
	return nil
}

// Span returns the first cell of c along an axis and the one after its last.
func (c *Cell) Span(axis Kind) (begin, end int) {
	if axis == Beside {
		return c.X, c.X + c.W
	}
	return c.Y, c.Y + c.H
}

func (c *Cell) sizeAlong(axis Kind) int {
	if axis == Beside {
		return c.W
	}
	return c.H
}

func (c *Cell) setSize(axis Kind, n int) {
	if axis == Beside {
		c.W = n
	} else {
		c.H = n
	}
}

// minAlong returns the minimum size of c along an axis.
func (c *Cell) minAlong(axis Kind) int {
	if c.Kind == Leaf {
		return minSize
	}
	n := 0
	for i, child := range c.Children {
		switch {
		case c.Kind != axis:
			n = max(n, child.minAlong(axis))
		case i > 0:
			n += 1 + child.minAlong(axis)
		default:
			n += child.minAlong(axis)
		}
	}
	return n
}

// positionChildren sets the positions of all descendants of c. Across the axis of a group, children
// get the group's size.
func (c *Cell) positionChildren() {
	x, y := c.X, c.Y
	for _, child := range c.Children {
		child.X, child.Y = x, y
		if c.Kind == Beside {
			child.resizeAlong(Below, c.H)
			x += child.W + 1
		} else {
			child.resizeAlong(Beside, c.W)
			y += child.H + 1
		}
		child.positionChildren()
	}
}

// resizeAlong sets the size of c along an axis to n and shares the difference among its children.
// Positions are left to positionChildren.
func (c *Cell) resizeAlong(axis Kind, n int) {
	if n == c.sizeAlong(axis) {
		return
	}
	if c.Kind == axis {
		c.growChildren(axis, n-c.sizeAlong(axis))
	} else {
		for _, child := range c.Children {
			child.resizeAlong(axis, n)
		}
	}
	c.setSize(axis, n)
}

// growChildren enlarges the children along an axis by a number of cells in total, or shrinks them
// if it is negative. As in tmux, each child in turn gets or loses one cell. It stops early if all
// children are at their minimum.
func (c *Cell) growChildren(axis Kind, by int) {
	for by != 0 {
		changed := false
		for _, child := range c.Children {
			switch {
			case by > 0:
				child.resizeAlong(axis, child.sizeAlong(axis)+1)
				by--
				changed = true
			case by < 0 && child.sizeAlong(axis) > child.minAlong(axis):
				child.resizeAlong(axis, child.sizeAlong(axis)-1)
				by++
				changed = true
			}
		}
		if !changed {
			return
		}
	}
}

// Resize changes the size of the window, to no less than its panes need.
func (c *Cell) Resize(w, h int) {
	c.resizeAlong(Beside, max(w, c.minAlong(Beside)))
	c.resizeAlong(Below, max(h, c.minAlong(Below)))
	c.positionChildren()
}

// A Split describes where a new pane goes relative to another.
type Split struct {
	Axis   Kind
	Before bool // left of or above the other pane
	Full   bool // beside the whole window instead of one pane
	Size   int  // of the new pane; 0 for half
}

// Split adds pane beside the leaf at, as described by s, and returns the new root. It returns the
// unchanged root and false without room.
func (c *Cell) Split(at *Cell, pane int, s Split) (root *Cell, ok bool) {
	if s.Full {
		at = c
	}
	have := at.sizeAlong(s.Axis)
	size := s.Size
	if size <= 0 {
		size = (have+1)/2 - 1
		if s.Before {
			size = have - 1 - size
		}
	}
	if size = min(max(size, minSize), have-1-at.minAlong(s.Axis)); size < minSize {
		return c, false
	}
	added := &Cell{Pane: pane, W: at.W, H: at.H}
	added.setSize(s.Axis, size)
	parent := c.ParentOf(at)
	switch {
	case s.Full && at.Kind == s.Axis:
		at.resizeAlong(s.Axis, have-1-size)
		at.setSize(s.Axis, have) // with the new child it is full again
		at.insertChild(nil, added, s.Before)
	case parent != nil && parent.Kind == s.Axis:
		at.resizeAlong(s.Axis, have-1-size)
		parent.insertChild(at, added, s.Before)
	default:
		c = c.wrapInGroup(parent, at, added, s)
	}
	c.positionChildren()
	return c, true
}

// insertChild inserts the cell added before or after the child sibling. If sibling is nil, it
// inserts the cell at the start or end of c.
func (c *Cell) insertChild(sibling, added *Cell, before bool) {
	at := len(c.Children)
	if i := slices.Index(c.Children, sibling); i >= 0 {
		at = i + 1
		if before {
			at = i
		}
	} else if before {
		at = 0
	}
	c.Children = slices.Insert(c.Children, at, added)
}

// wrapInGroup puts the cells at and added into a new group in the place of at, and returns the new
// root.
func (c *Cell) wrapInGroup(parent, at, added *Cell, s Split) *Cell {
	group := &Cell{Kind: s.Axis, X: at.X, Y: at.Y, W: at.W, H: at.H}
	at.resizeAlong(s.Axis, at.sizeAlong(s.Axis)-1-added.sizeAlong(s.Axis))
	group.Children = []*Cell{at}
	group.insertChild(at, added, s.Before)
	if parent == nil {
		return group
	}
	parent.Children[slices.Index(parent.Children, at)] = group
	return c
}

// ClosePane removes a pane, gives its space to the cell before it or else the next one, and returns
// the new root; nil after the last pane.
func (c *Cell) ClosePane(pane int) *Cell {
	leaf := c.FindPane(pane)
	if leaf == nil {
		return c
	}
	parent := c.ParentOf(leaf)
	if parent == nil {
		return nil
	}
	i := slices.Index(parent.Children, leaf)
	parent.Children = slices.Delete(parent.Children, i, i+1)
	heir := parent.Children[max(i-1, 0)]
	heir.resizeAlong(parent.Kind, heir.sizeAlong(parent.Kind)+leaf.sizeAlong(parent.Kind)+1)
	c = c.collapseGroup(parent)
	c.positionChildren()
	return c
}

// MovePane moves a pane beside another one and returns the new root. It returns false without room.
// As in tmux, the old cell still counts while the new one is made.
func (c *Cell) MovePane(pane, beside int, s Split) (root *Cell, ok bool) {
	// Closing the old cell first would free space, and splits refused by tmux would succeed.
	if root, ok = c.Split(c.FindPane(beside), noPane, s); ok {
		root = root.ClosePane(pane)
		root.FindPane(noPane).Pane = pane
	}
	return root, ok
}

// collapseGroup replaces a group with a single child by the child, and returns the new root.
func (c *Cell) collapseGroup(group *Cell) *Cell {
	if len(group.Children) != 1 {
		return c
	}
	only := group.Children[0]
	above := c.ParentOf(group)
	if above == nil {
		only.X, only.Y = 0, 0
		return only
	}
	// A child group of above's kind is not merged into it: tmux keeps the two apart.
	above.Children[slices.Index(above.Children, group)] = only
	return c
}

// ResizePane sets the size of a pane along an axis to n, as far as its neighbours allow.
func (c *Cell) ResizePane(leaf *Cell, axis Kind, n int) {
	cell, group := c.enclosingGroup(leaf, axis)
	if group == nil {
		return
	}
	by := n - cell.sizeAlong(axis)
	i := slices.Index(group.Children, cell)
	// The last cell has no border after it: move the one before it the other way.
	if i == len(group.Children)-1 {
		i, by = i-1, -by
	}
	c.moveBorder(group, i, by)
}

// enclosingGroup returns the innermost group of leaf divided along axis and its child containing
// leaf. The group is nil if there is none.
func (c *Cell) enclosingGroup(leaf *Cell, axis Kind) (cell, group *Cell) {
	cell = leaf
	for group = c.ParentOf(cell); group != nil && group.Kind != axis; group = c.ParentOf(cell) {
		cell = group
	}
	return cell, group
}

// MoveEdge moves the border right of or below a pane by some cells; for the last pane of a group, the
// border on its other side.
func (c *Cell) MoveEdge(leaf *Cell, axis Kind, by int) {
	cell, group := c.enclosingGroup(leaf, axis)
	if group == nil {
		return
	}
	c.moveBorder(group, min(slices.Index(group.Children, cell), len(group.Children)-2), by)
}

// moveBorder moves the border after the i-th child of a group by delta cells. The cell before the
// border grows at the cost of those after it, nearest first, then of those before it. If delta is
// negative, the cell after the border grows at the cost of those before it.
func (c *Cell) moveBorder(group *Cell, i, delta int) {
	axis, all := group.Kind, group.Children
	before := slices.Clone(all[:i+1])
	slices.Reverse(before)
	gaining, donors, left := all[i+1], before, -delta
	if delta > 0 {
		gaining, donors, left = all[i], append(slices.Clone(all[i+1:]), before[1:]...), delta
	}
	for _, donor := range donors {
		n := min(left, donor.sizeAlong(axis)-donor.minAlong(axis))
		gaining.resizeAlong(axis, gaining.sizeAlong(axis)+n)
		donor.resizeAlong(axis, donor.sizeAlong(axis)-n)
		left -= n
	}
	c.positionChildren()
}
