package grid_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/engine/screen/vt/grid"
	"tandem/engine/screen/vt10x"
	"tandem/tests/seed"
)

// A model is the simplest possible grid.
type model struct{ cells [][]grid.Cell }

func newModel(cols, rows int) *model {
	m := &model{cells: make([][]grid.Cell, rows)}
	for y := range m.cells {
		m.cells[y] = make([]grid.Cell, cols)
	}
	return m
}

func (m *model) scroll(r grid.Rect, n int, s grid.StyleID) {
	old := newModel(len(m.cells[0]), len(m.cells))
	for y := range m.cells {
		copy(old.cells[y], m.cells[y])
	}
	for y := r.Top; y <= r.Bottom; y++ {
		for x := r.Left; x <= r.Right; x++ {
			m.cells[y][x] = grid.Cell{Style: s}
			if from := y + n; from >= r.Top && from <= r.Bottom {
				m.cells[y][x] = old.cells[from][x]
			}
		}
	}
}

// Every implementation of Grid must pass this test.
func TestGridMatchesSimpleModel(t *testing.T) {
	for name, open := range map[string]func(cols, rows int) grid.Grid{"own": grid.New, "vt10x": vt10x.New} {
		t.Run(name, func(t *testing.T) { checkGrid(t, open) })
	}
}

func checkGrid(t *testing.T, open func(cols, rows int) grid.Grid) {
	const cols, rows = 8, 5
	glyphs := []grid.Glyph{'a', 'é', '中', 0xE0B0, 0xF0001, 0x10FFFF, 0x110000, 0x110007, grid.Tail}
	seed.Check(t, func(t *rapid.T) {
		g, m := open(cols, rows), newModel(cols, rows)
		num := func(name string, low, high int) int { return rapid.IntRange(low, high).Draw(t, name) }
		for range num("steps", 1, 60) {
			x, y := num("x", 0, cols-1), num("y", 0, rows-1)
			n, right := num("n", 1, cols-x), num("right", x, cols-1)
			s := grid.StyleID(rapid.SampledFrom([]int{0, 1, 255, 256, 70000}).Draw(t, "style"))
			row := m.cells[y]
			switch num("operation", 0, 6) {
			case 0:
				text := "abcdefgh"[:n]
				g.PutASCII(x, y, []byte(text), s)
				for i := range text {
					row[x+i] = grid.Cell{Glyph: grid.Glyph(text[i]), Style: s}
				}
			case 1:
				cells := []grid.Cell{{Glyph: rapid.SampledFrom(glyphs).Draw(t, "glyph"), Style: s}}
				g.Put(x, y, cells)
				copy(row[x:], cells)
			case 2:
				g.Erase(x, y, n, s)
				blankModel(row[x:x+n], s)
			case 3:
				g.Insert(x, y, right, n, s)
				part := row[x : right+1]
				n = min(n, len(part))
				copy(part[n:], part)
				blankModel(part[:n], s)
			case 4:
				g.Delete(x, y, right, n, s)
				part := row[x : right+1]
				n = min(n, len(part))
				copy(part, part[n:])
				blankModel(part[len(part)-n:], s)
			case 5:
				r := grid.Rect{Left: x, Right: right, Top: y, Bottom: num("bottom", y, rows-1)}
				if num("whole", 0, 1) == 1 {
					r.Left, r.Right = 0, cols-1
				}
				n := num("by", 1, r.Bottom-r.Top+1)
				if num("down", 0, 1) == 1 {
					n = -n
				}
				g.Scroll(r, n, s)
				m.scroll(r, n, s)
			case 6:
				if got := g.Cell(x, y); got != row[x] {
					t.Fatalf("cell %d,%d is %v, want %v", x, y, got, row[x])
				}
			}
		}
		for y := range rows {
			if diff := cmp.Diff(m.cells[y], append([]grid.Cell(nil), g.Row(y)...)); diff != "" {
				t.Fatalf("row %d (-model +grid)\n%s", y, diff)
			}
			if used := grid.UsedColumns(g, y); slices.ContainsFunc(g.Row(y)[used:], func(c grid.Cell) bool { return c != grid.Cell{} }) {
				t.Fatalf("row %d has cells from column %d on: %v", y, used, g.Row(y))
			}
		}
	})
}

func blankModel(cells []grid.Cell, s grid.StyleID) {
	for i := range cells {
		cells[i] = grid.Cell{Style: s}
	}
}
