// Package cells divides a window into panes as tmux does: a tree whose leaves are panes and whose
// inner cells lie side by side or one above the other, with a line between two of them. It knows
// numbers of panes and nothing of what runs in them.
package cells

import "slices"

// smallest is the least that a pane has in each direction.
const smallest = 1

// A Kind says what a cell is.
type Kind string

const (
	Leaf   Kind = ""       // a pane
	Beside Kind = "beside" // children from left to right
	Below  Kind = "below"  // children from top to bottom
)

// A Cell is a pane or a group of cells, with its place in the window.
type Cell struct {
	Kind     Kind    `json:"kind,omitempty"`
	Pane     int     `json:"pane,omitempty"`
	X        int     `json:"x"`
	Y        int     `json:"y"`
	W        int     `json:"w"`
	H        int     `json:"h"`
	Children []*Cell `json:"children,omitempty"`
}

// New is a window of one pane.
func New(pane, w, h int) *Cell { return &Cell{Pane: pane, W: w, H: h} }

// Panes are the leaves in their order.
func (c *Cell) Panes() []*Cell {
	if c.Kind == Leaf {
		return []*Cell{c}
	}
	var panes []*Cell
	for _, child := range c.Children {
		panes = append(panes, child.Panes()...)
	}
	return panes
}

// Find is the cell of a pane; nil if it is not there.
func (c *Cell) Find(pane int) *Cell {
	for _, leaf := range c.Panes() {
		if leaf.Pane == pane {
			return leaf
		}
	}
	return nil
}

// Parent is the group that a cell is in; nil for the root.
func (c *Cell) Parent(of *Cell) *Cell {
	for _, child := range c.Children {
		if child == of {
			return c
		}
		if p := child.Parent(of); p != nil {
			return p
		}
	}
	return nil
}

