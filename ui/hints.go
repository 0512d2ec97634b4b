package ui

import (
	"strconv"

	"tandem/keys/keymap"
	"tandem/panes/widget"
	"tandem/ui/overlay"
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

// hint is the hint of an action in a scope.
func (m *model) hint(scope keymap.Scope, a keymap.Action, does string) widget.Hint {
	return overlay.Hint(m.o.Bindings, scope, a, does)
}

func itoa(n int) string { return strconv.Itoa(n) }
