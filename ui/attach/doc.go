// Package attach makes a terminal the terminal of a session. Bytes pass in both directions
// unchanged, with these exceptions: the prefix key; switches to the alternate screen, as
// the session has a whole screen of its own; queries of the session's program, answered by
// the engine; and sequences that access files, the window or the desktop. `tandem play`
// filters output in the same way.
//
// On the engine's own machine the engine writes to the terminal directly, and typed keys
// go directly to the PTY.
//
// Every way out restores the terminal, except SIGKILL; after that, run `reset`.
package attach
