package keymap

import (
	"slices"
	"testing"
)

func TestEveryKeyAfterThePrefixIsInAGroup(t *testing.T) {
	seen := map[Action]bool{}
	for _, g := range followers() {
		for _, r := range g.Rows {
			for _, a := range r.actions {
				if seen[a] {
					t.Errorf("%s is there twice", a)
				}
				seen[a] = true
				if len(DefaultBindings().KeysOf(a, ScopePrefix)) == 0 {
					t.Errorf("%s has no key after the prefix", a)
				}
			}
		}
	}
	for _, d := range Catalogue() {
		if len(DefaultBindings().KeysOf(d.Action, ScopePrefix)) > 0 && !seen[d.Action] {
			t.Errorf("%s is in no group of groups.go", d.Action)
		}
	}
}

func TestWhatNoGroupNamesComesLast(t *testing.T) {
	b, err := DefaultBindings().Rebind(map[Action][]string{ProcessNew: {"prefix N", "n"}, ScrollMode: {}, FocusLeft: {}})
	if err != nil {
		t.Fatal(err)
	}
	groups := b.Following(TipsHide)
	if last := groups[len(groups)-1]; last.Title != "More" || len(last.Rows) != 1 || last.Rows[0].Keys != "N" || last.Rows[0].Does != "new" {
		t.Errorf("the last group is %+v", last)
	}
	has := func(does string) string {
		for _, g := range groups {
			if i := slices.IndexFunc(g.Rows, func(r GroupRow) bool { return r.Does == does }); i >= 0 {
				return g.Rows[i].Keys
			}
		}
		return ""
	}
	if has("scroll, copy") != "" || has("hide the tips") != "" || has("focus") != "↓ ↑ →" || has("next, previous") != "n p" {
		t.Errorf("the groups are %+v", groups)
	}
}
