// Package setup adds Tandem to the settings of agents' programs and removes it
// again: by a program's own command if it has one, else by an edit that changes only
// the bytes it needs to. Questions to the user and printed output belong to the
// commands, in ui/cli and ui/cli/codingagents.
package setup
