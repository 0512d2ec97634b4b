// Package keeper is the process that holds what must not die with the engine:
// PTY masters, children and their exit statuses. It has almost no code, decides
// nothing and imports nothing of Tandem's, because it is the one process that
// cannot be upgraded while it lives. The package is also the engine's client
// for it.
//
// # Wire
//
// The keeper listens on a unixpacket socket (0600, peer uid checked). A packet
// is one JSON message; descriptors travel beside it as SCM_RIGHTS. Messages are
// versioned and frozen: fields may be added, never changed.
package keeper
