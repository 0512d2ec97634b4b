// Package api is the language between Tandem's engine and its clients: one
// table of operations with typed input and output, the events and the attach
// stream, stable error codes, the client, and the plumbing a server needs to
// serve the table. It holds no policy and starts nothing but the engine.
package api

// Protocol is the number of this API. It changes when a client of the old
// number could no longer be understood; fields are only ever added below that.
const Protocol = 1
