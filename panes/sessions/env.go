package sessions

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/sessions/layout"
	"tandem/panes/sessions/list"
	"tandem/panes/terminal"
)

// An Env is the dashboard as the view sees it.
type Env interface {
	panes.Env
	Dashboard
}

// A Dashboard provides what the view and its panes need beyond panes.Env.
type Dashboard interface {
	list.Notices
	Feeds
	Window

	SayOnce(text string) tea.Cmd // this and the next one are for terminals, see terminal.Env
	CopyRead(terminal.Read) tea.Cmd

	PanesChanged() tea.Cmd           // called after panes were opened, closed or moved
	OpenMachine(name string) tea.Cmd // starts a session on a machine, or connects to it
	TakeClip(clip []byte) tea.Cmd    // passes on what the focused program put on the clipboard
	Bell()                           // rings the bell of the user's terminal
}

// Feeds connect panes to their sessions.
type Feeds interface {
	Attach(ctx context.Context, id string, feed *terminal.Feed) // feeds a pane until ctx is done
	RecordExit(api.Process)                                     // records an exit before its event arrives
}

// A Window is the view's place in the dashboard.
type Window interface {
	ShowSessions() // shows the view
	Relayout()     // resizes the view after the zoom started or ended

	// Change runs a change of the focus or the zoom if the user's input is being handled. While an
	// event is handled it does nothing, because the user may be typing.
	Change(func() tea.Cmd) tea.Cmd
}

// A terminalEnv gives panes what they need from the dashboard and the view.
type terminalEnv struct {
	Env
	launcher  *Launcher
	restore   func(ids ...string) tea.Cmd
	closePane func() tea.Cmd
}

func (e terminalEnv) StartNear(near *terminal.Pane, command []string, folder string) tea.Cmd {
	start := sessionStart{Command: command}
	if command != nil { // the editor or browser that the pane opens something with
		start.Actor = api.Tandem
	}
	return e.launcher.startInTab(start, near, folder)
}
func (e terminalEnv) Restore(ended *terminal.Pane) tea.Cmd { return e.restore(ended.ID) }
func (e terminalEnv) ClosePane(*terminal.Pane) tea.Cmd     { return e.closePane() }

// A listEnv gives the list of sessions what it needs from the dashboard and the view.
type listEnv struct {
	Env
	view *View
}

func (e listEnv) FocusList() tea.Cmd { return e.view.focus.toggleList() }

func (e listEnv) IsVisible(id string) bool {
	v := e.view
	return !v.focus.blurred && slices.ContainsFunc(v.display.visibleLeaves(), func(l *layout.Node) bool { return l.ID == id })
}

func (e listEnv) Focused() (id string, ok bool) {
	if t := e.view.FocusedPane(); t != nil {
		return t.ID, true
	}
	return "", false
}

func (e listEnv) Open(id string) tea.Cmd {
	if machine, session := api.MachineOf(id); machine != "" && session == "" {
		return e.OpenMachine(machine)
	} else if session == "" {
		return e.view.Launcher.StartOn("")
	}
	return e.view.OpenSession(id)
}

func (e listEnv) IsClosed(id string) bool { return e.view.Tabs.IsClosed(id) }

func (e listEnv) HideSession(id string) {
	e.view.hide(id)
	e.view.focus.refresh()
}
