// Package api is the language between Tandem's engine and its clients: one
// table of operations with typed input and output, the events and the attach
// stream, and stable error codes. It holds no policy; engine/api/client calls
// the operations, engine/api/server serves them.
package api

// Protocol is the number of this API. It grows when something comes that an
// older end would misunderstand; operations and fields that it can do without
// are added below that. An end understands every number from OldestProtocol on,
// and the two ends speak the highest that both have (Shared).
const (
	Protocol       = 1
	OldestProtocol = 1
)

// Shared is the protocol in which a client of this program speaks to an engine:
// the highest that both understand, or false if there is none.
func (i Info) Shared() (protocol int, ok bool) {
	oldest := i.OldestProtocol
	if oldest == 0 { // an engine from before there was a range
		oldest = i.Protocol
	}
	protocol = min(i.Protocol, Protocol)
	return protocol, protocol >= max(oldest, OldestProtocol)
}
