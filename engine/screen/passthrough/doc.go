// Package passthrough filters a session's output for the user's terminal if that gets the program's
// own bytes: it passes, simplifies or drops sequences, and resets the terminal afterwards.
package passthrough
