// Package sessions is the view of sessions: the list beside the current tab, a tree of panes. It
// starts sessions, attaches the panes on the screen to them, moves panes and borders, and saves
// the layout. The terminals themselves are in terminal.
//
// Tabs knows which pane has the keyboard, and display knows where each pane is. focus changes what
// both know: it shows tabs, moves the keyboard, and sizes and attaches the panes. The arranger
// moves panes and the Launcher starts sessions through it.
package sessions
