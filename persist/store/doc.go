// Package store is the data folder: the record of each process with its exit,
// its sizes journal and its checkpoints, and the few files for all of them. It
// keeps files whole (temporary file, fsync, rename) and says what it could not
// read; it decides nothing.
package store
