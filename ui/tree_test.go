package ui

import (
	"testing"

	"pgregory.net/rapid"

	"tandem/panes/terminal"
	"tandem/panes/widget"
)

func TestSplitsFillTheirAreaWithoutOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		area := widget.Rect{X: rapid.IntRange(0, 40).Draw(t, "x"), Y: 1, W: rapid.IntRange(1, 300).Draw(t, "w"), H: rapid.IntRange(1, 100).Draw(t, "h")}
		root, leaves := grow(t, area)
		cells := 0
		room := area.W >= root.least(beside) && area.H >= root.least(below)
		for i, l := range leaves {
			if room && (l.rect.W < minPaneWidth || l.rect.H < minPaneHeight) {
				t.Fatalf("leaf %v has less than the least size", l.rect)
			}
			cells += l.rect.W * l.rect.H
			if l.rect.W < 0 || l.rect.H < 0 {
				t.Fatalf("leaf %v is less than empty", l.rect)
			}
			for _, o := range leaves[:i] {
				if overlap(l.rect.X, l.rect.W, o.rect.X, o.rect.W) && overlap(l.rect.Y, l.rect.H, o.rect.Y, o.rect.H) {
					t.Fatalf("leaves %v and %v overlap", l.rect, o.rect)
				}
			}
		}
		if got := cells + borderCells(root); got != area.W*area.H {
			t.Fatalf("leaves and borders take %d cells of %d", got, area.W*area.H)
		}
	})
}

// grow makes a tree by splitting leaves, closing some and moving borders.
func grow(t *rapid.T, area widget.Rect) (*node, []*node) {
	root := leafOf(terminal.NewTerminal("0"))
	root.place(area)
	for range rapid.IntRange(0, 12).Draw(t, "steps") {
		leaves := root.leaves(nil)
		l := leaves[rapid.IntRange(0, len(leaves)-1).Draw(t, "leaf")]
		switch rapid.SampledFrom([]string{"split", "split", "split", "close", "push"}).Draw(t, "step") {
		case "split":
			x := rapid.SampledFrom([]axis{beside, below}).Draw(t, "axis")
			if l.canSplit(x) {
				root, _ = l.split(x, terminal.NewTerminal("n"))
			}
		case "close":
			if smaller, focus := l.remove(); smaller != nil {
				if focus == nil {
					t.Fatal("no leaf to focus after closing one of several")
				}
				root = smaller
			}
		case "push":
			l.push(direction(rapid.IntRange(0, 3).Draw(t, "direction")), rapid.IntRange(1, 200).Draw(t, "by"))
		}
		root.place(area)
	}
	return root, root.leaves(nil)
}

// borderCells are the cells of the columns between halves, as far as there was
// room for one.
func borderCells(n *node) int {
	if n.pane != nil {
		return 0
	}
	cells := borderCells(n.a) + borderCells(n.b)
	if n.axis == beside {
		cells += (n.rect.W - n.a.rect.W - n.b.rect.W) * n.rect.H
	}
	return cells
}

func TestEveryHalfKeepsItsLeastSizeWhenThereIsRoom(t *testing.T) {
	root := leafOf(terminal.NewTerminal("a"))
	root.place(widget.Rect{X: 0, Y: 1, W: 80, H: 22})
	root, second := root.split(beside, terminal.NewTerminal("b"))
	root.place(widget.Rect{X: 0, Y: 1, W: 80, H: 22})
	second.push(left, 500)
	if root.a.rect.W != minPaneWidth {
		t.Errorf("pushed to the edge, the left half has %d columns, want %d", root.a.rect.W, minPaneWidth)
	}
	second.push(right, 500)
	if root.b.rect.W != minPaneWidth {
		t.Errorf("pushed to the other edge, the right half has %d columns, want %d", root.b.rect.W, minPaneWidth)
	}
}

func TestABorderIsMovedAsFarAsThePanesBehindItLetIt(t *testing.T) {
	_, _, _, _, d := fourPanes()
	root, e := d.split(beside, terminal.NewTerminal("e"))
	root.place(root.rect)
	root.moveBorder(500)
	if d.rect.W != minPaneWidth || e.rect.W != minPaneWidth {
		t.Errorf("the two panes behind the border have %d and %d columns", d.rect.W, e.rect.W)
	}
}

// fourPanes is a|b over c|d, drawn as
//
//	a │ b
//	──┼──
//	c │ d
func fourPanes() (root, a, b, c, d *node) {
	area := widget.Rect{X: 0, Y: 0, W: 81, H: 20}
	a = leafOf(terminal.NewTerminal("a"))
	root = a
	root.place(area)
	root, b = a.split(beside, terminal.NewTerminal("b"))
	root.place(area)
	_, c = a.split(below, terminal.NewTerminal("c"))
	root, d = b.split(below, terminal.NewTerminal("d"))
	root.place(area)
	return root, a, b, c, d
}

func TestFocusGoesToThePaneAcross(t *testing.T) {
	_, a, b, c, d := fourPanes()
	tests := []struct {
		from *node
		to   direction
		want *node
	}{
		{a, right, b}, {a, down, c}, {a, left, nil}, {a, up, nil},
		{b, left, a}, {b, down, d}, {c, right, d}, {c, up, a}, {d, left, c}, {d, up, b},
	}
	for _, tt := range tests {
		if got := tt.from.neighbour(tt.to); got != tt.want {
			t.Errorf("from %s towards %d: got %v", tt.from.pane.ID, tt.to, got)
		}
	}
}

func TestClosingAPaneGivesItsPlaceToItsSibling(t *testing.T) {
	root, a, _, c, _ := fourPanes()
	left := root.a
	area := left.rect
	root, focus := a.remove()
	root.place(root.rect)
	if focus != c || c.rect != area {
		t.Errorf("focus is on %v at %v, want c at %v", focus.pane.ID, c.rect, area)
	}
}

func TestFocusGoesAroundThePanes(t *testing.T) {
	_, a, b, c, d := fourPanes()
	at := a
	for _, want := range []*node{c, b, d, a} {
		if at = at.next(1); at != want {
			t.Fatalf("next is %s, want %s", at.pane.ID, want.pane.ID)
		}
	}
}

func TestBordersAreFoundWhereTheyAreDrawn(t *testing.T) {
	root, a, _, _, d := fourPanes()
	if got := root.borderAt(40, 3); got != root {
		t.Errorf("at the column between the halves: %v", got)
	}
	if got := root.borderAt(70, d.rect.Y); got != root.b {
		t.Errorf("at the title row of the lower right pane: %v", got)
	}
	if got := root.borderAt(3, 3); got != nil {
		t.Errorf("inside a pane: %v", got)
	}
	if got := root.leafAt(3, 3); got != a {
		t.Errorf("the leaf there is %v", got)
	}
}
