// Package keys says what a key is, what it means and what it is encoded to:
// key names and their parser, decoding of a terminal's input, encoding for a
// PTY, and the catalogue of actions with their bindings, scopes and chords. It
// knows neither Bubble Tea nor sessions.
package keys
