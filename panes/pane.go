package panes

import (
	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/kit/look"
)

// AllRows means no limit, where a number of rows is required.
const AllRows = 1 << 30

// A Pane is one view of the dashboard. The dashboard calls it only from Bubble Tea's goroutine and,
// unless the pane is a Redrawer, redraws it after every message.
type Pane interface {
	// HandleNews is called after the engine's state has changed. former is a copy of the state
	// before. Answers to the pane's own commands do not come here: they arrive as a Result.
	HandleNews(former *News)
	// Fetch returns the commands that load missing data. It is called after every message, even
	// while the pane is hidden.
	Fetch() tea.Cmd

	Actions() Actions             // what the keys of its scopes do
	Type(tea.KeyPressMsg) tea.Cmd // handles a key without a binding
	Paste(text string) tea.Cmd
	Mouse(e keys.Mouse) tea.Cmd          // handles an event in the pane's own cells; a press captures the mouse until its release
	Scopes() []keymap.Scope              // scopes of the focused part, innermost first, without the global one
	Hints() (all []keymap.Hint, ok bool) // the next useful keys; if !ok, those of its scopes
	Note() (string, look.Ink)            // its text in the status bar

	Resize(w, h int)
	Draw() []string // rows as set by Resize, each padded to its width
	Cursor() *tea.Cursor

	Show() // called when it appears on the screen
	Hide()
}

// A KeyTaker is a pane that handles raw key events itself. The dashboard calls its methods instead
// of Type.
type KeyTaker interface {
	TakeKey(keys.Key) (taken bool) // called before the key's binding is looked up
	HandleKey(keys.Key) tea.Cmd    // handles the press or release of a key without a binding
}

// A Redrawer is a pane that knows whether it must be redrawn. Its input may only go to a program,
// and change nothing on the screen.
type Redrawer interface {
	NeedsRedraw() bool           // reports whether anything changed since the last call
	AppendRows(to []byte) []byte // replaces Draw; a newline ends each row
}

// NoInput implements the input methods of a Pane that has no text input. The hints are those of its
// scopes.
type NoInput struct{}

func (NoInput) Type(tea.KeyPressMsg) tea.Cmd { return nil }
func (NoInput) Paste(string) tea.Cmd         { return nil }
func (NoInput) Cursor() *tea.Cursor          { return nil }
func (NoInput) Hints() ([]keymap.Hint, bool) { return nil, false }

// Actions map each bound action of a pane to its handler.
type Actions map[keymap.Action]func() tea.Cmd

// ActionOf turns a function into the handler of an action that needs no command.
func ActionOf(change func()) func() tea.Cmd {
	return func() tea.Cmd {
		change()
		return nil
	}
}
