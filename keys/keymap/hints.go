package keymap

import (
	"cmp"
	"slices"
	"strings"

	"tandem/keys"
)

// A Hint is a key and its effect, shown in the status bar, in dialogs and on empty pages.
type Hint struct {
	Key    string // without the prefix after that was pressed
	Does   string
	Action Action // the action bound to the key; may be ""
}

// Hint returns the hint for an action, with its first key in scopes.
func (b Bindings) Hint(a Action, does string, scopes ...Scope) Hint {
	return Hint{Key: b.KeyOf(a, scopes...), Does: does, Action: a}
}

// PairHint returns one hint for two opposite actions in a scope, such as up and down.
func (b Bindings) PairHint(up, down Action, does string, scope Scope) Hint {
	keys := slices.DeleteFunc([]string{b.KeyOf(up, scope), b.KeyOf(down, scope)}, func(key string) bool { return key == "" })
	return Hint{Key: strings.Join(keys, " "), Does: does, Action: up}
}

// OwnKeys returns the hint for keys that a dialog handles itself. Keys that the user has bound to
// something else in scope are left out.
func (b Bindings) OwnKeys(scope Scope, does string, names ...string) Hint {
	resolver := NewResolver(b)
	var free []string
	for _, name := range names {
		if k, err := keys.Parse(name); err == nil && resolver.Resolve(k, scope).Kind == Unbound {
			free = append(free, k.Show())
		}
	}
	return Hint{Key: strings.Join(free, " "), Does: does}
}

// WithKey returns prefix, the action's key and suffix as one text. It returns "" if the action has
// no key in scopes.
func (b Bindings) WithKey(prefix string, a Action, suffix string, scopes ...Scope) string {
	if key := b.KeyOf(a, scopes...); key != "" {
		return prefix + key + suffix
	}
	return ""
}

// KeyOf returns an action's first key in scopes, or "".
func (b Bindings) KeyOf(a Action, scopes ...Scope) string {
	for _, scope := range scopes {
		if names := b.KeysOf(a, scope); len(names) > 0 {
			return names[0]
		}
	}
	return ""
}

// KeyOrName returns an action's first key in scopes, or its name if it has none.
func (b Bindings) KeyOrName(a Action, scopes ...Scope) string {
	return cmp.Or(b.KeyOf(a, scopes...), string(a))
}

// KeysOf lists an action's keys as in help: those in a scope or, for an empty scope, all.
func (b Bindings) KeysOf(a Action, scope Scope) []string {
	var names []string
	for _, bound := range b.keys[a] {
		if scope == "" || bound.scope == scope {
			names = append(names, b.displayName(bound))
		}
	}
	return names
}

// Hints lists the next useful keys in some scopes, most useful first; if pending, those that can
// follow the prefix.
func (b Bindings) Hints(pending bool, scopes ...Scope) []Hint {
	if pending {
		scopes = []Scope{ScopePrefix}
	}
	var found []rankedHint
	for _, scope := range scopes {
		found = append(found, b.hints[scope]...)
	}
	slices.SortStableFunc(found, func(x, y rankedHint) int { return cmp.Compare(x.rank, y.rank) })
	hints := make([]Hint, len(found))
	for i, f := range found {
		hints[i] = f.Hint
	}
	return hints
}

// A rankedHint is a Hint with its rank; 1 is the most useful.
type rankedHint struct {
	Hint
	rank int
}

// collectHints returns the hints of each scope. They are computed once because they are drawn in
// every frame.
func (b Bindings) collectHints() map[Scope][]rankedHint {
	all := map[Scope][]rankedHint{}
	for _, d := range b.definitions {
		if d.Rank == 0 {
			continue
		}
		listed := map[Scope]bool{}
		for _, bound := range b.keys[d.Action] {
			// One key per scope is enough.
			if !listed[bound.scope] {
				listed[bound.scope] = true
				all[bound.scope] = append(all[bound.scope], rankedHint{Hint{bound.key.Show(), d.Label, d.Action}, d.Rank})
			}
		}
	}
	return all
}
