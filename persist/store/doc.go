// Package store manages the data directory: the record, exit, sizes journal and checkpoints of
// each process, and a few shared files. It writes files atomically (temporary file, fsync, rename)
// and reports what it could not read; callers decide what follows.
package store
