// Package keys says what a key is and what it is encoded to: key names and
// their parser, decoding of a terminal's input and encoding for a PTY. It knows
// neither Bubble Tea nor sessions, nor what a key means: keymap says that.
package keys
