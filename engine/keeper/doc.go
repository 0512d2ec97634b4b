// Package keeper is the process that holds what must not die with the engine:
// PTY masters, children and their exit statuses. It has almost no code, decides
// nothing and imports nothing of Tandem's, because it is the one process that
// cannot be upgraded while it lives. The package is also the engine's client
// for it.
//
// # Wire
//
// The keeper listens on a unixpacket socket (0600, peer uid checked). A packet
// is one JSON message; descriptors travel beside it as SCM_RIGHTS, and a message
// that is too long for a packet as a memfd among them. Every request is answered
// by one reply with its id. Messages are versioned and frozen: fields may be
// added, never changed. What makes no sense is answered with an error; packets
// over the limit and strangers are cut off.
//
// # Processes
//
// One goroutine owns all state, forks and collects, so no exit can fall between
// a fork and its entry in the table. Opening files and writing exit.json happen
// beside it.
//
// The keeper confines nothing: a child that is to be confined is the engine's launch stage,
// which confines itself and becomes the program.
package keeper
