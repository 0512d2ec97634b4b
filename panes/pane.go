package panes

import (
	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/widget"
)

// AllRows is a number of rows that no list has.
const AllRows = 1 << 30

// A Pane is one view of the dashboard. The dashboard calls it from Bubble Tea's
// goroutine alone and, unless it is a Redrawer, draws it anew after whatever it
// was told.
type Pane interface {
	// News tells the pane that there are news of the engine, and what was known
	// before. What its own commands bring is a Result.
	News(before *News)
	// Fetch asks for what the pane needs now. It is called after every message,
	// shown or not.
	Fetch() tea.Cmd

	Actions() Actions             // what the keys of its scopes do
	Type(tea.KeyPressMsg) tea.Cmd // a key that is bound to nothing
	Paste(text string) tea.Cmd    // pasted text
	Mouse(e keys.Mouse) tea.Cmd   // in the pane's own cells; a press keeps the mouse until its release
	Scopes() []keymap.Scope       // of what has the keyboard in it, from the inside outward, without the global one
	Hints() (all []Hint, ok bool) // the next useful keys; without ok those of its scopes
	Note() (string, widget.Ink)   // what the status bar says of it

	Resize(w, h int)
	Draw() []string // as many rows, and each as wide, as Resize said
	Cursor() *tea.Cursor

	Show() // it is on the screen from now on
	Hide()
}

// A KeyTaker is a pane that takes keys as they were pressed, in place of Type.
type KeyTaker interface {
	Take(keys.Key) (taken bool) // before it is looked up
	Key(keys.Key) tea.Cmd       // one that is bound to nothing, let go or pressed
}

// A Redrawer is a pane that says itself when there is something new to draw in
// it, because what it is given may be for a program alone.
type Redrawer interface {
	Changed() bool               // since it was asked last
	AppendRows(to []byte) []byte // in place of Draw; a newline ends each row
}

// Untyped is for panes that nothing is typed into, and whose hints are those of
// their scopes.
type Untyped struct{}

func (Untyped) Type(tea.KeyPressMsg) tea.Cmd { return nil }
func (Untyped) Paste(string) tea.Cmd         { return nil }
func (Untyped) Cursor() *tea.Cursor          { return nil }
func (Untyped) Hints() ([]Hint, bool)        { return nil, false }

// Actions are what a pane does, by the action that a key is bound to.
type Actions map[keymap.Action]func() tea.Cmd

// A Hint is a key and what it does.
type Hint = widget.Hint
