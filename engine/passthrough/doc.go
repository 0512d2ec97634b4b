// Package passthrough decides what of a session's output reaches a person's terminal
// where that shows the program's own bytes: what passes as it is, what is put in a
// simpler form, and what stays out, and what brings the terminal back afterwards.
package passthrough
