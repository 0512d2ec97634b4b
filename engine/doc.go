// Package engine owns sessions and processes: what is wanted of them, what
// state they are in, their screens and their records, and it serves them to
// clients over the API. The control loop (supervise) decides and does no I/O; what
// it causes is done here, in its workers. One goroutine per session owns its screen. Children and PTY masters
// belong to the keeper, so nothing is lost when an engine ends.
package engine
