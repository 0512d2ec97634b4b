// Package api defines the protocol between Tandem's engine and its clients: one table of operations
// with typed input and output, the events and the attach stream, and stable error codes. It makes
// no decisions. engine/api/client calls the operations, engine/api/server serves them.
package api

// Protocol is the version of this API. It grows only with a change that an older end would
// misunderstand, not with new operations and fields, which an older end can ignore. Each end
// understands every version from OldestProtocol on, and both use the highest common one
// (ChooseProtocol). From AgentProtocol on, the engine judges and records agents' calls; before,
// their servers did.
const (
	Protocol       = 2
	OldestProtocol = 1
	AgentProtocol  = 2
)

// ChooseProtocol returns the highest protocol that both this program and the engine understand. ok
// is false if there is none.
func (i Info) ChooseProtocol() (protocol int, ok bool) {
	oldest := i.OldestProtocol
	if oldest == 0 { // older engines report no range
		oldest = i.Protocol
	}
	protocol = min(i.Protocol, Protocol)
	return protocol, protocol >= max(oldest, OldestProtocol)
}
