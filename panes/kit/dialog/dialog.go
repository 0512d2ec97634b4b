// Package dialog implements the dialogs drawn over the dashboard: questions, prompts, choices, the
// list of keys and agents' requests. The open dialog has the keyboard. Dialogs are plain structs
// that use the components of bubbles. They know neither panes nor the engine: the caller sets
// functions for their effects.
package dialog

import (
	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/kit/look"
)

// An Overlay is a dialog.
type Overlay interface {
	// Traits returns how the host treats it now.
	Traits() Traits
	// Scopes returns the scopes in which the overlay's keys are looked up.
	Scopes() []keymap.Scope
	// Do handles a bound key.
	Do(Host, keymap.Action) tea.Cmd
	// Type handles a key without a binding.
	Type(Host, tea.KeyPressMsg) tea.Cmd
	Paste(Host, string) tea.Cmd
	// Draw returns the rows inside the frame, all width cells wide, for a screen of w×height cells.
	// x and y are the position of the cursor; x is negative if there is no cursor.
	Draw(h Host, w, height int) (rows []string, width, x, y int)
	// Hints returns the overlay's keys for the status bar. The key that closes it is the last.
	Hints(Host) []keymap.Hint
}

// Traits tell the host how to show an overlay. The zero value suits most overlays.
type Traits struct {
	Low  bool // draw it at the bottom
	Live bool // the view behind shows its effect and must not be dimmed
	Busy bool // it waits for a result

	Mouse   func(Host, keys.Mouse) tea.Cmd // handles events inside the frame, in cells from its first row; may be nil
	Dismiss func(Host)                     // handles a click outside; may be nil
}

// A Host shows an overlay.
type Host interface {
	Close() // closes the open overlay
	Bindings() keymap.Bindings
	Look() *look.Look
	Spinner() string // the current frame while the overlay is busy, else ""
}

// An Answer is the result of an overlay's command. The host drops it if the overlay is
// closed by then.
type Answer struct {
	Of Overlay
	Do func() tea.Cmd
}
