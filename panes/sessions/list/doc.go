// Package list is the list of sessions beside their panes: its rows, the tab bar, the actions on
// a session, coding agents, worktrees, and the notes about hidden sessions.
package list
