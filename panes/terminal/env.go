package terminal

import (
	tea "charm.land/bubbletea/v2"

	"tandem/panes"
)

// An Env is the dashboard as a terminal pane sees it, with what concerns the pane itself.
type Env interface {
	panes.Env
	// CopyRead copies the text returned by read, unless something newer has been copied meanwhile.
	CopyRead(read Read) tea.Cmd
	// SayOnce shows an error, unless it is shown already.
	SayOnce(text string) tea.Cmd
	// StartNear starts a command in a new session, or a shell if it is empty. Without a folder it
	// starts in the working directory of near's session.
	StartNear(near *Pane, command []string, folder string) tea.Cmd
	StartInPlace(*Pane) tea.Cmd // starts a shell in the pane of an exited program
	ClosePane(*Pane) tea.Cmd    // removes such a pane from the screen
}
