package ui

import (
	"strconv"

	"tandem/keys/keymap"
)

// keyOf is the first key that an action has in scopes; "" if it has none there.
func (m *model) keyOf(a keymap.Action, scopes ...keymap.Scope) string {
	for _, scope := range scopes {
		if key := first(m.o.Bindings.KeysOf(a, scope)); key != "" {
			return key
		}
	}
	return ""
}

// withKey is what is said of the key that an action has in scopes, behind what
// was said before; nothing if it has none. The key stands between the two parts.
func (m *model) withKey(before string, a keymap.Action, does string, scopes ...keymap.Scope) string {
	if key := m.keyOf(a, scopes...); key != "" {
		return before + key + does
	}
	return ""
}

func itoa(n int) string { return strconv.Itoa(n) }
