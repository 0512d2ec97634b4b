// Package shell tells which command lines need no shell: bash would only take
// quotes away and become the program. Those are started as that program.
package shell
