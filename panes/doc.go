// Package panes is the contract between the dashboard and its panes: what the
// dashboard tells a pane, and what a pane may ask of it. Each pane has a package
// of its own below, which knows no other pane; what they share is in widget.
package panes
