package keymap

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/keys"
)

func parseKey(t testing.TB, name string) keys.Key {
	t.Helper()
	k, err := keys.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestDefaultBindingsDoNotConflict(t *testing.T) {
	if _, err := newBindings(Catalogue()); err != nil {
		t.Fatal(err)
	}
}

func TestCatalogueDescribesEveryActionOnce(t *testing.T) {
	seen := map[Action]bool{}
	for _, d := range Catalogue() {
		if seen[d.Action] {
			t.Errorf("%s is defined twice", d.Action)
		}
		seen[d.Action] = true
		if d.Help == "" || strings.ContainsAny(d.Help, "\n") || len(d.Help) > 60 {
			t.Errorf("%s: help %q is no short line", d.Action, d.Help)
		}
		if len(d.Keys) == 0 || !d.Scope.isKnown() {
			t.Errorf("%s has no key or scope", d.Action)
		}
		if d.Rank > 0 && d.Label == "" {
			t.Errorf("%s is in the status bar without a label", d.Action)
		}
		for word := range strings.FieldsSeq(d.Also) {
			if strings.Contains(" "+d.Help+" ", " "+word+" ") {
				t.Errorf("%s: help has the word %q", d.Action, word)
			}
		}
	}
}

func TestRebindChangesOnlyNamedActions(t *testing.T) {
	before := DefaultBindings()
	after, err := before.Rebind(map[Action][]string{Prefix: {"ctrl+a"}, SessionNew: {"t", "sessions N"}})
	if err != nil {
		t.Fatal(err)
	}
	if !after.Is(parseKey(t, "ctrl+a"), ScopeGlobal, Prefix) || after.Is(parseKey(t, "ctrl+b"), ScopeGlobal, Prefix) {
		t.Error("the prefix did not move to ctrl+a")
	}
	if !after.Is(parseKey(t, "t"), ScopePrefix, SessionNew) || !after.Is(parseKey(t, "N"), ScopeSessions, SessionNew) {
		t.Error("session.new did not move")
	}
	if !after.Is(parseKey(t, "z"), ScopePrefix, PaneZoom) {
		t.Error("pane.zoom lost its key")
	}
	if !before.Is(parseKey(t, "ctrl+b"), ScopeGlobal, Prefix) {
		t.Error("rebinding changed the bindings it started from")
	}
}

func TestRebindRejectsUnusableKeys(t *testing.T) {
	cases := []struct {
		change map[Action][]string
		says   string
	}{
		{map[Action][]string{"fly": {"f"}}, "no action"},
		{map[Action][]string{PaneZoom: {"hyper+"}}, "hyper+"},
		{map[Action][]string{PaneZoom: {"attic z"}}, "no scope"},
		{map[Action][]string{PaneZoom: {"c"}, SessionNew: {"c"}}, "already session.new"},
		{map[Action][]string{SessionNew: {"sessions q"}, Quit: {"q"}}, "already"},
		{map[Action][]string{Quit: {"ctrl+b"}}, "already prefix"},
		{map[Action][]string{SessionNew: {"global ctrl+b"}}, "already prefix"},
		{map[Action][]string{ViewFiles: {"global x"}}, "no longer be typed"},
		{map[Action][]string{Prefix: {}}, "needs a key"},
	}
	for _, c := range cases {
		_, err := DefaultBindings().Rebind(c.change)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("Rebind(%v) = %v, want an error with %q", c.change, err, c.says)
		}
	}
}

