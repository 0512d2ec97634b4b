// Package shell implements the interactive prompt for tandem commands: it reads lines, splits them
// into words and marks the beginning and end of their output. The commands themselves are the
// caller's.
package shell
