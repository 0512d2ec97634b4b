// Package sessions is the view of sessions: the list beside the current tab, a tree of panes. It
// starts sessions, attaches the panes on the screen to them, moves panes and borders, and saves
// the layout. The terminals themselves are in terminal.
package sessions
