// Package terminal is a session's terminal in a pane: what it shows, its
// scrollback, and copying from that.
package terminal
