//go:build invariants

package vt

import (
	"testing"

	"tandem/engine/base/invariants"
	"tandem/engine/screen/vt/grid"
)

// newDamageable returns a terminal with an instance of everything checked.
func newDamageable() *Terminal {
	t := New(Options{Cols: 9, Rows: 5, ScrollbackLines: 20})
	t.Write([]byte("one\r\n\x1b[31mtwo\x1b[m\r\n中e\u0301\r\nfour\r\nfive\r\nsix\r\nseven\x1b[44m \x1b]8;;http://a.b\aL\x1b]8;;\a\x1b[m"))
	t.Write([]byte("\x1b_Ga=T,i=1,f=24,s=1,v=1,c=2,r=2,q=2;AAAA\x1b\\\x1b[?1049h\x1b[?1049l\x1b[3;3H中"))
	t.Diff(0)
	return t
}

func TestCheckPanicsOnDamagedTerminal(t *testing.T) {
	for name, damage := range map[string]func(t *Terminal){
		"cursor past the last column":            func(t *Terminal) { t.page.cur.x = t.store.cols },
		"cursor below the last row":              func(t *Terminal) { t.page.cur.y = t.store.rows },
		"wrap pending between margins":           func(t *Terminal) { t.page.mode.leftRight, t.page.cur.pending = true, true },
		"saved cursor outside":                   func(t *Terminal) { t.store.main.saved.x = -1 },
		"margins crossed":                        func(t *Terminal) { t.page.region.Top, t.page.region.Bottom = 3, 2 },
		"margins outside":                        func(t *Terminal) { t.page.region.Bottom = t.store.rows },
		"side margins without their mode":        func(t *Terminal) { t.page.region.Left = 2 },
		"too few tab stops":                      func(t *Terminal) { t.page.tabs = t.page.tabs[1:] },
		"pen with the wrong style":               func(t *Terminal) { t.page.cur.pen.FG++ },
		"pen with an unknown link":               func(t *Terminal) { t.page.cur.pen.link, t.page.penChanged = 99, true },
		"cell with an unknown style":             func(t *Terminal) { t.store.main.grid.Put(0, 0, []grid.Cell{{Glyph: 'a', Style: 99}}) },
		"cell with an unknown cluster":           func(t *Terminal) { t.store.main.grid.Put(0, 0, []grid.Cell{{Glyph: grid.FirstCluster + 99}}) },
		"control character":                      func(t *Terminal) { t.store.main.grid.Put(0, 0, []grid.Cell{{Glyph: '\n'}}) },
		"half a cluster":                         func(t *Terminal) { t.store.main.grid.Put(2, 2, []grid.Cell{{Glyph: 'a'}}) },
		"half a cluster on the alternate screen": func(t *Terminal) { t.store.alt.grid.Put(0, 0, []grid.Cell{{Glyph: grid.Tail}}) },
		"wide cluster not noted":                 func(t *Terminal) { t.store.main.rows[2].wide = 2 },
		"text not noted":                         func(t *Terminal) { t.store.main.rows[0].used = 1 },
		"row changed in the future":              func(t *Terminal) { t.store.main.rows[0].version = t.store.epoch + 1 },
		"doubled row continues":                  func(t *Terminal) { t.store.main.rows[0].size, t.store.main.rows[0].wrapped = 1, true },
		"extra row":                              func(t *Terminal) { t.store.main.rows = t.store.main.slab[:t.store.rows+1] },
		"scrollback with an unknown style": func(t *Terminal) {
			t.store.hist.Push([]grid.Cell{{Glyph: 'a', Style: 99}}, t.store.main.rowAttrs(4), nil)
		},
		"scrolled line from the future": func(t *Terminal) { t.store.scrolledVersions[1] = t.store.epoch + 1 },
		"strips for too few rows":       func(t *Terminal) { t.store.main.strips = t.store.main.strips[1:] },
		"change not marked":             func(t *Terminal) { t.store.main.grid.PutASCII(0, 0, []byte("x"), 0) },
		"row moved and not marked":      func(t *Terminal) { t.store.main.rows[0].version, t.store.reported.first = 0, t.store.reported.first+1 },
		"style freed in use":            func(t *Terminal) { t.store.styles.sweep(make([]bool, len(t.store.styles.pens))) },
		"style lost from its chain":     func(t *Terminal) { clear(t.store.styles.heads) },
		"styles miscounted":             func(t *Terminal) { t.store.styles.n++ },
		"style interned twice":          func(t *Terminal) { t.store.styles.addPen(t.store.styles.pens[1]) },
		"link lost":                     func(t *Terminal) { clear(t.store.links.ids) },
		"clusters miscounted":           func(t *Terminal) { t.store.clusters.bytes++ },
	} {
		term := newDamageable()
		term.writer.check()
		if invariants.Broken(func() { damage(term); term.writer.check() }) == "" {
			t.Errorf("%s: no check fails", name)
		}
	}
}
