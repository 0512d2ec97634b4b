// Package panes is the contract between the dashboard and its panes: the calls the dashboard makes
// on a pane, and the services it offers in return. Each pane has its own package below this one and
// imports no other pane. The parts that panes are built from are in kit.
package panes
