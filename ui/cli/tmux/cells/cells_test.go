package cells

import (
	"fmt"
	"slices"
	"testing"

	"tandem/tests/seed"
)

func splitPane(t *testing.T, c *Cell, at, pane int, s Split) *Cell {
	t.Helper()
	c, ok := c.Split(c.FindPane(at), pane, s)
	if !ok {
		t.Fatalf("no room beside pane %d", at)
	}
	return c
}

// The expected layouts were printed by tmux 3.3a for the same steps.
func TestLayoutsMatchTmux(t *testing.T) {
	c := New(0, 80, 24)
	want := func(layout string) {
		t.Helper()
		if got := c.String(); got != layout {
			t.Errorf("the layout is\n%s, want\n%s", got, layout)
		}
	}
	want("b25d,80x24,0,0,0")
	c = splitPane(t, c, 0, 1, Split{Axis: Beside})
	want("8205,80x24,0,0{40x24,0,0,0,39x24,41,0,1}")
	c = splitPane(t, c, 1, 2, Split{Axis: Below})
	want("d67e,80x24,0,0{40x24,0,0,0,39x24,41,0[39x12,41,0,1,39x11,41,13,2]}")
	c = splitPane(t, c, 1, 3, Split{Axis: Below, Before: true})
	want("1acb,80x24,0,0{40x24,0,0,0,39x24,41,0[39x6,41,0,3,39x5,41,7,1,39x11,41,13,2]}")
	c = Arrange("tiled", []int{0, 3, 1, 2}, 80, 24, MainSize{80, 24})
	want("f1d4,80x24,0,0[80x11,0,0{39x11,0,0,0,40x11,40,0,3},80x12,0,12{39x12,0,12,1,40x12,40,12,2}]")
	c = splitPane(t, c, 2, 4, Split{Axis: Below, Full: true, Size: 7})
	want("b28e,80x24,0,0[80x7,0,0{39x7,0,0,0,40x7,40,0,3},80x8,0,8{39x8,0,8,1,40x8,40,8,2},80x7,0,17,4]")
	c = Arrange("main-vertical", []int{0, 3, 1, 2, 4}, 80, 24, MainSize{80, 24})
	want("f3b8,80x24,0,0{78x24,0,0,0,1x24,79,0[1x5,79,0,3,1x5,79,6,1,1x5,79,12,2,1x6,79,18,4]}")
	c = Arrange("even-horizontal", []int{0, 3, 1, 2, 4}, 80, 24, MainSize{80, 24})
	want("5c01,80x24,0,0{15x24,0,0,0,15x24,16,0,3,15x24,32,0,1,15x24,48,0,2,16x24,64,0,4}")
}

