// Package cells divides a window into panes as tmux does: a tree whose leaves are panes and whose
// inner cells lie side by side or one above the other, with a line between two of them. It knows
// numbers of panes and nothing of what runs in them.
package cells

import "slices"

// smallest is the least that a pane has in each direction.
const smallest = 1

// nobody is the number of a leaf that is no pane yet, or shall be none.
const nobody = -1

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

// Span returns where c begins and ends along an axis.
func (c *Cell) Span(axis Kind) (begin, end int) {
	if axis == Beside {
		return c.X, c.X + c.W
	}
	return c.Y, c.Y + c.H
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

// scale gives the cells below c their shares of it anew after its size was set, as when tmux
// splits a whole window.
func (c *Cell) scale() {
	for i, size := range c.shares(c.Kind, c.size(c.Kind)) {
		child := c.Children[i]
		child.W, child.H = c.W, c.H
		child.setSize(c.Kind, size)
		child.scale()
	}
}

// scales reports whether c can be scaled to n, by tmux's rules: it refuses some of what there
// would be room for.
func (c *Cell) scales(axis Kind, n int) bool {
	if c.Kind == axis && n < len(c.Children)*(smallest+1)-1 {
		return false
	}
	left := n
	for i, size := range c.shares(axis, n) {
		if size > left || !c.Children[i].scales(axis, size) {
			return false
		}
		if c.Kind == axis {
			left -= size + 1
		}
	}
	return n >= smallest
}

// shares are the sizes of the children when c is scaled to n along an axis.
func (c *Cell) shares(axis Kind, n int) (sizes []int) {
	before, left := len(c.Children)-1, n
	for _, child := range c.Children {
		before += child.size(axis)
	}
	for i, child := range c.Children {
		size := left
		if after := len(c.Children) - 1 - i; c.Kind == axis && after > 0 {
			size = child.size(axis) * n / before
			if most := left - max((smallest+1)*after, child.least(axis)); most >= 0 {
				size = min(size, most)
			}
			size = max(size, smallest)
			left -= size + 1
		}
		sizes = append(sizes, size)
	}
	return sizes
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
	if have < 2*smallest+1 {
		return c, false
	}
	size := s.Size
	if size <= 0 {
		size = (have+1)/2 - 1
		if s.Before {
			size = have - 1 - size
		}
	}
	if size = min(max(size, smallest), have-1-smallest); s.Before && s.Size >= have {
		size = smallest // in tmux what would be left wraps around, and is all there is
	}
	if s.Full && !at.scales(s.Axis, have-1-size) {
		return c, false
	}
	added := &Cell{Pane: pane, W: at.W, H: at.H}
	added.setSize(s.Axis, size)
	parent := c.Parent(at)
	switch {
	case s.Full && at.Kind == s.Axis:
		at.setSize(s.Axis, have-1-size)
		at.scale()
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
		at.setSize(s.Axis, left)
		at.scale()
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

// Move puts a pane beside another one. As in tmux, it has its old place until the new one is made.
func (c *Cell) Move(pane, beside int, s Split) (root *Cell, ok bool) {
	if root, ok = c.Split(c.Find(beside), nobody, s); ok {
		root = root.Close(pane)
		root.Find(nobody).Pane = pane
	}
	return root, ok
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
	above.Children[slices.Index(above.Children, group)] = only // in a group of its own kind, too: tmux keeps the two apart
	return c
}

// ResizePane makes a pane n large along an axis, as far as its neighbours allow.
func (c *Cell) ResizePane(leaf *Cell, axis Kind, n int) {
	cell, group := c.along(leaf, axis)
	if group == nil {
		return
	}
	by := n - cell.size(axis)
	i := slices.Index(group.Children, cell)
	if i == len(group.Children)-1 {
		i, by = i-1, -by
	}
	c.move(group, i, by)
}

// along is the cell with a pane in it that lies in a group of an axis, and the group.
func (c *Cell) along(leaf *Cell, axis Kind) (cell, group *Cell) {
	cell = leaf
	for group = c.Parent(cell); group != nil && group.Kind != axis; group = c.Parent(cell) {
		cell = group
	}
	return cell, group
}

// MoveEdge moves the line right of or below a pane, or that on its other side if it is the last.
func (c *Cell) MoveEdge(leaf *Cell, axis Kind, by int) {
	cell, group := c.along(leaf, axis)
	if group == nil {
		return
	}
	c.move(group, min(slices.Index(group.Children, cell), len(group.Children)-2), by)
}

// move moves the line after the i-th cell of a group. What the cell before it gains is taken from
// those after the line, the nearest first, and then from those before it; what the one after it
// gains, from those before the line.
func (c *Cell) move(group *Cell, i, by int) {
	axis, all := group.Kind, group.Children
	before := slices.Clone(all[:i+1])
	slices.Reverse(before)
	to, givers, left := all[i+1], before, -by
	if by > 0 {
		to, givers, left = all[i], append(slices.Clone(all[i+1:]), before[1:]...), by
	}
	for _, giver := range givers {
		n := min(left, giver.size(axis)-giver.least(axis))
		to.fit(axis, to.size(axis)+n)
		giver.fit(axis, giver.size(axis)-n)
		left -= n
	}
	c.place()
}
