// Package persist is how things lie on disk: process records, exits, the log
// of a terminal and its side journals. It keeps files whole (temporary file,
// fsync, rename) and says what it could not read; it decides nothing.
package persist
