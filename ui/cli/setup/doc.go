// Package setup adds Tandem to the settings of agents' programs and removes it
// again. An edit changes only the bytes it needs to, and each change is recorded,
// so that removing it restores the user's file exactly. Questions to the user and
// printed output belong to the commands, in ui/cli and ui/cli/codingagents.
package setup
