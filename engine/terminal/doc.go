// Package terminal is one session: its reader moves output from the PTY to the log, its screen follows the log and owns
// the emulator, its keyboard is what is typed, and viewers, searches and requests go through these. What its shell is
// doing is package prompt's; which sessions there are, who may use them and what becomes of their programs, it does not
// know.
package terminal
