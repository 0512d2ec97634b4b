// Package vt is a terminal emulator: bytes in, screen out. Its Terminal owns everything hard to get
// right: parsing, cursor, modes, margins, styles, clusters, scrollback, replies and diffs. Behind
// it, a grid.Grid only keeps cells. The package does no I/O and starts no goroutine. A Terminal
// belongs to one goroutine at a time.
package vt
