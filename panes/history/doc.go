// Package history is the view of the command history: a list searched as the query is typed, and
// the details of one command.
package history
