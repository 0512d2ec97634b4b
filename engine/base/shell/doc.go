// Package shell quotes words for a shell, and detects command lines that need none: bash would only
// remove quotes and become the program.
package shell
