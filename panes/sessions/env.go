package sessions

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/panes"
)

// An Env is what the list asks of the dashboard beside what every pane does.
type Env interface {
	panes.Env
	// Focused is the session of the terminal that has the keyboard; ok is false
	// while none has it.
	Focused() (id string, ok bool)
	LooksAt(id string) bool             // the person has a session before their eyes
	Open(id string) tea.Cmd             // shows a session; "" starts one
	FocusList() tea.Cmd                 // gives the list the keyboard, or takes it away
	Tell(text string, bad bool) tea.Cmd // says what nobody has asked for
	Notify(text string) tea.Cmd         // tells the desktop, if nobody looks
	ShowRequest(id string) tea.Cmd      // asks what an agent wants to be allowed
	Covered() bool                      // a dialog lies over the dashboard
	LongCommand() time.Duration         // a command that took this long is told of; 0 is the default
}