// A group left inside a group of its own kind is not merged, so closing and resizing its panes
// affects only the group. The expected layouts were printed by tmux 3.3a for the same steps.
func TestNestedGroupsOfOneKindStayApart(t *testing.T) {
	c := New(0, 80, 24)
	for _, step := range []struct {
		do   func() bool
		want string // "" if tmux finds no room
	}{
		{func() (ok bool) { c, ok = c.Split(c.FindPane(0), 1, Split{Axis: Beside}); return ok }, "8205,80x24,0,0{40x24,0,0,0,39x24,41,0,1}"},
		{func() (ok bool) { c, ok = c.Split(c.FindPane(1), 2, Split{Axis: Below}); return ok }, "d67e,80x24,0,0{40x24,0,0,0,39x24,41,0[39x12,41,0,1,39x11,41,13,2]}"},
		{func() (ok bool) { c, ok = c.Split(c.FindPane(2), 3, Split{Axis: Beside}); return ok },
			"1558,80x24,0,0{40x24,0,0,0,39x24,41,0[39x12,41,0,1,39x11,41,13{19x11,41,13,2,19x11,61,13,3}]}"},
		{func() bool { c = c.ClosePane(1); return true }, "0f7c,80x24,0,0{40x24,0,0,0,39x24,41,0{19x24,41,0,2,19x24,61,0,3}}"},
		{func() bool { c.MoveEdge(c.FindPane(3), Beside, -3); return true }, "2794,80x24,0,0{40x24,0,0,0,39x24,41,0{16x24,41,0,2,22x24,58,0,3}}"},
		{func() bool { c.ResizePane(c.FindPane(3), Beside, 70); return true }, "c50c,80x24,0,0{40x24,0,0,0,39x24,41,0{1x24,41,0,2,37x24,43,0,3}}"},
		{func() bool { c.ResizePane(c.FindPane(3), Beside, 1); return true }, "8684,80x24,0,0{40x24,0,0,0,39x24,41,0{37x24,41,0,2,1x24,79,0,3}}"},
		{func() (ok bool) { c, ok = c.Split(c.FindPane(3), 4, Split{Axis: Below}); return ok },
			"3a32,80x24,0,0{40x24,0,0,0,39x24,41,0{37x24,41,0,2,1x24,79,0[1x12,79,0,3,1x11,79,13,4]}}"},
		{func() (ok bool) { c, ok = c.MovePane(0, 4, Split{Axis: Beside}); return ok }, ""},
		{func() bool { c.Resize(50, 20); return true }, "5368,50x20,0,0{25x20,0,0,0,24x20,26,0{22x20,26,0,2,1x20,49,0[1x10,49,0,3,1x9,49,11,4]}}"},
		{func() (ok bool) {
			c, ok = c.Split(c.FindPane(3), 5, Split{Axis: Beside, Full: true, Size: 40})
			return ok
		},
			"514c,50x20,0,0{4x20,0,0,0,4x20,5,0{2x20,5,0,2,1x20,8,0[1x10,8,0,3,1x9,8,11,4]},40x20,10,0,5}"},
		{func() bool { c = c.ClosePane(2); return true }, "a8a2,50x20,0,0{4x20,0,0,0,4x20,5,0[4x10,5,0,3,4x9,5,11,4],40x20,10,0,5}"},
	} {
		before := c.String()
		switch ok := step.do(); {
		case step.want == "" && (ok || c.String() != before):
			t.Errorf("tmux finds no room in\n%s, got\n%s", before, c)
		case step.want != "" && (!ok || c.String() != step.want):
			t.Errorf("step returned %v and made\n%s, want\n%s", ok, c, step.want)
		}
	}
}

func TestClosePaneGivesSpaceToNeighbour(t *testing.T) {
	c := splitPane(t, New(0, 80, 24), 0, 1, Split{Axis: Beside})
	c = splitPane(t, c, 1, 2, Split{Axis: Below, Size: 5})
	if c = c.ClosePane(1); c.FindPane(2).H != 24 {
		t.Errorf("pane is %d cells high after its neighbour closed, want 24", c.FindPane(2).H)
	}
	if c = c.ClosePane(0); c.Kind != Leaf || c.W != 80 || c.ClosePane(2) != nil {
		t.Errorf("the last pane is %+v", *c)
	}
}

func TestResizePaneTakesCellsFromNeighbours(t *testing.T) {
	c := splitPane(t, New(0, 80, 24), 0, 1, Split{Axis: Beside})
	c.ResizePane(c.FindPane(0), Beside, 20)
	if a, b := c.FindPane(0), c.FindPane(1); a.W != 20 || b.W != 59 || b.X != 21 {
		t.Errorf("the panes are %+v and %+v", *a, *b)
	}
	c.ResizePane(c.FindPane(1), Beside, 30)
	if a, b := c.FindPane(0), c.FindPane(1); a.W != 49 || b.W != 30 {
		t.Errorf("the panes are %+v and %+v", *a, *b)
	}
	c.MoveEdge(c.FindPane(1), Beside, -9)
	if a := c.FindPane(0); a.W != 40 {
		t.Errorf("the first pane is %d wide, want 40", a.W)
	}
	c.Resize(100, 30)
	if a, b := c.FindPane(0), c.FindPane(1); a.W+b.W != 99 || a.H != 30 {
		t.Errorf("the panes are %+v and %+v", *a, *b)
	}
}

func TestPresetsFillTheWindow(t *testing.T) {
	for _, name := range PresetNames() {
		for n := 1; n <= 9; n++ {
			panes := make([]int, n)
			for i := range panes {
				panes[i] = i
			}
			c := Arrange(name, panes, 120, 40, MainSize{W: 80, H: 24})
			if c == nil || !c.isConsistent() || c.W != 120 || c.H != 40 {
				t.Errorf("%s of %d panes is %v", name, n, c)
			}
			back, err := Parse(c.String(), panes)
			if err != nil || back.String() != c.String() {
				t.Errorf("%s of %d panes reads back as %v, %v", name, n, back, err)
			}
		}
	}
}