func TestKeysOfThePrefixAreTakenOnlyByItsOwnEntry(t *testing.T) {
	b, err := DefaultBindings().Rebind(map[Action][]string{Prefix: {"ctrl+b", "ctrl+a"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Rebind(map[Action][]string{SessionNew: {"global ctrl+b"}}); err == nil || !strings.Contains(err.Error(), "already prefix") {
		t.Errorf("a key of the prefix was taken: %v", err)
	}
	b, err = b.Rebind(map[Action][]string{Prefix: {"ctrl+a"}, SessionNew: {"global ctrl+b"}})
	if err != nil || !b.Is(parseKey(t, "ctrl+b"), ScopeGlobal, SessionNew) {
		t.Errorf("a key that the prefix gave up was not bound: %v", err)
	}
}

func TestUserKeysReplaceDefaults(t *testing.T) {
	b, err := DefaultBindings().Preset("tmux", map[Action][]string{
		SessionNew: {"2", "sessions j"}, Filter: {"x"}, // tab.2, move.down in lists; session.kill and process.stop
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key    string
		scope  Scope
		action Action
	}{
		{"2", ScopePrefix, SessionNew}, {"3", ScopePrefix, TabSelect(3)}, {"j", ScopeSessions, SessionNew}, {"down", ScopeList, MoveDown},
		{"x", ScopeList, Filter}, {"x", ScopePrefix, SessionKill}, {"&", ScopePrefix, SessionKill},
	} {
		if !b.Is(parseKey(t, c.key), c.scope, c.action) {
			t.Errorf("%s in %s is not %s", c.key, c.scope, c.action)
		}
	}
	got := map[Replaced]bool{}
	for _, r := range b.WithoutDirect().Replaced() {
		got[r] = true
	}
	want := map[Replaced]bool{
		{"prefix 2", TabSelect(2), SessionNew}: true, {"list j", MoveDown, SessionNew}: true,
		{"sessions x", SessionKill, Filter}: true, {"processes x", ProcessStop, Filter}: true, {"files x", FilesRun, Filter}: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWithoutDirectKeepsOnlyPrefixKeys(t *testing.T) {
	b := DefaultBindings()
	scopes := []Scope{ScopeTerminal, ScopeGlobal}
	if got := NewResolver(b).Resolve(parseKey(t, "alt+2"), scopes...); got.Action != ViewProcesses {
		t.Errorf("alt+2 is %+v", got)
	}
	r := NewResolver(b.WithoutDirect())
	for _, name := range []string{"alt+2", "alt+left"} {
		if got := r.Resolve(parseKey(t, name), scopes...); got.Kind != Unbound {
			t.Errorf("%s without direct keys is %+v", name, got)
		}
	}
	if got := r.Resolve(parseKey(t, "ctrl+b"), scopes...); got.Kind != Pending {
		t.Errorf("the prefix without direct keys is %+v", got)
	}
	if got := r.Resolve(parseKey(t, "alt+2"), scopes...); got.Action != ViewProcesses {
		t.Errorf("prefix alt+2 without direct keys is %+v", got)
	}
}

func TestResolverMapsKeysByScope(t *testing.T) {
	terminal := []Scope{ScopeTerminal, ScopeGlobal}
	list := []Scope{ScopeSessions, ScopeList, ScopeGlobal}
	type step struct {
		key    string
		scopes []Scope
		want   Outcome
	}
	bound := func(a Action, s Scope) Outcome { return Outcome{Bound, a, s} }
	cases := map[string][]step{
		"keys go to the program": {{"a", terminal, Outcome{}}, {"ctrl+c", terminal, Outcome{}}, {"?", terminal, Outcome{}}},
		"a chord is an action":   {{"ctrl+b", terminal, Outcome{Kind: Pending}}, {"c", terminal, bound(SessionNew, ScopePrefix)}, {"c", terminal, Outcome{}}},
		"twice goes through":     {{"ctrl+b", terminal, Outcome{Kind: Pending}}, {"ctrl+b", terminal, Outcome{}}, {"c", terminal, Outcome{}}},
		"nonsense is dropped":    {{"ctrl+b", terminal, Outcome{Kind: Pending}}, {"f9", terminal, Outcome{Kind: Dropped}}, {"c", terminal, Outcome{}}},
		"inner scope first":      {{"n", list, bound(SessionNew, ScopeSessions)}, {"j", list, bound(MoveDown, ScopeList)}, {"alt+1", list, bound(ViewSessions, ScopeGlobal)}},
		"shifted letters":        {{"G", list, bound(MoveLast, ScopeList)}, {"g", list, bound(MoveFirst, ScopeList)}},
		"keypad enter":           {{"kpenter", list, bound(Open, ScopeList)}},
		"a prompt has no prefix": {{"ctrl+b", []Scope{ScopePrompt}, Outcome{}}, {"esc", []Scope{ScopePrompt}, bound(Cancel, ScopePrompt)}},
	}
	for name, steps := range cases {
		r := NewResolver(DefaultBindings())
		for _, s := range steps {
			if got := r.Resolve(parseKey(t, s.key), s.scopes...); got != s.want {
				t.Errorf("%s: %s is %+v, want %+v", name, s.key, got, s.want)
			}
		}
	}
}

func TestReleasesAndModifiersDoNotCancelPrefix(t *testing.T) {
	r := NewResolver(DefaultBindings())
	const leftShift = 57441 // in the kitty protocol
	scopes := []Scope{ScopeTerminal, ScopeGlobal}
	for _, k := range []keys.Key{
		{Code: 'b', Mods: keys.Ctrl},
		{Code: 'b', Mods: keys.Ctrl, Phase: keys.Repeat},
		{Code: 'b', Mods: keys.Ctrl, Phase: keys.Release},
		{Code: leftShift, Mods: keys.Shift},
	} {
		if got := r.Resolve(k, scopes...); got.Kind != Pending {
			t.Fatalf("%+v is %+v, want pending", k, got)
		}
	}
	if got := r.Resolve(keys.Key{Code: '5', Shifted: '%', Mods: keys.Shift, Text: "%"}, scopes...); got.Action != SplitBeside {
		t.Fatalf("shift+5 is %+v, want split.beside", got)
	}
}

func TestNonLatinKeysAreMatchedByPosition(t *testing.T) {
	r := NewResolver(DefaultBindings())
	if got := r.Resolve(keys.Key{Code: 'и', Base: 'b', Mods: keys.Ctrl}, ScopeTerminal, ScopeGlobal); got.Kind != Pending {
		t.Fatalf("ctrl+и is %+v, want the prefix", got)
	}
	if got := r.Resolve(keys.Key{Code: 'с', Base: 'c', Text: "с"}, ScopeTerminal, ScopeGlobal); got.Action != SessionNew {
		t.Fatalf("с is %+v, want session.new", got)
	}
}

func TestHelpListsKeysOfScopes(t *testing.T) {
	sections := DefaultBindings().Help(ScopeSessions, ScopeList, ScopeGlobal)
	var titles []string
	for _, s := range sections {
		titles = append(titles, s.Title)
		for _, row := range s.Rows {
			if row.Action == SessionNew && s.Scope == ScopePrefix && row.KeyText() != "ctrl+b c" {
				t.Errorf("help shows session.new as %q", row.KeyText())
			}
		}
	}
	if diff := cmp.Diff([]string{"Sessions", "Lists", "Everywhere", "After the prefix"}, titles); diff != "" {
		t.Error(diff)
	}
}

func TestHintsListMostUsefulKeys(t *testing.T) {
	b := DefaultBindings()
	if got := b.Hints(false, ScopeTerminal, ScopeGlobal); !cmp.Equal(got, []Hint{{"ctrl+b", "commands", Prefix}}) {
		t.Errorf("in a terminal: %v", got)
	}
	pending := b.Hints(true, ScopeTerminal, ScopeGlobal)
	if len(pending) < 5 || pending[0] != (Hint{"c", "new", SessionNew}) {
		t.Errorf("after the prefix: %v", pending)
	}
	if got := b.Hints(false, ScopeDialog); !cmp.Equal(got, []Hint{{"y", "accept", Accept}, {"n", "cancel", Cancel}}) {
		t.Errorf("in a question: %v", got)
	}
}
