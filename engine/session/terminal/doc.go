// Package terminal implements one session: the reader moves output from the PTY to the log, the
// screen follows the log and owns the emulator, the keyboard orders input, and viewers, searches
// and requests use these. The state of the shell belongs to package prompt. The list of sessions,
// permissions and the lifecycle of programs belong to the callers.
package terminal
