package layout

import "slices"

// An Arrangement is a standard way to arrange the panes of a tab.
type Arrangement struct {
	Name, Does string
	main       bool                       // the focused pane comes first
	tree       func(leaves []*Node) *Node // builds the tree from at least two leaves
}

// mainShare is the main pane's share of the tab.
const mainShare = ShareUnit * 3 / 5

func Arrangements() []Arrangement {
	return []Arrangement{
		{"columns", "all side by side", false, func(l []*Node) *Node { return lineUp(Beside, l) }},
		{"rows", "all below each other", false, func(l []*Node) *Node { return lineUp(Below, l) }},
		{"main left", "this one large, the others below each other", true, func(l []*Node) *Node {
			return joinNodes(Beside, mainShare, l[0], lineUp(Below, l[1:]))
		}},
		{"main above", "this one large, the others side by side", true, func(l []*Node) *Node {
			return joinNodes(Below, mainShare, l[0], lineUp(Beside, l[1:]))
		}},
		{"tiles", "all of about the same size", false, arrangeTiles},
	}
}

// joinNodes returns a split of two nodes.
func joinNodes(x Axis, share int, a, b *Node) *Node {
	s := &Node{Axis: x, Share: share, A: a, B: b}
	a.parent, b.parent = s, s
	return s
}

// lineUp puts nodes in a row or column, all of the same size.
func lineUp(x Axis, nodes []*Node) *Node {
	if len(nodes) == 1 {
		return nodes[0]
	}
	return joinNodes(x, ShareUnit/len(nodes), nodes[0], lineUp(x, nodes[1:]))
}

// arrangeTiles puts nodes in rows of equal length. There are as many columns as rows, or one more.
// The last row may be shorter.
func arrangeTiles(nodes []*Node) *Node {
	columns := 1
	for columns*columns < len(nodes) {
		columns++
	}
	var rows []*Node
	for row := range slices.Chunk(nodes, columns) {
		rows = append(rows, lineUp(Beside, row))
	}
	return lineUp(Below, rows)
}

// Rearrange returns a tree with the panes of t in arrangement a.
func (t *Tab) Rearrange(a Arrangement) *Node {
	var leaves []*Node
	for _, l := range t.Root.Leaves(nil) {
		leaf := NewLeaf(l.ID)
		// The main pane comes first, whatever its position was.
		if a.main && l == t.Focus {
			leaves = slices.Insert(leaves, 0, leaf)
			continue
		}
		leaves = append(leaves, leaf)
	}
	return a.tree(leaves)
}

// countAlong returns the number of panes that lie next to each other along axis x in n.
func (n *Node) countAlong(x Axis) int {
	if n.IsLeaf() || n.Axis != x {
		return 1
	}
	return n.A.countAlong(x) + n.B.countAlong(x)
}

// EqualizeShares gives all panes of a row, and all panes of a column, the same size. It returns the
// splits of n, whose shares may have changed.
func (n *Node) EqualizeShares() []*Node {
	if n.IsLeaf() {
		return nil
	}
	first, second := n.A.countAlong(n.Axis), n.B.countAlong(n.Axis)
	// A half with more panes gets a larger share.
	n.Share = ShareUnit * first / (first + second)
	return append(append(n.A.EqualizeShares(), n.B.EqualizeShares()...), n)
}
