package sessions

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/panes"
	"tandem/panes/sessions/list"
	"tandem/panes/terminal"
)

// An Env is the dashboard as the view sees it.
type Env interface {
	panes.Env
	Dashboard
}

// A Dashboard does what only the view and its panes ask of it.
type Dashboard interface {
	list.Notices
	Feeds

	Press(keys.Key) tea.Cmd // the next three are for terminals, see terminal.Env
	SayOnce(text string) tea.Cmd
	CopyRead(terminal.Read) tea.Cmd

	ShowSessions()                   // shows the view
	Relayout()                       // resizes the view after the zoom started or ended
	OpenMachine(name string) tea.Cmd // starts a session on a machine, or connects to it
	TakeClip(clip []byte) tea.Cmd    // passes on what the focused program put on the clipboard
	Bell()                           // rings the bell of the user's terminal
}

// Feeds connect panes to their sessions.
type Feeds interface {
	Attach(ctx context.Context, id string, feed *terminal.Feed) // feeds a pane until ctx is done
	RecordExit(api.Process)                                     // records an exit before its event arrives
}
