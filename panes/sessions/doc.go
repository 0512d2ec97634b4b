// Package sessions is the view of sessions: their list, the tab bar, notes about hidden sessions,
// and the starting of new ones. Their terminals are in terminal.
package sessions
