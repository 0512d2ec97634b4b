package panes

import "tandem/keys/keymap"

// KeyOf returns the first key bound to an action in scopes, or "".
func KeyOf(b keymap.Bindings, a keymap.Action, scopes ...keymap.Scope) string {
	for _, scope := range scopes {
		if names := b.KeysOf(a, scope); len(names) > 0 {
			return names[0]
		}
	}
	return ""
}

// WithKey returns before, the key of an action and does as one text, or "" if the action has no key
// in scopes.
func WithKey(b keymap.Bindings, before string, a keymap.Action, does string, scopes ...keymap.Scope) string {
	if key := KeyOf(b, a, scopes...); key != "" {
		return before + key + does
	}
	return ""
}

// HintFor returns the hint for an action, with its first key in scopes.
func HintFor(b keymap.Bindings, a keymap.Action, does string, scopes ...keymap.Scope) Hint {
	return Hint{Key: KeyOf(b, a, scopes...), Does: does, Action: string(a)}
}

// UpDownHint returns one hint for two actions, moving up and down.
func UpDownHint(b keymap.Bindings, scope keymap.Scope, up, down keymap.Action, does string) Hint {
	h := Hint{Key: KeyOf(b, up, scope), Does: does}
	if key := KeyOf(b, down, scope); h.Key == "" {
		h.Key = key
	} else if key != "" {
		h.Key += " " + key
	}
	return h
}