func TestParseRejectsInvalidLayouts(t *testing.T) {
	for _, text := range []string{"", "b25d", "0000,80x24,0,0,0", "b25d,80x24,0,0,", "main", "4f0f,80x24,0,0"} {
		if c, err := Parse(text, []int{0}); err == nil {
			t.Errorf("%q reads as %v", text, c)
		}
	}
}

func TestParseRejectsAnotherNumberOfPanes(t *testing.T) {
	layout := Arrange("tiled", []int{0, 1, 2}, 80, 24, MainSize{}).String()
	for _, panes := range [][]int{{0, 1}, {0, 1, 2, 3}} {
		_, err := Parse(layout, panes)
		if want := fmt.Sprintf("a layout of another number of panes (3 instead of %d) is not supported by tandem; add or kill panes first", len(panes)); err == nil || err.Error() != want {
			t.Errorf("Parse for %d panes: %v, want %s", len(panes), err, want)
		}
	}
}

// After any operation, the panes and the borders between them must fill the window. The window is
// large enough for all panes.
func TestRandomOperationsKeepTheWindowFilled(t *testing.T) {
	r := seed.Rand(t)
	c, next := New(0, 120, 50), 1
	for range 1000 {
		before := c.String()
		leaves := c.Leaves()
		pane := func() *Cell { return leaves[r.IntN(len(leaves))] }
		at, axis, count := pane(), []Kind{Beside, Below}[r.IntN(2)], len(leaves)
		split := Split{Axis: axis, Before: r.IntN(2) == 0, Full: r.IntN(4) == 0, Size: r.IntN(60)}
		switch k := r.IntN(8); {
		case k < 2 && count < 9:
			ok := false
			if c, ok = c.Split(at, next, split); ok {
				next, count = next+1, count+1
			}
		case k == 2 && count > 1:
			c, count = c.ClosePane(at.Pane), count-1
		case k == 3:
			c.ResizePane(at, axis, 1+r.IntN(60))
		case k == 4:
			c.MoveEdge(at, axis, r.IntN(40)-20)
		case k == 5:
			c.Resize(80+r.IntN(120), 40+r.IntN(40))
		case k == 6:
			if to := pane(); to != at {
				c, _ = c.MovePane(at.Pane, to.Pane, split)
			}
		case k == 7:
			c.SpreadAround(at.Pane)
		}
		checkFilled(t, c, count)
		if t.Failed() {
			t.Fatalf("from %s", before)
		}
	}
}

// checkFilled checks that c has count panes, each in its position, and is filled by them.
func checkFilled(t *testing.T, c *Cell, count int) {
	t.Helper()
	leaves, drawn := c.Leaves(), make([]bool, c.W*c.H)
	for _, leaf := range leaves {
		if leaf.W < 1 || leaf.H < 1 || leaf.X < 0 || leaf.Y < 0 || leaf.X+leaf.W > c.W || leaf.Y+leaf.H > c.H {
			t.Fatalf("pane %d lies outside of %s", leaf.Pane, c)
		}
		for x := leaf.X; x < leaf.X+leaf.W; x++ {
			for y := leaf.Y; y < leaf.Y+leaf.H; y++ {
				if drawn[y*c.W+x] {
					t.Fatalf("panes of %s overlap", c)
				}
				drawn[y*c.W+x] = true
			}
		}
	}
	if len(leaves) != count || !c.isConsistent() {
		t.Errorf("%s does not hold %d panes that fill it", c, count)
	}
}

func TestSplitInsertsBeforeAndAcrossTheWindow(t *testing.T) {
	c := splitPane(t, New(0, 80, 24), 0, 1, Split{Axis: Beside})
	c = splitPane(t, c, 0, 2, Split{Axis: Below, Before: true})
	c = splitPane(t, c, 0, 3, Split{Axis: Below, Full: true, Size: 4})
	var order []int
	for _, leaf := range c.Leaves() {
		order = append(order, leaf.Pane)
	}
	if !slices.Equal(order, []int{2, 0, 1, 3}) {
		t.Errorf("the panes are in the order %v", order)
	}
	if last := c.FindPane(3); last.W != 80 || last.H != 4 || last.Y != 20 {
		t.Errorf("the last pane is %+v", *last)
	}
	if !c.isConsistent() {
		t.Errorf("%s does not fill the window", c)
	}
}
