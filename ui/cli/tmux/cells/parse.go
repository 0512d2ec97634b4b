package cells

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

var errLayout = errors.New("invalid layout")

// maxSize bounds what a layout may say of a cell.
const maxSize = 10_000

// Parse reads a layout as String writes it; its leaves get the panes in their order.
func Parse(text string, panes []int) (*Cell, error) {
	sum, rest, ok := strings.Cut(text, ",")
	n, err := strconv.ParseUint(sum, 16, 16)
	if !ok || err != nil || checksum(rest) != uint16(n) {
		return nil, errLayout
	}
	p := parser{strings.NewReader(rest)}
	root, err := p.cell()
	if err != nil || p.Len() > 0 {
		return nil, errLayout
	}
	found := root.Panes()
	if len(found) < len(panes) {
		return nil, fmt.Errorf("have %d panes but need %d", len(panes), len(found))
	}
	for i, leaf := range found {
		if i < len(panes) {
			leaf.Pane = panes[i]
		}
	}
	for _, leaf := range found[len(panes):] { // more room than panes: the rest closes
		leaf.Pane = nobody
		root = root.Close(nobody)
	}
	if !root.sound() {
		return nil, errLayout
	}
	root.place()
	return root, nil
}

// sound reports whether the children of each group fill it.
func (c *Cell) sound() bool {
	if c.Kind == Leaf {
		return true
	}
	n := len(c.Children) - 1
	for _, child := range c.Children {
		n += child.size(c.Kind)
		if child.size(other(c.Kind)) != c.size(other(c.Kind)) || !child.sound() {
			return false
		}
	}
	return n == c.size(c.Kind)
}

type parser struct{ *strings.Reader }

// cell reads a pane or a group of cells.
func (p parser) cell() (*Cell, error) {
	var c Cell
	_, err := fmt.Fscanf(p, "%dx%d,%d,%d", &c.W, &c.H, &c.X, &c.Y)
	if err != nil || min(c.W, c.H, c.X, c.Y) < 0 || max(c.W, c.H, c.X, c.Y) > maxSize {
		return nil, errLayout
	}
	switch mark, err := p.ReadByte(); {
	case err != nil: // the end
		return &c, nil
	case mark == '{':
		c.Kind = Beside
		return &c, p.children(&c, '}')
	case mark == '[':
		c.Kind = Below
		return &c, p.children(&c, ']')
	case mark == ',':
		p.pane()
		return &c, nil
	}
	return &c, p.UnreadByte()
}

// pane skips the number of a pane behind a comma, unless it is the width of the next cell.
func (p parser) pane() {
	begin := p.Size() - int64(p.Len()) - 1
	var digit byte
	var err error
	for digit, err = p.ReadByte(); err == nil && digit >= '0' && digit <= '9'; {
		digit, err = p.ReadByte()
	}
	switch {
	case err != nil:
	case digit == 'x':
		_, _ = p.Seek(begin, io.SeekStart)
	default:
		_ = p.UnreadByte()
	}
}

func (p parser) children(c *Cell, end byte) error {
	for {
		child, err := p.cell()
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
