// Package keys defines keys and their encodings: key names and their parser, decoding of terminal
// input, and encoding for a PTY. It does not know Bubble Tea or sessions, nor the meaning of a key,
// which is defined in package keymap.
package keys
