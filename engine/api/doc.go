// Package api is the language between Tandem's engine and its clients: one
// table of operations with typed input and output, the events and the attach
// stream, and stable error codes. It holds no policy; engine/api/client calls
// the operations, engine/api/server serves them.
package api

// Protocol is the number of this API. It changes when a client of the old
// number could no longer be understood; fields are only ever added below that.
const Protocol = 1
