package terminal

import (
	tea "charm.land/bubbletea/v2"

	"tandem/panes"
)

// An Env provides what a terminal pane needs from the dashboard and from the view of sessions.
type Env interface {
	panes.Env
	// CopyRead copies the text that read returns. If something else is copied before read has
	// returned, the text is dropped.
	CopyRead(read Read) tea.Cmd
	// SayOnce shows an error in the status bar, unless the bar shows it already.
	SayOnce(text string) tea.Cmd
	// StartNear starts a command in a new session, or a shell if the command is empty. If folder is
	// "", it starts in the working directory of near's session.
	StartNear(near *Pane, command []string, folder string) tea.Cmd
	Restore(*Pane) tea.Cmd   // starts a shell in the pane of an exited program, below its screen
	ClosePane(*Pane) tea.Cmd // removes such a pane from the screen
}
