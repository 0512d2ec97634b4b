package keymap

import (
	"slices"
	"testing"
)

func TestCatalogueKeepsGroupsTogether(t *testing.T) {
	type place struct {
		scope Scope
		group string
	}
	var order []place
	for _, d := range Catalogue() {
		if at := (place{d.Scope, d.Group}); len(order) == 0 || order[len(order)-1] != at {
			if slices.Contains(order, at) || d.Group == "" && slices.ContainsFunc(order, func(p place) bool { return p.scope == d.Scope }) {
				t.Errorf("%s comes after another group of %s", d.Action, d.Scope)
			}
			order = append(order, at)
		}
		if len(DefaultBindings().KeysOf(d.Action, ScopePrefix)) > 0 && (d.Scope != ScopePrefix || d.Group == "") {
			t.Errorf("%s has a key after the prefix, but no group there", d.Action)
		}
	}
}
func TestFollowingListsUngroupedKeysLast(t *testing.T) {
	b, err := DefaultBindings().Rebind(map[Action][]string{ProcessNew: {"prefix N", "n"}, ScrollMode: {}, FocusLeft: {}})
	if err != nil {
		t.Fatal(err)
	}
	groups := b.Following(func(a Action) bool { return a != TipsHide })
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
