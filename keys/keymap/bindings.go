package keymap

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tandem/keys"
)

// Bindings map keys to actions. They are immutable: Rebind and WithoutDirect return new ones. The
// zero value has no bindings.
type Bindings struct {
	definitions []Definition
	keys        map[Action][]binding
	lookup      map[scopedChord]Action
	hints       map[Scope][]rankedHint
	replaced    []Replaced
}

// A Replaced is a key of an action that Rebind gave to another one.
type Replaced struct {
	Key    string // as in the configuration, with its scope
	Former Action
	Now    Action
}

// Replaced lists the keys that actions have lost to keys set by the user.
func (b Bindings) Replaced() []Replaced { return b.replaced }

// A binding is one key of an action.
type binding struct {
	scope Scope
	key   keys.Key
}

// A scopedChord is a key in a scope.
type scopedChord struct {
	scope Scope
	chord keys.Chord
}

// DefaultBindings returns the bindings of the catalogue.
func DefaultBindings() Bindings {
	b, err := newBindings(Catalogue())
	if err != nil {
		panic(err) // the catalogue is a constant, checked by tests
	}
	return b
}

// Rebind returns bindings with other keys for some actions, each "key" or "scope key"; an empty
// list removes all keys of an action. Other actions keep theirs, except for keys that now mean
// something else; the prefix is moved only by its own entry. An error names an unknown action, scope or
// key, or a key given two meanings.
func (b Bindings) Rebind(changes map[Action][]string) (Bindings, error) {
	definitions := slices.Clone(b.definitions)
	// Sorted, so that the same mistake is always reported first.
	for _, action := range slices.Sorted(maps.Keys(changes)) {
		i := slices.IndexFunc(definitions, func(d Definition) bool { return d.Action == action })
		if i < 0 {
			return Bindings{}, fmt.Errorf("bind %q: no action has this name", action)
		}
		definitions[i].Keys = slices.Clone(changes[action])
	}
	replaced := dropReplaced(definitions, changes)
	after, err := newBindings(definitions)
	if err != nil {
		return Bindings{}, err
	}
	after.replaced = slices.Concat(b.replaced, replaced)
	return after, nil
}

// dropReplaced removes the keys to which changes gives another meaning from all other actions
// except the prefix. It returns the removed keys.
func dropReplaced(definitions []Definition, changes map[Action][]string) (replaced []Replaced) {
	taken := map[scopedChord]Action{} // by all scopes in which the key would have two meanings
	for _, d := range definitions {
		for _, name := range changes[d.Action] {
			bound, err := parseBinding(name, d.Scope)
			if err != nil {
				continue
			}
			for _, chain := range Chains() {
				if slices.Contains(chain, bound.scope) {
					for _, scope := range chain {
						taken[scopedChord{scope, bound.key.Chord()}] = d.Action
					}
				}
			}
		}
	}
	for i, d := range definitions {
		if _, named := changes[d.Action]; named || len(taken) == 0 || d.Action == Prefix {
			continue
		}
		definitions[i].Keys = slices.DeleteFunc(slices.Clone(d.Keys), func(name string) bool {
			bound, err := parseBinding(name, d.Scope)
			if err != nil {
				return false
			}
			now, lost := taken[scopedChord{bound.scope, bound.key.Chord()}]
			if lost {
				replaced = append(replaced, Replaced{string(bound.scope) + " " + bound.key.String(), d.Action, now})
			}
			return lost
		})
	}
	return replaced
}

// WithoutDirect returns bindings without the keys that work in terminals without the prefix: alt+1
// … alt+4 and alt+arrows by default.
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
		panic(err) // fewer keys cannot conflict
	}
	fewer.replaced = b.replaced
	return fewer
}

func newBindings(definitions []Definition) (Bindings, error) {
	b := Bindings{definitions: definitions, keys: map[Action][]binding{}, lookup: map[scopedChord]Action{}}
	chains := Chains()
	for _, d := range definitions {
		for _, name := range d.Keys {
			bound, err := parseBinding(name, d.Scope)
			if err != nil {
				return Bindings{}, fmt.Errorf("bind %s: %w", d.Action, err)
			}
			if err := b.add(d.Action, bound, chains); err != nil {
				return Bindings{}, err
			}
		}
	}
	if len(b.keys[Prefix]) == 0 {
		return Bindings{}, errors.New("bind prefix: it needs a key, because it is the only way out of a terminal")
	}
	b.hints = b.collectHints()
	return b, nil
}

// parseBinding parses "key" or "scope key".
func parseBinding(name string, home Scope) (binding, error) {
	scope, key := home, name
	if before, after, ok := strings.Cut(name, " "); ok && after != "" {
		scope, key = Scope(before), strings.TrimSpace(after)
		if !scope.isKnown() {
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

func (s Scope) isKnown() bool {
	return slices.ContainsFunc(listScopes(), func(info scopeInfo) bool { return info.scope == s })
}

// add binds a key, unless it has another meaning in a scope that one of the chains looks up
// together with its own.
func (b Bindings) add(action Action, bound binding, chains [][]Scope) error {
	c := bound.key.Chord()
	for _, chain := range chains {
		if !slices.Contains(chain, bound.scope) {
			continue
		}
		for _, scope := range chain {
			other, taken := b.lookup[scopedChord{scope, c}]
			// The same action may have the key in several scopes of a chain.
			if taken && other != action {
				return fmt.Errorf("bind %s: %s in %q is already %s in %q", action, bound.key, bound.scope, other, scope)
			}
		}
	}
	b.lookup[scopedChord{bound.scope, c}] = action
	b.keys[action] = append(b.keys[action], bound)
	return nil
}

// find looks up a key in one scope.
func (b Bindings) find(k keys.Key, scope Scope) (Action, bool) {
	if a, ok := b.lookup[scopedChord{scope, k.Chord()}]; ok {
		return a, true
	}
	// On a non-Latin layout, use the key at the same position.
	if c, ok := k.LayoutChord(); ok {
		if a, ok := b.lookup[scopedChord{scope, c}]; ok {
			return a, true
		}
	}
	// Unless bound itself, the keypad's enter works like enter.
	if k.Code == keys.KPEnter {
		k.Code = keys.Enter
		return b.find(k, scope)
	}
	return "", false
}

// PrefixKeys returns the keys of the prefix.
func (b Bindings) PrefixKeys() []keys.Key {
	var found []keys.Key
	for _, bound := range b.keys[Prefix] {
		found = append(found, bound.key)
	}
	return found
}

// Is reports whether k is a key of an action in a scope, whatever its encoding and layout.
func (b Bindings) Is(k keys.Key, scope Scope, action Action) bool {
	found, ok := b.find(k, scope)
	return ok && found == action
}
