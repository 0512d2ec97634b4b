package list

import (
	tea "charm.land/bubbletea/v2"

	"tandem/panes"
)

// An Env provides what the list of sessions needs from the dashboard.
type Env interface {
	panes.Env
	Notices
	// Focused returns the session of the terminal with the keyboard; ok is false if no terminal has
	// it.
	Focused() (id string, ok bool)
	IsVisible(id string) bool // reports whether the user sees the session
	Open(id string) tea.Cmd   // shows a session; "" starts one
	FocusList() tea.Cmd       // gives the keyboard to the list or takes it away
	IsClosed(id string) bool  // reports whether the user has closed an exited session
	HideSession(id string)    // removes an exited session from the list, here and in other dashboards
}

// Notices tell the user what happened in sessions that are not visible.
type Notices interface {
	ShowNote(text string, bad bool) tea.Cmd // reports an event that no key caused
	// ReportEvent reports an event that rows and counts show as well. bar is the text for the
	// status bar, which may cut it. desktop is the text of a desktop notification, which is sent
	// unless the user is here.
	ReportEvent(bar, desktop string, urgency panes.Urgency) tea.Cmd
	ShowRequest(id string) tea.Cmd // shows an agent's request
	IsVisit(id string) bool        // reports whether a view was left for the session, which reports its exit itself
}
