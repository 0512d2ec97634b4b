package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/panes/widget"
)

// An arrangement lays the panes of a tab out in a usual way.
type arrangement struct {
	name, does string
	main       bool                       // the focused pane is the first one
	tree       func(leaves []*node) *node // makes it of two leaves at least
}

// mainShare is what the main pane has of the tab.
const mainShare = shareUnit * 3 / 5

func arrangements() []arrangement {
	return []arrangement{
		{"columns", "all side by side", false, func(l []*node) *node { return inLine(beside, l) }},
		{"rows", "all below each other", false, func(l []*node) *node { return inLine(below, l) }},
		{"main left", "this one large, the others below each other", true, func(l []*node) *node {
			return joined(beside, mainShare, l[0], inLine(below, l[1:]))
		}},
		{"main above", "this one large, the others side by side", true, func(l []*node) *node {
			return joined(below, mainShare, l[0], inLine(beside, l[1:]))
		}},
		{"tiles", "all of about the same size", false, tiled},
	}
}

// joined is a split of two nodes.
func joined(x axis, share int, a, b *node) *node {
	s := &node{axis: x, share: share, a: a, b: b}
	a.parent, b.parent = s, s
	return s
}

// inLine puts nodes in a row or column, each of the same size.
func inLine(x axis, nodes []*node) *node {
	if len(nodes) == 1 {
		return nodes[0]
	}
	return joined(x, shareUnit/len(nodes), nodes[0], inLine(x, nodes[1:]))
}

// tiled puts nodes in rows that have as many columns as there are rows, or one
// more; the last row may have fewer.
func tiled(nodes []*node) *node {
	columns := 1
	for columns*columns < len(nodes) {
		columns++
	}
	var rows []*node
	for row := range slices.Chunk(nodes, columns) {
		rows = append(rows, inLine(beside, row))
	}
	return inLine(below, rows)
}

// arrangedAs is the tree of g's panes in another arrangement. It is made of
// leaves of its own; focus is that of the pane that has it.
func (g *group) arrangedAs(a arrangement) (root, focus *node) {
	var leaves []*node
	for _, l := range g.root.leaves(nil) {
		leaf := leafOf(l.pane)
		switch {
		case l != g.focus:
		case a.main:
			leaves, focus = append([]*node{leaf}, leaves...), leaf
			continue
		default:
			focus = leaf
		}
		leaves = append(leaves, leaf)
	}
	return a.tree(leaves), focus
}

// arrangementChoices are the arrangements that the tab has room for, by numbers
// from first on.
func (m *model) arrangementChoices(first int) (choices []widget.Choice) {
	if m.current == nil || m.current.root.pane != nil {
		return nil
	}
	for i, a := range arrangements() {
		root, _ := m.current.arrangedAs(a)
		if root.least(beside) <= m.layout.tree.W && root.least(below) <= m.layout.tree.H {
			choices = append(choices, widget.Choice{Number: first + i, Sign: m.look.Glyphs.More, SignInk: m.look.Dim,
				Text: a.name, Also: a.does, Detail: a.does})
		}
	}
	return choices
}

// arrangeAs lays the panes of the tab that is shown out anew.
func (m *model) arrangeAs(a arrangement) tea.Cmd {
	if m.current == nil || m.current.root.pane != nil {
		return nil
	}
	m.current.root, m.current.focus = m.current.arrangedAs(a)
	m.setZoomed(false)
	return nil
}
