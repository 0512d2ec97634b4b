// Package pick lets the user pick a command from the history in their own shell, to run or
// edit it there. It is a client of the engine for this search only.
package pick
