// Package shell is the prompt at which verbs are typed: it reads lines, splits
// them into words and marks where their output begins and ends. The verbs
// themselves are the caller's.
package shell
