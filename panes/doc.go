// Package panes is the contract between the dashboard and its panes: the calls the dashboard makes
// on a pane, and the services it offers in return. Each pane has a package of its own below and
// imports no other pane; what they are made of is in kit.
package panes
