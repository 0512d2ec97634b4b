package keymap

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tandem/keys"
)

// Bindings say what keys mean. The value is never changed once it is made;
// Rebind and WithoutDirect return others. The zero value binds nothing.
type Bindings struct {
	definitions []Definition
	keys        map[Action][]binding
	lookup      map[place]Action
	hints       map[Scope][]rankedHint
}

// A binding is one key of an action.
type binding struct {
	scope Scope
	key   keys.Key
}

// A place is a key in a scope.
type place struct {
	scope Scope
	chord keys.Chord
}

// DefaultBindings are those of the catalogue.
func DefaultBindings() Bindings {
	b, err := newBindings(Catalogue())
	if err != nil {
		panic(err) // the catalogue is data of this package, held by its tests
	}
	return b
}

// Rebind gives actions other keys, each "key" or "scope key"; an empty list
// leaves an action without. Actions that are not named keep theirs. It fails,
// naming what is wrong, for an unknown action, scope or key, and when a key
// would mean two things at once. A key that is given a meaning everywhere takes
// it from actions that are not named and have it in one place.
func (b Bindings) Rebind(changes map[Action][]string) (Bindings, error) {
	definitions := slices.Clone(b.definitions)
	for _, action := range slices.Sorted(maps.Keys(changes)) {
		i := slices.IndexFunc(definitions, func(d Definition) bool { return d.Action == action })
		if i < 0 {
			return Bindings{}, fmt.Errorf("bind %q: no action has this name", action)
		}
		definitions[i].Keys = slices.Clone(changes[action])
	}
	giveWay(definitions, changes)
	return newBindings(definitions)
}

// giveWay takes keys that changes bind everywhere from the other actions.
func giveWay(definitions []Definition, changes map[Action][]string) {
	taken := map[keys.Chord]bool{}
	for _, d := range definitions {
		for _, name := range changes[d.Action] {
			if bound, err := parseBinding(name, d.Scope); err == nil && bound.scope == ScopeGlobal {
				taken[bound.key.Chord()] = true
			}
		}
	}
	for i, d := range definitions {
		if _, named := changes[d.Action]; named || len(taken) == 0 {
			continue
		}
		definitions[i].Keys = slices.DeleteFunc(slices.Clone(d.Keys), func(name string) bool {
			bound, err := parseBinding(name, d.Scope)
			return err == nil && bound.scope.belowGlobal() && taken[bound.key.Chord()]
		})
	}
}

// belowGlobal reports whether keys of the scope are looked up before the global
// ones.
func (s Scope) belowGlobal() bool {
	return s != ScopeGlobal && slices.ContainsFunc(Chains(), func(chain []Scope) bool {
		return slices.Contains(chain, s) && slices.Contains(chain, ScopeGlobal)
	})
}

// WithoutDirect drops the keys that are taken from programs without the
// prefix: alt+1 … alt+4 and alt+arrows by default.
func (b Bindings) WithoutDirect() Bindings {
	definitions := slices.Clone(b.definitions)
	for i, d := range definitions {
		if d.Action == Prefix {
			continue
		}
		definitions[i].Keys = slices.DeleteFunc(slices.Clone(d.Keys), func(name string) bool {
			bound, err := parseBinding(name, d.Scope)
			return err == nil && bound.scope == ScopeGlobal
		})
	}
	fewer, err := newBindings(definitions)
	if err != nil {
		panic(err) // fewer keys cannot clash
	}
	return fewer
}

func newBindings(definitions []Definition) (Bindings, error) {
	b := Bindings{definitions: definitions, keys: map[Action][]binding{}, lookup: map[place]Action{}}
	for _, d := range definitions {
		for _, name := range d.Keys {
			bound, err := parseBinding(name, d.Scope)
			if err != nil {
				return Bindings{}, fmt.Errorf("bind %s: %w", d.Action, err)
			}
			if err := b.add(d.Action, bound); err != nil {
				return Bindings{}, err
			}
		}
	}
	if len(b.keys[Prefix]) == 0 {
		return Bindings{}, errors.New("bind prefix: it needs a key, because it is the only way out of a terminal")
	}
	b.hints = b.hintsOf()
	return b, nil
}

// parseBinding reads "key" or "scope key".
func parseBinding(name string, home Scope) (binding, error) {
	scope, key := home, name
	if before, after, ok := strings.Cut(name, " "); ok && after != "" {
		scope, key = Scope(before), strings.TrimSpace(after)
		if !scope.known() {
			return binding{}, fmt.Errorf("key %q: no scope is named %q", name, before)
		}
	}
	k, err := keys.Parse(key)
	if err != nil {
		return binding{}, err
	}
	if scope == ScopeGlobal && k.Text != "" {
		return binding{}, fmt.Errorf("key %q: it could no longer be typed in a terminal", name)
	}
	return binding{scope, k}, nil
}

func (s Scope) known() bool { return scopeTitles()[s] != "" }

// add binds a key unless it has another meaning in a chain of the scope.
func (b Bindings) add(action Action, bound binding) error {
	c := bound.key.Chord()
	for _, chain := range Chains() {
		if !slices.Contains(chain, bound.scope) {
			continue
		}
		for _, scope := range chain {
			other, taken := b.lookup[place{scope, c}]
			if taken && other != action {
				return fmt.Errorf("bind %s: %s in %q is already %s in %q", action, bound.key, bound.scope, other, scope)
			}
		}
	}
	b.lookup[place{bound.scope, c}] = action
	b.keys[action] = append(b.keys[action], bound)
	return nil
}

// find looks a key up in one scope.
func (b Bindings) find(k keys.Key, scope Scope) (Action, bool) {
	if a, ok := b.lookup[place{scope, k.Chord()}]; ok {
		return a, true
	}
	if c, ok := k.LayoutChord(); ok {
		if a, ok := b.lookup[place{scope, c}]; ok {
			return a, true
		}
	}
	if k.Code == keys.KPEnter {
		k.Code = keys.Enter
		return b.find(k, scope)
	}
	return "", false
}

// PrefixKeys are the keys of the prefix.
func (b Bindings) PrefixKeys() []keys.Key {
	var found []keys.Key
	for _, bound := range b.keys[Prefix] {
		found = append(found, bound.key)
	}
	return found
}

// Is reports whether k is a key of an action in a scope, whichever encoding
// and layout it came with.
func (b Bindings) Is(k keys.Key, scope Scope, action Action) bool {
	found, ok := b.find(k, scope)
	return ok && found == action
}
