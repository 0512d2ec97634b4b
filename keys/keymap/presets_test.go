package keymap

import (
	"slices"
	"strconv"
	"testing"
)

func TestPresetsDoNotConflict(t *testing.T) {
	for _, name := range Presets() {
		b, err := DefaultBindings().Preset(name, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, d := range b.definitions {
			if len(DefaultBindings().keys[d.Action]) > 0 && len(b.keys[d.Action]) == 0 {
				t.Errorf("%s leaves %s without a key", name, d.Action)
			}
		}
	}
}

// Users of tmux expect the prefix and a number to select a window.
func TestEveryPresetSelectsTabsAndViewsByNumber(t *testing.T) {
	for _, name := range Presets() {
		all, err := DefaultBindings().Preset(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		for mode, b := range map[string]Bindings{"direct keys": all, "no direct keys": all.WithoutDirect()} {
			for i := range NumberedTabs {
				if n := strconv.Itoa(i + 1); !b.Is(parseKey(t, n), ScopePrefix, TabSelect(i+1)) {
					t.Errorf("%s, %s: the prefix and %s do not select the tab", name, mode, n)
				}
			}
			for i, v := range Views() {
				n := strconv.Itoa(i + 1)
				if !b.Is(parseKey(t, "alt+"+n), ScopePrefix, v.Action) || !b.Is(parseKey(t, n), ScopeList, v.Action) {
					t.Errorf("%s, %s: %s has other keys", name, mode, v.Action)
				}
			}
		}
	}
}

// If a preset took a key of another action, nothing would report it, because the user has not made
// a mistake.
func TestPresetsTakeNoKeyAfterThePrefix(t *testing.T) {
	for _, name := range Presets() {
		b, err := DefaultBindings().Preset(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range Catalogue() {
			if len(DefaultBindings().KeysOf(d.Action, ScopePrefix)) > 0 && len(b.KeysOf(d.Action, ScopePrefix)) == 0 {
				t.Errorf("%s leaves %s without a key after the prefix", name, d.Action)
			}
		}
	}
}

func TestPresetsKeepListKeys(t *testing.T) {
	b, err := DefaultBindings().Preset("zellij", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key    string
		scope  Scope
		action Action
	}{
		{"ctrl+g", ScopeGlobal, Prefix}, {"alt+n", ScopeGlobal, SplitBeside}, {"d", ScopePrefix, SplitBelow},
		{"tab", ScopeList, FocusNext}, {"n", ScopeSessions, SessionNew}, {"alt+1", ScopeGlobal, ViewSessions},
	} {
		if !b.Is(parseKey(t, c.key), c.scope, c.action) {
			t.Errorf("%s in %s is not %s", c.key, c.scope, c.action)
		}
	}
}

func TestUserKeysOverridePresets(t *testing.T) {
	b, err := DefaultBindings().Preset("tmux", map[Action][]string{Prefix: {"ctrl+a"}, SessionKill: {"Q"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.KeysOf(SessionKill, ""); !slices.Equal(got, []string{"ctrl+a Q"}) {
		t.Errorf("session.kill has %q", got)
	}
	if b.Is(parseKey(t, "alt+1"), ScopeGlobal, ViewSessions) {
		t.Error("the preset of tmux takes alt+1 from programs")
	}
	if _, err := DefaultBindings().Preset("emacs", nil); err == nil {
		t.Error("an unknown preset was accepted")
	}
}

func TestGlobalKeyReplacesScopeKey(t *testing.T) {
	b, err := DefaultBindings().Rebind(map[Action][]string{Prefix: {"ctrl+f"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.KeysOf(ScrollPageDown, ScopeScroll); slices.Contains(got, "ctrl+f") || len(got) == 0 {
		t.Errorf("a page down is %q", got)
	}
	if b, err := DefaultBindings().Rebind(map[Action][]string{Prefix: {"alt+1"}}); err != nil || b.Is(parseKey(t, "alt+1"), ScopeGlobal, ViewSessions) {
		t.Errorf("alt+1 means two things everywhere (%v)", err)
	}
}

func TestEmacsCopyChangesOnlyScrollMode(t *testing.T) {
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
	if !emacs.Is(parseKey(t, "ctrl+space"), ScopeScroll, ScrollSelect) {
		t.Error("ctrl+space does not select")
	}
}
