//go:build invariants

package layout

import (
	"testing"

	"tandem/engine/base/invariants"
	"tandem/panes/kit/look"
)

func TestCheckPanicsOnDamagedTabs(t *testing.T) {
	for name, damage := range map[string]func(t *Tabs){
		"session in two places":         func(t *Tabs) { t.Float.Focus.ID = "a" },
		"pane in two leaves":            func(t *Tabs) { t.All[0].Root.A.ID = t.All[0].Root.B.ID },
		"leaf with halves":              func(t *Tabs) { t.All[0].Root.A.B = t.All[0].Root },
		"split with one half":           func(t *Tabs) { t.All[0].Root.B = nil },
		"half of another split":         func(t *Tabs) { t.All[0].Root.A.parent = nil },
		"half that has everything":      func(t *Tabs) { t.All[0].Root.Share = ShareUnit },
		"focus in another tab":          func(t *Tabs) { t.All[0].Focus = t.Float.Focus },
		"tab without a tree":            func(t *Tabs) { t.All[1].Root = nil },
		"tab of a part of a tree":       func(t *Tabs) { t.All[0].Root = t.All[0].Root.A },
		"tab listed twice":              func(t *Tabs) { t.All = append(t.All, t.All[0]) },
		"floating tab among the others": func(t *Tabs) { t.All = append(t.All, t.Float) },
		"tab shown that is gone":        func(t *Tabs) { t.Current, t.Under = &Tab{Root: NewLeaf("z")}, nil },
		"nothing below the floating":    func(t *Tabs) { t.Under = nil },
		"something below no floating":   func(t *Tabs) { t.Current = t.All[0] },
	} {
		tabs := shown(layoutOf("(a|b) c ~d"))
		tabs.Show(tabs.All[1], tabs.All[1].Focus)
		tabs.Show(tabs.Float, tabs.Float.Focus)
		Check(tabs)
		if invariants.Broken(func() { damage(tabs); Check(tabs) }) == "" {
			t.Errorf("%s: no check fails", name)
		}
	}
}

func TestCheckPanicsOnHalvesNotTiling(t *testing.T) {
	for name, damage := range map[string]func(root *Node){
		"gap":                 func(root *Node) { root.B.Rect.X++ },
		"overlap":             func(root *Node) { root.A.Rect.W++ },
		"half outside":        func(root *Node) { root.B.Rect.W++ },
		"halves of two sizes": func(root *Node) { root.A.Rect.H-- },
		"half too small":      func(root *Node) { root.A.Rect.W, root.B.Rect = 1, look.Rect{X: 2, W: 79, H: 20} },
	} {
		root, _, _, _, _ := fourPanes()
		root.checkHalves()
		if invariants.Broken(func() { damage(root); root.checkHalves() }) == "" {
			t.Errorf("%s: no check fails", name)
		}
	}
}
