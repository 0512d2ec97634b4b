// Package terminal shows a session's terminal in a pane, with its scrollback, search and copy mode.
package terminal
