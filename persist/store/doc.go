// Package store manages the data directory: the record, the exit file, the journal of sizes and the
// checkpoints of each process, and a few shared files. It writes files atomically (temporary file,
// fsync, rename) and reports those it could not read. Callers decide how to react.
package store
