// Package pty is the engine's side of a PTY: reading its master in bursts, the size
// of the terminal, and which program is in its foreground and whether it waits for
// input. What is read is somebody else's to keep, and what is typed to send.
package pty
