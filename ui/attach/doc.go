// Package attach makes a terminal the terminal of a session: bytes pass both
// ways as they are, but for the prefix key, for switches of the alternate screen,
// which the terminal has given to the session as a whole, for what the
// session's program asks, which the engine answers, and for what a program has no
// business with: the terminal's files, its window, the desktop. The command
// `tandem attach` and the dashboard's zoom use it; `tandem play` passes what it
// shows through the same filter.
// On the engine's own machine the engine writes to the terminal itself, and what is
// typed goes to the PTY.
//
// Every way out restores the terminal. Only SIGKILL leaves nothing that could;
// `reset` mends a terminal after that.
package attach
