package cells

import "fmt"

// PresetNames returns the names of the preset layouts in tmux's order, the order of next-layout.
func PresetNames() []string {
	return []string{"even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled"}
}

// A MainSize is the size of the first pane in the presets main-horizontal (H) and main-vertical (W).
type MainSize struct{ W, H int }

// Arrange returns the preset layout called name for at least one pane in a window of w by h cells;
// nil for an unknown name.
func Arrange(name string, panes []int, w, h int, m MainSize) *Cell {
	root := &Cell{W: w, H: h}
	switch {
	case len(panes) == 1:
		return New(panes[0], w, h)
	case name == "even-horizontal":
		root.spreadEvenly(Beside, newLeaves(panes))
	case name == "even-vertical":
		root.spreadEvenly(Below, newLeaves(panes))
	case name == "main-horizontal":
		root.arrangeMain(Below, panes, m.H)
	case name == "main-vertical":
		root.arrangeMain(Beside, panes, m.W)
	case name == "tiled":
		root.arrangeTiled(panes)
	default:
		return nil
	}
	root.positionChildren()
	return root
}

func newLeaves(panes []int) []*Cell {
	var cells []*Cell
	for _, p := range panes {
		cells = append(cells, &Cell{Pane: p})
	}
	return cells
}

// spreadEvenly makes c a group of cells of equal size. The last one gets the remainder.
func (c *Cell) spreadEvenly(axis Kind, cells []*Cell) {
	c.Kind, c.Children = axis, cells
	minimum := len(cells)*(minSize+1) - 1
	// Too many panes make the window larger rather than fail.
	if c.sizeAlong(axis) < minimum {
		c.setSize(axis, minimum)
	}
	for _, child := range cells {
		child.W, child.H = c.W, c.H
	}
	c.equalize()
}

// arrangeMain gives the first pane size cells along axis and lets the others share the rest.
func (c *Cell) arrangeMain(axis Kind, panes []int, size int) {
	total := c.sizeAlong(axis)
	if size+minSize >= total {
		size = max(total-1-minSize, minSize)
	}
	first := &Cell{Pane: panes[0], W: c.W, H: c.H}
	first.setSize(axis, size)
	rest := &Cell{W: c.W, H: c.H}
	rest.setSize(axis, total-1-size)
	if len(panes) == 2 {
		rest.Pane = panes[1]
	} else {
		rest.spreadEvenly(crossAxis(axis), newLeaves(panes[1:]))
	}
	c.Kind, c.Children = axis, []*Cell{first, rest}
}

// SpreadAround gives the cells of the pane's group equal sizes. If that changes nothing, it tries the
// enclosing groups, innermost first, until one changes.
func (c *Cell) SpreadAround(pane int) {
	for group := c.ParentOf(c.FindPane(pane)); group != nil; group = c.ParentOf(group) {
		if group.equalize() {
			c.positionChildren()
			return
		}
	}
}

// equalize gives the children of a group the same size, the last one the remainder, and reports
// whether any size changed. Without room it changes nothing.
func (c *Cell) equalize() (changed bool) {
	n, size := len(c.Children), c.sizeAlong(c.Kind)
	each := (size - (n - 1)) / n
	for _, child := range c.Children {
		if each < child.minAlong(c.Kind) {
			return false
		}
	}
	for i, child := range c.Children {
		if i == n-1 {
			each = size - (each+1)*(n-1)
		}
		changed = changed || child.sizeAlong(c.Kind) != each
		child.resizeAlong(c.Kind, each)
	}
	return changed
}

func crossAxis(axis Kind) Kind {
	if axis == Beside {
		return Below
	}
	return Beside
}

// arrangeTiled arranges panes in rows, with as many rows as columns or one more.
func (c *Cell) arrangeTiled(panes []int) {
	rows, columns := 1, 1
	for rows*columns < len(panes) {
		if rows++; rows*columns < len(panes) {
			columns++
		}
	}
	width, height := max((c.W-(columns-1))/columns, minSize), max((c.H-(rows-1))/rows, minSize)
	var lines []*Cell
	for len(panes) > 0 {
		line := panes[:min(columns, len(panes))]
		panes = panes[len(line):]
		lines = append(lines, tileRow(line, columns, c.W, width, height))
	}
	if n := len(lines); n > 0 {
		lines[n-1].resizeAlong(Below, c.H-(height+1)*(n-1))
	}
	if len(lines) == 1 {
		c.Kind, c.Children = lines[0].Kind, lines[0].Children
		return
	}
	c.Kind, c.Children = Below, lines
}

// tileRow returns a row of panes, w cells wide. All panes are width cells wide, except that the
// last one gets the remaining width.
func tileRow(panes []int, columns, w, width, height int) *Cell {
	if len(panes) == 1 || columns == 1 {
		return &Cell{Pane: panes[0], W: w, H: height}
	}
	row := &Cell{Kind: Beside, W: w, H: height}
	for i, p := range panes {
		leaf := &Cell{Pane: p, W: width, H: height}
		if i == len(panes)-1 {
			leaf.W = w - (width+1)*(len(panes)-1)
		}
		row.Children = append(row.Children, leaf)
	}
	return row
}

// String returns the layout in tmux's notation, with its checksum.
func (c *Cell) String() string {
	text := c.format()
	return fmt.Sprintf("%04x,%s", checksum(text), text)
}

func (c *Cell) format() string {
	s := fmt.Sprintf("%dx%d,%d,%d", c.W, c.H, c.X, c.Y)
	if c.Kind == Leaf {
		return fmt.Sprintf("%s,%d", s, c.Pane)
	}
	open, end := "{", "}"
	if c.Kind == Below {
		open, end = "[", "]"
	}
	for i, child := range c.Children {
		if i == 0 {
			s += open
		} else {
			s += ","
		}
		s += child.format()
	}
	return s + end
}

// checksum computes the checksum of tmux's layouts: for each byte, rotate right by one bit and add.
func checksum(text string) uint16 {
	var sum uint16
	for i := range len(text) {
		sum = (sum >> 1) + ((sum & 1) << 15) + uint16(text[i])
	}
	return sum
}
