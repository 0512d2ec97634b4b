package panes

import "tandem/keys/keymap"

// KeyOf is the first key that an action has in scopes; "" if it has none there.
func KeyOf(b keymap.Bindings, a keymap.Action, scopes ...keymap.Scope) string {
	for _, scope := range scopes {
		if names := b.KeysOf(a, scope); len(names) > 0 {
			return names[0]
		}
	}
	return ""
}

// WithKey is what is said of the key that an action has in scopes, behind what
// was said before; nothing if it has none. The key stands between the two parts.
func WithKey(b keymap.Bindings, before string, a keymap.Action, does string, scopes ...keymap.Scope) string {
	if key := KeyOf(b, a, scopes...); key != "" {
		return before + key + does
	}
	return ""
}

// HintIn is the hint of an action in the first of scopes that has a key for it.
func HintIn(b keymap.Bindings, a keymap.Action, does string, scopes ...keymap.Scope) Hint {
	return Hint{Key: KeyOf(b, a, scopes...), Does: does, Action: string(a)}
}

// Chooses is the hint of two actions in a scope that go up and down.
func Chooses(b keymap.Bindings, scope keymap.Scope, up, down keymap.Action, does string) Hint {
	h := Hint{Key: KeyOf(b, up, scope), Does: does}
	if key := KeyOf(b, down, scope); h.Key == "" {
		h.Key = key
	} else if key != "" {
		h.Key += " " + key
	}
	return h
}
