// Package overlay holds dialogs that are drawn over the dashboard and have the
// keyboard while they are open: questions, prompts, choices, forms, the keys and
// what agents ask. They are plain structs over bubbles' components; what they lead
// to is told them as functions. They know no pane and no engine.
package overlay

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/widget"
)

// An Overlay is a dialog. Besides, it may have the methods Mouse(Host, keys.Mouse)
// tea.Cmd, for events inside its frame, in cells from its first row, Dismiss(Host),
// for a click beside it, Low() bool, which has it drawn at the bottom, Live() bool,
// if what is behind it shows its effect and so is not dimmed, and Busy() bool, while
// it waits for something.
type Overlay interface {
	// Scopes are where its keys are looked up.
	Scopes() []keymap.Scope
	// Do is what a bound key means.
	Do(Host, keymap.Action) tea.Cmd
	// Type takes a key that is not bound.
	Type(Host, tea.KeyPressMsg) tea.Cmd
	Paste(Host, string) tea.Cmd
	// Draw gives the rows inside its frame, all width cells wide, for a screen of
	// w by height cells; x is the column of the cursor in row y, or negative for
	// none.
	Draw(h Host, w, height int) (rows []string, width, x, y int)
	// Hints are its keys, for the status bar; the last one is how to leave.
	Hints(Host) []widget.Hint
}

// A Host shows an overlay.
type Host interface {
	Close() // the overlay that is shown
	Bindings() keymap.Bindings
	Look() *widget.Look
	Spinner() string // a sign that turns while the overlay is busy; else ""
}

// An Answer is what a command of an overlay has found. It counts while the
// overlay is open.
type Answer struct {
	Of Overlay
	Do func() tea.Cmd
}

// Hint is the hint of an action in a scope.
func Hint(b keymap.Bindings, scope keymap.Scope, a keymap.Action, does string) widget.Hint {
	return widget.Hint{Key: keyOf(b, scope, a), Does: does, Action: string(a)}
}

// OwnKeys is the hint of keys that an overlay handles itself. Keys that the user has
// bound to something else in scope are left out.
func OwnKeys(b keymap.Bindings, scope keymap.Scope, does string, names ...string) widget.Hint {
	resolver := keymap.NewResolver(b)
	var free []string
	for _, name := range names {
		if k, err := keys.Parse(name); err == nil && resolver.Resolve(k, scope).Kind == keymap.Unbound {
			free = append(free, k.Show())
		}
	}
	return widget.Hint{Key: strings.Join(free, " "), Does: does}
}

// Choose is the hint of two actions in a scope that go up and down.
func Choose(b keymap.Bindings, scope keymap.Scope, up, down keymap.Action, does string) widget.Hint {
	hint := Hint(b, scope, up, does)
	if key := keyOf(b, scope, down); hint.Key == "" {
		hint.Key = key
	} else if key != "" {
		hint.Key += " " + key
	}
	return hint
}

// keyOf is the first key that an action has in a scope; "" if it has none.
func keyOf(b keymap.Bindings, scope keymap.Scope, a keymap.Action) string {
	if names := b.KeysOf(a, scope); len(names) > 0 {
		return names[0]
	}
	return ""
}
