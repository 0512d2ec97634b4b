package cells

import "fmt"

// Presets are the names of the arrangements, in tmux's order.
func Presets() []string {
	return []string{"even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled"}
}

// A Main is how large the first pane of a main-… arrangement is; 0 is tmux's default.
type Main struct{ W, H int }

// Arrange lays panes out anew; nil for a name that is none.
func Arrange(name string, panes []int, w, h int, m Main) *Cell {
	root := &Cell{W: w, H: h}
	switch {
	case len(panes) == 1:
		return New(panes[0], w, h)
	case name == "even-horizontal":
		root.spread(Beside, leaves(panes))
	case name == "even-vertical":
		root.spread(Below, leaves(panes))
	case name == "main-horizontal":
		root.mainAnd(Below, panes, m.H)
	case name == "main-vertical":
		root.mainAnd(Beside, panes, m.W)
	case name == "tiled":
		root.tile(panes)
	default:
		return nil
	}
	root.place()
	return root
}

func leaves(panes []int) []*Cell {
	var cells []*Cell
	for _, p := range panes {
		cells = append(cells, &Cell{Pane: p})
	}
	return cells
}

// spread makes c a group of cells of the same size; the last has what is left.
func (c *Cell) spread(axis Kind, cells []*Cell) {
	c.Kind, c.Children = axis, cells
	least := len(cells)*(smallest+1) - 1
	if c.size(axis) < least {
		c.setSize(axis, least)
	}
	for _, child := range cells {
		child.W, child.H = c.W, c.H
	}
	c.even()
}

// mainAnd gives the first pane its size and lets the others share the rest.
func (c *Cell) mainAnd(axis Kind, panes []int, size int) {
	total := c.size(axis)
	if size+smallest >= total {
		size = max(total-1-smallest, smallest)
	}
	first := &Cell{Pane: panes[0], W: c.W, H: c.H}
	first.setSize(axis, size)
	rest := &Cell{W: c.W, H: c.H}
	rest.setSize(axis, total-1-size)
	if len(panes) == 2 {
		rest.Pane = panes[1]
	} else {
		rest.spread(other(axis), leaves(panes[1:]))
	}
	c.Kind, c.Children = axis, []*Cell{first, rest}
}

// Spread gives the cells beside a pane the same size, or, if they have it, those around them.
func (c *Cell) Spread(pane int) {
	for group := c.Parent(c.Find(pane)); group != nil; group = c.Parent(group) {
		if group.even() {
			c.place()
			return
		}
	}
}

// even gives the children of a group the same size, and reports whether they had another one.
func (c *Cell) even() (changed bool) {
	n, size := len(c.Children), c.size(c.Kind)
	each := (size - (n - 1)) / n
	if each < smallest {
		return false
	}
	for i, child := range c.Children {
		if i == n-1 {
			each = size - (each+1)*(n-1)
		}
		changed = changed || child.size(c.Kind) != each
		child.fit(c.Kind, each)
	}
	return changed
}

func other(axis Kind) Kind {
	if axis == Beside {
		return Below
	}
	return Beside
}

// tile makes rows with as many columns.
func (c *Cell) tile(panes []int) {
	rows, columns := 1, 1
	for rows*columns < len(panes) {
		if rows++; rows*columns < len(panes) {
			columns++
		}
	}
	width, height := max((c.W-(columns-1))/columns, smallest), max((c.H-(rows-1))/rows, smallest)
	var lines []*Cell
	for len(panes) > 0 {
		line := panes[:min(columns, len(panes))]
		panes = panes[len(line):]
		lines = append(lines, tileRow(line, columns, c.W, width, height))
	}
	if n := len(lines); n > 0 {
		lines[n-1].fit(Below, c.H-(height+1)*(n-1))
	}
	if len(lines) == 1 {
		c.Kind, c.Children = lines[0].Kind, lines[0].Children
		return
	}
	c.Kind, c.Children = Below, lines
}

// tileRow is one row; its last pane has what is left.
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

// String is the layout as tmux writes it, with its checksum.
func (c *Cell) String() string {
	text := c.text()
	return fmt.Sprintf("%04x,%s", checksum(text), text)
}

func (c *Cell) text() string {
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
		s += child.text()
	}
	return s + end
}

// checksum is that of tmux's layouts: a rotation and an addition a byte.
func checksum(text string) uint16 {
	var sum uint16
	for i := range len(text) {
		sum = (sum >> 1) + ((sum & 1) << 15) + uint16(text[i])
	}
	return sum
}
