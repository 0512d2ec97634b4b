// Package history is the view of the commands that were run: a list that is
// searched while the query is typed, and the details of one.
package history
