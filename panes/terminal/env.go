package terminal

import (
	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/panes"
)

// An Env is what a terminal asks of the dashboard beside what every pane does.
type Env interface {
	panes.Env
	Press(keys.Key) tea.Cmd // handles a key as if it were typed now
	// SayOnce says what goes wrong, unless that is what is shown already.
	SayOnce(text string) tea.Cmd
	// CopyRead copies what read gives, unless something newer was copied meanwhile.
	CopyRead(read Read) tea.Cmd
	// StartNear starts a command in a new session, a shell without one. Without a
	// folder it is where the session of a pane is.
	StartNear(near *Pane, command []string, folder string) tea.Cmd
	StartInPlace(*Pane) tea.Cmd // starts a shell in the pane of a program that has ended
	PutAway(*Pane) tea.Cmd      // takes the pane of such a program off the screen
}

// A Search is what was looked for last, in whichever terminal.
type Search struct {
	pattern  api.Pattern
	backward bool // for what is above
}

// A Message is the result of a command of one pane.
type Message interface{ For() *Pane }
