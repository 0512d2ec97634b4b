package cells

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

var errLayout = errors.New("invalid layout")

// maxSize is the maximum of each number in a parsed layout.
const maxSize = 10_000

// Parse parses a layout in the form of Cell.String and assigns panes to its leaves in order. Surplus
// leaves are closed; too few are an error.
func Parse(text string, panes []int) (*Cell, error) {
	sum, rest, ok := strings.Cut(text, ",")
	n, err := strconv.ParseUint(sum, 16, 16)
	if !ok || err != nil || checksum(rest) != uint16(n) {
		return nil, errLayout
	}
	p := parser{strings.NewReader(paneNumber().ReplaceAllString(rest, "$1$2"))}
	root, err := p.parseCell()
	if err != nil || p.Len() > 0 {
		return nil, errLayout
	}
	found := root.Leaves()
	if len(found) < len(panes) {
		return nil, fmt.Errorf("have %d panes but need %d", len(panes), len(found))
	}
	for i, leaf := range found {
		if i < len(panes) {
			leaf.Pane = panes[i]
		}
	}
	for _, leaf := range found[len(panes):] {
		leaf.Pane = noPane
		root = root.ClosePane(noPane)
	}
	if !root.isConsistent() {
		return nil, errLayout
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

// paneNumber matches a pane with its id, which layouts of old scripts lack, and the mark after it.
var paneNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d+x\d+,\d+,\d+),\d+([],}]|$)`) })

type parser struct{ *strings.Reader }

// parseCell parses a pane or a group of cells.
func (p parser) parseCell() (*Cell, error) {
	var c Cell
	_, err := fmt.Fscanf(p, "%dx%d,%d,%d", &c.W, &c.H, &c.X, &c.Y)
	if err != nil || min(c.W, c.H, c.X, c.Y) < 0 || max(c.W, c.H, c.X, c.Y) > maxSize {
		return nil, errLayout
	}
	switch mark, err := p.ReadByte(); {
	case err != nil: // end of the text
		return &c, nil
	case mark == '{':
		c.Kind = Beside
		return &c, p.parseChildren(&c, '}')
	case mark == '[':
		c.Kind = Below
		return &c, p.parseChildren(&c, ']')
	}
	return &c, p.UnreadByte()
}

func (p parser) parseChildren(c *Cell, end byte) error {
	for {
		child, err := p.parseCell()
		if err != nil {
			return err
		}
		c.Children = append(c.Children, child)
		switch mark, err := p.ReadByte(); {
		case err == nil && mark == end:
			return nil
		case err != nil || mark != ',':
			return errLayout
		}
	}
}
