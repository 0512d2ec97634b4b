// Package engine owns sessions and processes: what is wanted of them, what
// state they are in, their screens and their records, and it serves them to
// clients over the API. One control goroutine decides, by a table of state ×
// event; it does no I/O, what it causes runs in workers that post what came of
// it. One goroutine per session owns its screen. Children and PTY masters
// belong to the keeper, so nothing is lost when an engine ends.
package engine
