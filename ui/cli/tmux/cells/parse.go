package cells

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var errLayout = errors.New("invalid layout")

// maxSize is the maximum of each number in a parsed layout.
const maxSize = 10_000

// Parse parses a layout in the form of Cell.String and assigns panes to its leaves in order. Their
// number must match.
func Parse(text string, panes []int) (*Cell, error) {
	sum, rest, ok := strings.Cut(text, ",")
	n, err := strconv.ParseUint(sum, 16, 16)
	if !ok || err != nil || checksum(rest) != uint16(n) {
		return nil, errLayout
	}
	p := parser{strings.NewReader(rest)}
	root, err := p.parseCell()
	if err != nil || p.Len() > 0 || !root.isConsistent() {
		return nil, errLayout
	}
	leaves := root.Leaves()
	if len(leaves) != len(panes) {
		return nil, fmt.Errorf("a layout of another number of panes (%d instead of %d) is not supported by tandem; add or kill panes first", len(leaves), len(panes))
	}
	for i, leaf := range leaves {
		leaf.Pane = panes[i]
	}
	root.positionChildren()
	return root, nil
}

// isConsistent reports whether the children of each group fill it.
func (c *Cell) isConsistent() bool {
	if c.Kind == Leaf {
		return true
	}
	n := len(c.Children) - 1
	for _, child := range c.Children {
		n += child.sizeAlong(c.Kind)
		if child.sizeAlong(crossAxis(c.Kind)) != c.sizeAlong(crossAxis(c.Kind)) || !child.isConsistent() {
			return false
		}
	}
	return n == c.sizeAlong(c.Kind)
}

type parser struct{ *strings.Reader }

// parseCell parses a pane or a group of cells.
func (p parser) parseCell() (*Cell, error) {
	var c Cell
	_, err := fmt.Fscanf(p, "%dx%d,%d,%d", &c.W, &c.H, &c.X, &c.Y)
	if err != nil || min(c.W, c.H, c.X, c.Y) < 0 || max(c.W, c.H, c.X, c.Y) > maxSize {
		return nil, errLayout
	}
	ends := map[byte]byte{'{': '}', '[': ']'}
	mark, err := p.ReadByte()
	switch {
	case err != nil:
		return nil, errLayout
	case mark == ',': // the id of a pane
		_, err := fmt.Fscanf(p, "%d", &c.Pane)
		return &c, err
	case mark == '{':
		c.Kind = Beside
	case mark == '[':
		c.Kind = Below
	default:
		return nil, errLayout
	}
	for next := byte(','); next != ends[mark]; {
		if next != ',' {
			return nil, errLayout
		}
		child, err := p.parseCell()
		if err != nil {
			return nil, err
		}
		c.Children = append(c.Children, child)
		if next, err = p.ReadByte(); err != nil {
			return nil, errLayout
		}
	}
	return &c, nil
}
