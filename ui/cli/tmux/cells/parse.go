package cells

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var errLayout = errors.New("invalid layout")

// Parse reads a layout as String writes it; its leaves get the panes in their order.
func Parse(text string, panes []int) (*Cell, error) {
	sum, rest, ok := strings.Cut(text, ",")
	n, err := strconv.ParseUint(sum, 16, 16)
	if !ok || err != nil || checksum(rest) != uint16(n) {
		return nil, errLayout
	}
	p := parser{text: rest}
	root, err := p.cell()
	if err != nil || p.text != "" {
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

type parser struct{ text string }

func (p *parser) cell() (*Cell, error) {
	var c Cell
	for i, field := range []*int{&c.W, &c.H, &c.X, &c.Y} {
		n := 0
		for n < len(p.text) && p.text[n] >= '0' && p.text[n] <= '9' {
			n++
		}
		value, err := strconv.Atoi(p.text[:n])
		if err != nil || value > 10_000 {
			return nil, errLayout
		}
		*field = value
		p.text = p.text[n:]
		if i < 3 {
			if !strings.HasPrefix(p.text, []string{"x", ",", ","}[i]) {
				return nil, errLayout
			}
			p.text = p.text[1:]
		}
	}
	return &c, p.inside(&c)
}

// inside reads the number of a pane, or the cells of a group.
func (p *parser) inside(c *Cell) error {
	if p.text == "" {
		return nil
	}
	end := byte('}')
	switch p.text[0] {
	case '{':
		c.Kind = Beside
	case '[':
		c.Kind, end = Below, ']'
	case ',':
		n := 1
		for n < len(p.text) && p.text[n] >= '0' && p.text[n] <= '9' {
			n++
		}
		if n < len(p.text) && p.text[n] == 'x' { // the width of the next cell
			return nil
		}
		p.text = p.text[n:]
		return nil
	default:
		return nil
	}
	for {
		p.text = p.text[1:]
		child, err := p.cell()
		if err != nil {
			return err
		}
		c.Children = append(c.Children, child)
		switch {
		case p.text == "":
			return errLayout
		case p.text[0] == end:
			p.text = p.text[1:]
			return nil
		case p.text[0] != ',':
			return errLayout
		}
	}
}