// size is what c has along an axis.
func (c *Cell) size(axis Kind) int {
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

// least is the smallest that c can be along an axis.
func (c *Cell) least(axis Kind) int {
	if c.Kind == Leaf {
		return smallest
	}
	n := 0
	for i, child := range c.Children {
		switch {
		case c.Kind != axis:
			n = max(n, child.least(axis))
		case i > 0:
			n += 1 + child.least(axis)
		default:
			n += child.least(axis)
		}
	}
	return n
}

// place gives the cells below c their positions and, across the axis of a group, its size.
func (c *Cell) place() {
	x, y := c.X, c.Y
	for _, child := range c.Children {
		child.X, child.Y = x, y
		if c.Kind == Beside {
			child.fit(Below, c.H)
			x += child.W + 1
		} else {
			child.fit(Beside, c.W)
			y += child.H + 1
		}
		child.place()
	}
}

// fit makes c as large as n along an axis; what is gained or lost is shared among its children.
func (c *Cell) fit(axis Kind, n int) {
	if n == c.size(axis) {
		return
	}
	if c.Kind == axis {
		c.grow(axis, n-c.size(axis))
	} else {
		for _, child := range c.Children {
			child.fit(axis, n)
		}
	}
	c.setSize(axis, n)
}

// scale makes c as large as n along an axis; its children keep their shares of it, as when tmux
// splits a whole window.
func (c *Cell) scale(axis Kind, n int) {
	before := c.size(axis)
	c.setSize(axis, n)
	if c.Kind != axis {
		for _, child := range c.Children {
			child.scale(axis, n)
		}
		return
	}
	left := n
	for i, child := range c.Children {
		size := left
		if after := len(c.Children) - 1 - i; after > 0 {
			size = max(min(child.size(axis)*n/max(before, 1), left-(smallest+1)*after), smallest)
		}
		child.scale(axis, size)
		left -= size + 1
	}
}

// grow adds to the children along an axis, or takes away: a line at a time from each in turn,
// as tmux does.
func (c *Cell) grow(axis Kind, by int) {
	for by != 0 {
		changed := false
		for _, child := range c.Children {
			switch {
			case by > 0:
				child.fit(axis, child.size(axis)+1)
				by--
				changed = true
			case by < 0 && child.size(axis) > child.least(axis):
				child.fit(axis, child.size(axis)-1)
				by++
				changed = true
			}
		}
		if !changed {
			return
		}
	}
}

// Resize makes the window another size.
func (c *Cell) Resize(w, h int) {
	c.fit(Beside, max(w, c.least(Beside)))
	c.fit(Below, max(h, c.least(Below)))
	c.place()
}

// A Split says how a new pane is put beside another.
type Split struct {
	Axis   Kind
	Before bool
	Full   bool // over the whole window
	Size   int  // of the new pane; 0: half
}

// Split makes room for a pane and puts it there. It reports false where there is no room.
func (c *Cell) Split(at *Cell, pane int, s Split) (root *Cell, ok bool) {
	if s.Full {
		at = c
	}
	have := at.size(s.Axis)
	if have < at.least(s.Axis)+smallest+1 {
		return c, false
	}
	size := s.Size
	if size <= 0 {
		size = (have+1)/2 - 1
		if s.Before {
			size = have - 1 - size
		}
	}
	size = min(max(size, smallest), have-1-at.least(s.Axis))
	added := &Cell{Pane: pane, W: at.W, H: at.H}
	added.setSize(s.Axis, size)
	parent := c.Parent(at)
	switch {
	case s.Full && at.Kind == s.Axis:
		at.scale(s.Axis, have-1-size)
		at.setSize(s.Axis, have)
		at.insert(nil, added, s.Before)
	case parent != nil && parent.Kind == s.Axis:
		at.fit(s.Axis, have-1-size)
		parent.insert(at, added, s.Before)
	default:
		c = c.wrap(parent, at, added, s)
	}
	c.place()
	return c, true
}

// insert puts a cell before or after another one; without one, at an end.
func (c *Cell) insert(beside, added *Cell, before bool) {
	at := len(c.Children)
	if i := slices.Index(c.Children, beside); i >= 0 {
		at = i + 1
		if before {
			at = i
		}
	} else if before {
		at = 0
	}
	c.Children = slices.Insert(c.Children, at, added)
}

// wrap puts a group in the place of a cell, with it and the new one in it.
func (c *Cell) wrap(parent, at, added *Cell, s Split) *Cell {
	group := &Cell{Kind: s.Axis, X: at.X, Y: at.Y, W: at.W, H: at.H}
	left := at.size(s.Axis) - 1 - added.size(s.Axis)
	if s.Full {
		at.scale(s.Axis, left)
	} else {
		at.fit(s.Axis, left)
	}
	group.Children = []*Cell{at}
	group.insert(at, added, s.Before)
	if parent == nil {
		return group
	}
	parent.Children[slices.Index(parent.Children, at)] = group
	return c
}

// Close takes a pane out; what it had goes to the cell before it, or the next one. The last pane
// leaves nil.
func (c *Cell) Close(pane int) *Cell {
	leaf := c.Find(pane)
	if leaf == nil {
		return c
	}
	parent := c.Parent(leaf)
	if parent == nil {
		return nil
	}
	i := slices.Index(parent.Children, leaf)
	parent.Children = slices.Delete(parent.Children, i, i+1)
	heir := parent.Children[max(i-1, 0)]
	heir.fit(parent.Kind, heir.size(parent.Kind)+leaf.size(parent.Kind)+1)
	c = c.simplify(parent)
	c.place()
	return c
}

// simplify puts the only child of a group in its place.
func (c *Cell) simplify(group *Cell) *Cell {
	if len(group.Children) != 1 {
		return c
	}
	only := group.Children[0]
	above := c.Parent(group)
	if above == nil {
		only.X, only.Y = 0, 0
		return only
	}
	at := slices.Index(above.Children, group)
	if only.Kind == above.Kind { // a group in a group of its kind is one
		above.Children = slices.Replace(above.Children, at, at+1, only.Children...)
		return c
	}
	above.Children[at] = only
	return c
}

// ResizePane makes a pane n large along an axis, as far as its neighbours allow.
func (c *Cell) ResizePane(leaf *Cell, axis Kind, n int) {
	cell, parent := c.along(leaf, axis)
	if parent == nil {
		return
	}
	c.move(cell, parent, n-cell.size(axis))
}

// along is the cell with a pane in it that lies in a group of an axis, and the group.
func (c *Cell) along(leaf *Cell, axis Kind) (cell, parent *Cell) {
	cell = leaf
	for parent = c.Parent(cell); parent != nil && parent.Kind != axis; parent = c.Parent(cell) {
		cell = parent
	}
	return cell, parent
}

// MoveEdge moves the line right of or below a pane, or that on its other side if it is the last.
func (c *Cell) MoveEdge(leaf *Cell, axis Kind, by int) {
	cell, parent := c.along(leaf, axis)
	if parent == nil {
		return
	}
	if i := slices.Index(parent.Children, cell); i == len(parent.Children)-1 {
		cell = parent.Children[i-1]
	}
	c.move(cell, parent, by)
}

// move makes a cell larger or smaller at the cost of those after it, and then before it.
func (c *Cell) move(cell, parent *Cell, by int) {
	axis := parent.Kind
	i := slices.Index(parent.Children, cell)
	after, before := slices.Clone(parent.Children[i+1:]), slices.Clone(parent.Children[:i])
	slices.Reverse(before)
	switch {
	case by > 0:
		for _, giver := range append(after, before...) {
			n := min(by, giver.size(axis)-giver.least(axis))
			giver.fit(axis, giver.size(axis)-n)
			cell.fit(axis, cell.size(axis)+n)
			by -= n
		}
	case by < 0:
		n := min(-by, cell.size(axis)-cell.least(axis))
		heirs := append(after, before...)
		if len(heirs) > 0 {
			cell.fit(axis, cell.size(axis)-n)
			heirs[0].fit(axis, heirs[0].size(axis)+n)
		}
	}
	c.place()
}
