// Package sessions is the view of sessions: their list and the panes in which
// they are shown.
package sessions
