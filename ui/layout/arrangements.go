package layout

import (
	"slices"
)

// An Arrangement lays the panes of a tab out in a usual way.
type Arrangement struct {
	Name, Does string
	main       bool                       // the focused pane is the first one
	tree       func(leaves []*Node) *Node // makes it of two leaves at least
}

// mainShare is what the main pane has of the tab.
const mainShare = ShareUnit * 3 / 5

func Arrangements() []Arrangement {
	return []Arrangement{
		{"columns", "all side by side", false, func(l []*Node) *Node { return inLine(Beside, l) }},
		{"rows", "all below each other", false, func(l []*Node) *Node { return inLine(Below, l) }},
		{"main left", "this one large, the others below each other", true, func(l []*Node) *Node {
			return joined(Beside, mainShare, l[0], inLine(Below, l[1:]))
		}},
		{"main above", "this one large, the others side by side", true, func(l []*Node) *Node {
			return joined(Below, mainShare, l[0], inLine(Beside, l[1:]))
		}},
		{"tiles", "all of about the same size", false, tiled},
	}
}

// joined is a split of two nodes.
func joined(x Axis, share int, a, b *Node) *Node {
	s := &Node{Axis: x, Share: share, A: a, B: b}
	a.parent, b.parent = s, s
	return s
}

// inLine puts nodes in a row or column, each of the same size.
func inLine(x Axis, nodes []*Node) *Node {
	if len(nodes) == 1 {
		return nodes[0]
	}
	return joined(x, ShareUnit/len(nodes), nodes[0], inLine(x, nodes[1:]))
}

// tiled puts nodes in rows that have as many columns as there are rows, or one
// more; the last row may have fewer.
func tiled(nodes []*Node) *Node {
	columns := 1
	for columns*columns < len(nodes) {
		columns++
	}
	var rows []*Node
	for row := range slices.Chunk(nodes, columns) {
		rows = append(rows, inLine(Beside, row))
	}
	return inLine(Below, rows)
}

// ArrangedAs is the tree of g's panes in another arrangement. It is made of
// leaves of its own; focus is that of the pane that has it.
func (g *Tab) ArrangedAs(a Arrangement) (root, focus *Node) {
	var leaves []*Node
	for _, l := range g.Root.Leaves(nil) {
		leaf := Leaf(l.Pane)
		switch {
		case l != g.Focus:
		case a.main:
			leaves, focus = append([]*Node{leaf}, leaves...), leaf
			continue
		default:
			focus = leaf
		}
		leaves = append(leaves, leaf)
	}
	return a.tree(leaves), focus
}

// weight is how many panes are side by side in n along an axis.
func (n *Node) weight(x Axis) int {
	if n.Pane != nil || n.Axis != x {
		return 1
	}
	return n.A.weight(x) + n.B.weight(x)
}

// Equalise gives all panes of a row, and all of a column, the same size.
func (n *Node) Equalise() {
	if n.Pane != nil {
		return
	}
	first, second := n.A.weight(n.Axis), n.B.weight(n.Axis)
	n.Share = ShareUnit * first / (first + second)
	n.A.Equalise()
	n.B.Equalise()
}
