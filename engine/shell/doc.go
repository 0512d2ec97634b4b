// Package shell writes words for a shell and tells which command lines need none: bash would
// only take quotes away and become the program. Those are started as that program.
package shell
