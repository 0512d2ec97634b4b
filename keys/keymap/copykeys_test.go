package keymap

import (
	"testing"

	"tandem/keys"
)

func TestEmacsKeysOfCopyModeLeaveOtherPlacesAlone(t *testing.T) {
	vi, emacs := DefaultBindings(), DefaultBindings().EmacsCopy()
	for _, d := range Catalogue() {
		if d.Scope == ScopeScroll && len(emacs.KeysOf(d.Action, ScopeScroll)) == 0 {
			t.Errorf("%s has no key", d.Action)
		}
		for _, scope := range []Scope{ScopeLog, ScopeGlobal, ScopePrefix, ScopeList} {
			if a, b := vi.KeysOf(d.Action, scope), emacs.KeysOf(d.Action, scope); len(a) != len(b) {
				t.Errorf("%s in %s: %v became %v", d.Action, scope, a, b)
			}
		}
	}
	k, _ := keys.Parse("ctrl+space")
	if !emacs.Is(k, ScopeScroll, ScrollSelect) {
		t.Error("ctrl+space does not select")
	}
}
