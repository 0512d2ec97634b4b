//go:build invariants

package vt

import (
	"testing"

	"tandem/engine/invariants"
	"tandem/engine/vt/grid"
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
		"cursor past the last column":            func(t *Terminal) { t.cur.x = t.cols },
		"cursor below the last row":              func(t *Terminal) { t.cur.y = t.rows },
		"wrap pending between margins":           func(t *Terminal) { t.mode.leftRight, t.cur.pending = true, true },
		"saved cursor outside":                   func(t *Terminal) { t.main.saved.x = -1 },
		"margins crossed":                        func(t *Terminal) { t.region.Top, t.region.Bottom = 3, 2 },
		"margins outside":                        func(t *Terminal) { t.region.Bottom = t.rows },
		"side margins without their mode":        func(t *Terminal) { t.region.Left = 2 },
		"too few tab stops":                      func(t *Terminal) { t.tabs = t.tabs[1:] },
		"pen with the wrong style":               func(t *Terminal) { t.cur.pen.fg++ },
		"pen with an unknown link":               func(t *Terminal) { t.cur.pen.link, t.penChanged = 99, true },
		"cell with an unknown style":             func(t *Terminal) { t.main.grid.Put(0, 0, []grid.Cell{{Glyph: 'a', Style: 99}}) },
		"cell with an unknown cluster":           func(t *Terminal) { t.main.grid.Put(0, 0, []grid.Cell{{Glyph: grid.FirstCluster + 99}}) },
		"control character":                      func(t *Terminal) { t.main.grid.Put(0, 0, []grid.Cell{{Glyph: '\n'}}) },
		"half a cluster":                         func(t *Terminal) { t.main.grid.Put(2, 2, []grid.Cell{{Glyph: 'a'}}) },
		"half a cluster on the alternate screen": func(t *Terminal) { t.alt.grid.Put(0, 0, []grid.Cell{{Glyph: grid.Tail}}) },
		"wide cluster not noted":                 func(t *Terminal) { t.main.rows[2].wide = 2 },
		"text not noted":                         func(t *Terminal) { t.main.rows[0].used = 1 },
		"row changed in the future":              func(t *Terminal) { t.main.rows[0].version = t.epoch + 1 },
		"doubled row continues":                  func(t *Terminal) { t.main.rows[0].size, t.main.rows[0].wrapped = 1, true },
		"extra row":                              func(t *Terminal) { t.main.rows = t.main.slab[:t.rows+1] },
		"scrollback with an unknown style":       func(t *Terminal) { t.hist.Push([]grid.Cell{{Glyph: 'a', Style: 99}}, t.main.rowAttrs(4), nil) },
		"scrolled line from the future":          func(t *Terminal) { t.scrolledVersions[1] = t.epoch + 1 },
		"strips for too few rows":                func(t *Terminal) { t.main.strips = t.main.strips[1:] },
		"change not marked":                      func(t *Terminal) { t.main.grid.PutASCII(0, 0, []byte("x"), 0) },
		"row moved and not marked":               func(t *Terminal) { t.main.rows[0].version, t.reported.first = 0, t.reported.first+1 },
		"style freed in use":                     func(t *Terminal) { t.styles.sweep(make([]bool, len(t.styles.pens))) },
		"style lost from its chain":              func(t *Terminal) { clear(t.styles.heads) },
		"styles miscounted":                      func(t *Terminal) { t.styles.n++ },
		"style interned twice":                   func(t *Terminal) { t.styles.addPen(t.styles.pens[1]) },
		"link lost":                              func(t *Terminal) { clear(t.links.ids) },
		"clusters miscounted":                    func(t *Terminal) { t.clusters.bytes++ },
	} {
		term := newDamageable()
		term.check()
		if invariants.Broken(func() { damage(term); term.check() }) == "" {
			t.Errorf("%s: no check fails", name)
		}
	}
}
