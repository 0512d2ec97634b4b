// Package pty is the engine's side of a PTY: it reads the master in bursts, sets the terminal's
// size, and inspects the foreground program, for example whether it waits for input. Callers store
// output and send input.
package pty
