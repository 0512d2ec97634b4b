// Package transfers queues the transfers that the engine does with files, follows them, asks about
// conflicts and undoes them.
package transfers
