//go:build invariants

package grid

import (
	"testing"

	"tandem/engine/base/invariants"
)

func TestCheckPanicsOnDamagedGrid(t *testing.T) {
	for name, damage := range map[string]func(g *slab){
		"two rows share cells":          func(g *slab) { g.order[1].at = g.order[0].at },
		"row starts between two others": func(g *slab) { g.order[1].at++ },
		"row starts outside":            func(g *slab) { g.order[2].at = int32(len(g.cells)) },
		"text after the used columns":   func(g *slab) { g.order[0].used = 2 },
		"used beyond the last column":   func(g *slab) { g.order[0].used = 9 },
		"cells are missing":             func(g *slab) { g.cells = g.cells[:len(g.cells)-1] },
		"order outside its slice":       func(g *slab) { g.order = append([]cellRow(nil), g.order...) },
		"missing row":                   func(g *slab) { g.order = g.order[:2] },
		"put outside":                   func(g *slab) { g.Put(7, 0, []Cell{{Glyph: 'a'}, {Glyph: 'b'}}) },
		"erase outside":                 func(g *slab) { g.Erase(0, 3, 1, 0) },
		"delete too much":               func(g *slab) { g.Delete(0, 0, 8, 1, 0) },
		"scroll by too much":            func(g *slab) { g.Scroll(Rect{Right: 7, Bottom: 2}, 4, 0) },
		"scroll outside":                func(g *slab) { g.Scroll(Rect{Right: 7, Bottom: 3}, 1, 0) },
	} {
		g := New(8, 3).(*slab)
		g.PutASCII(0, 0, []byte("hello"), 0)
		for range 5 {
			g.Scroll(Rect{Right: 7, Bottom: 2}, 1, 0)
			g.PutASCII(0, 0, []byte("hello"), 0)
		}
		g.check()
		if invariants.Broken(func() { damage(g); g.check() }) == "" {
			t.Errorf("%s: no check fails", name)
		}
	}
}
