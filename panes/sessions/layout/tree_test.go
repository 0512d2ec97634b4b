package layout

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/panes/kit/look"
	"tandem/tests/seed"
)

func TestSplitsFillAreaWithoutOverlap(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		area := look.Rect{X: rapid.IntRange(0, 40).Draw(t, "x"), Y: 1, W: rapid.IntRange(1, 300).Draw(t, "w"), H: rapid.IntRange(1, 100).Draw(t, "h")}
		root, leaves := grow(t, area)
		cells := 0
		room := area.W >= root.MinSize(Beside) && area.H >= root.MinSize(Below)
		for i, l := range leaves {
			if room && (l.Rect.W < minPaneWidth || l.Rect.H < minPaneHeight) {
				t.Fatalf("leaf %v has less than the least size", l.Rect)
			}
			cells += l.Rect.W * l.Rect.H
			if l.Rect.W < 0 || l.Rect.H < 0 {
				t.Fatalf("leaf %v is less than empty", l.Rect)
			}
			for _, o := range leaves[:i] {
				if rangesOverlap(l.Rect.X, l.Rect.W, o.Rect.X, o.Rect.W) && rangesOverlap(l.Rect.Y, l.Rect.H, o.Rect.Y, o.Rect.H) {
					t.Fatalf("leaves %v and %v overlap", l.Rect, o.Rect)
				}
			}
		}
		if got := cells + borderCells(root); got != area.W*area.H {
			t.Fatalf("leaves and borders take %d cells of %d", got, area.W*area.H)
		}
	})
}

// nodesOf reads a tree of sessions with ids of one letter, "(a|(b/c))": "|" for beside, "/" for below.
func nodesOf(tree string) (nodes []api.LayoutNode) {
	at := 0
	var read func()
	read = func() {
		if tree[at] != '(' {
			nodes = append(nodes, api.LayoutNode{ID: tree[at : at+1]})
			at++
			return
		}
		at++
		split := len(nodes)
		nodes = append(nodes, api.LayoutNode{Axis: api.AxisBeside, Share: ShareUnit / 2})
		read()
		if tree[at] == '/' {
			nodes[split].Axis = api.AxisBelow
		}
		at++
		read()
		at++
	}
	read()
	return nodes
}

func treeOf(tree string) *Node {
	nodes := nodesOf(tree)
	return buildTree(&nodes)
}

// grow builds a random tree by splitting leaves, closing some of them and moving borders.
func grow(t *rapid.T, area look.Rect) (*Node, []*Node) {
	root := treeOf("a")
	root.SetRects(area)
	for i := range rapid.IntRange(0, 12).Draw(t, "steps") {
		leaves := root.Leaves(nil)
		l := leaves[rapid.IntRange(0, len(leaves)-1).Draw(t, "leaf")]
		nodes := root.Nodes()
		at := slices.IndexFunc(nodes, func(n api.LayoutNode) bool { return n.ID == l.ID })
		switch rapid.SampledFrom([]string{"split", "split", "split", "close", "push"}).Draw(t, "step") {
		case "split":
			x := rapid.SampledFrom([]Axis{Beside, Below}).Draw(t, "axis")
			if l.CanSplit(x) {
				nodes = slices.Replace(nodes, at, at+1, l.SplitWith(x, string(rune('b'+i)))...)
				root = buildTree(&nodes)
			}
		case "close":
			nodes, _ = appendShown(nil, nodes, func(id string) bool { return id != l.ID })
			if len(nodes) > 0 {
				root = buildTree(&nodes)
			}
		case "push":
			l.PushBorder(Direction(rapid.IntRange(0, 3).Draw(t, "direction")), rapid.IntRange(1, 200).Draw(t, "by"))
		}
		root.SetRects(area)
	}
	return root, root.Leaves(nil)
}

// borderCells counts the cells of the columns between halves, if they have one.
func borderCells(n *Node) int {
	if n.IsLeaf() {
		return 0
	}
	cells := borderCells(n.A) + borderCells(n.B)
	if n.Axis == Beside {
		cells += (n.Rect.W - n.A.Rect.W - n.B.Rect.W) * n.Rect.H
	}
	return cells
}

func TestHalvesKeepMinimumSizeIfSpaceSuffices(t *testing.T) {
	root := treeOf("(a|b)")
	second := root.B
	root.SetRects(look.Rect{X: 0, Y: 1, W: 80, H: 22})
	second.PushBorder(Left, 500)
	if root.A.Rect.W != minPaneWidth {
		t.Errorf("pushed to the edge, the left half has %d columns, want %d", root.A.Rect.W, minPaneWidth)
	}
	second.PushBorder(Right, 500)
	if root.B.Rect.W != minPaneWidth {
		t.Errorf("pushed to the other edge, the right half has %d columns, want %d", root.B.Rect.W, minPaneWidth)
	}
}

func TestBorderStopsAtMinimumSizeOfPanes(t *testing.T) {
	root := treeOf("((a/c)|(b/(d|e)))")
	root.SetRects(look.Rect{W: 81, H: 20})
	d, e := root.B.B.A, root.B.B.B
	root.MoveBorder(500)
	if d.Rect.W != minPaneWidth || e.Rect.W != minPaneWidth {
		t.Errorf("the two panes behind the border have %d and %d columns", d.Rect.W, e.Rect.W)
	}
}

// fourPanes returns a|b over c|d, drawn as
//
//	a │ b
//	──┼──
//	c │ d
func fourPanes() (root, a, b, c, d *Node) {
	root = treeOf("((a/c)|(b/d))")
	root.SetRects(look.Rect{W: 81, H: 20})
	return root, root.A.A, root.B.A, root.A.B, root.B.B
}

func TestNeighbourIsPaneOpposite(t *testing.T) {
	_, a, b, c, d := fourPanes()
	tests := []struct {
		from *Node
		to   Direction
		want *Node
	}{
		{a, Right, b}, {a, Down, c}, {a, Left, nil}, {a, Up, nil},
		{b, Left, a}, {b, Down, d}, {c, Right, d}, {c, Up, a}, {d, Left, c}, {d, Up, b},
	}
	for _, tt := range tests {
		if got := tt.from.Neighbour(tt.to); got != tt.want {
			t.Errorf("from %s towards %d: got %v", tt.from.ID, tt.to, got)
		}
	}
}

func TestNextLeafWrapsAround(t *testing.T) {
	_, a, b, c, d := fourPanes()
	at := a
	for _, want := range []*Node{c, b, d, a} {
		if at = at.NextLeaf(1); at != want {
			t.Fatalf("next is %s, want %s", at.ID, want.ID)
		}
	}
}

func TestBordersAreFoundWhereDrawn(t *testing.T) {
	root, a, _, _, d := fourPanes()
	if got := root.BorderAt(40, 3); got != root {
		t.Errorf("at the column between the halves: %v", got)
	}
	if got := root.BorderAt(70, d.Rect.Y); got != root.B {
		t.Errorf("at the title row of the lower right pane: %v", got)
	}
	if got := root.BorderAt(3, 3); got != nil {
		t.Errorf("inside a pane: %v", got)
	}
	if got := root.LeafAt(3, 3); got != a {
		t.Errorf("the leaf there is %v", got)
	}
}

func TestHalvesNeverHaveNegativeSize(t *testing.T) {
	root, a, b, c, d := fourPanes()
	for w := range 8 {
		root.SetRects(look.Rect{W: w, H: 1})
		for _, l := range []*Node{a, b, c, d} {
			if l.Rect.W < 0 || l.Rect.H < 0 {
				t.Errorf("in %d columns a pane has %+v", w, l.Rect)
			}
		}
	}
}
