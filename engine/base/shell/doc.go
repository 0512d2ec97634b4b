// Package shell chooses the shell for command lines, quotes words for it, and detects lines that need
// none: bash would only remove quotes and become the program.
package shell
