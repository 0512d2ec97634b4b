// Package terminal is one session: its reader moves output from the PTY to the log, its screen goroutine follows the
// log and owns the emulator, and viewers, input, searches, command lines and waits go through both. Which
// sessions there are, who may use them and what becomes of their programs, it does not know.
package terminal
