// Package vt is a terminal emulator: bytes in, screen out. The front end,
// Terminal, owns everything that is hard to get right (parsing, cursor, modes,
// margins, styles, clusters, scrollback, replies, diffs); behind it a grid.Grid only
// keeps cells. It does no I/O and starts no goroutine; one goroutine owns a
// Terminal.
package vt
