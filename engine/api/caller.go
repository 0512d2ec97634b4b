package api

import (
	"context"
	"errors"
	"strings"
)

// With these request headers, a client identifies itself.
const (
	ClientHeader   = "Tandem-Client"
	VersionHeader  = "Tandem-Version"
	ProtocolHeader = "Tandem-Protocol"
	OwnerHeader    = "Tandem-Owner"
)

// IgnoredHeader is the response header that lists input fields which the engine has ignored,
// because it does not know them and the client is of a newer release.
const IgnoredHeader = "Tandem-Ignored"

// A Caller is the sender of a request. Name, Version and Owner are only its own claims.
type Caller struct {
	Name    string   // client.Options.Name: "dashboard", "cli", …; "" if not sent
	Version string   // its program's version
	Owner   string   // client.Options.Owner; "" for the user's clients
	Bounds  Bounds   // of an agent
	Call    string   // id of the tool's call that the request is part of; "" for a call of its own
	Tools   []string // the called tool, then others whose policy rules apply too; none: the operation itself
	Uses    []string // the operations of that call, if its first one names all subjects
	NoAsk   bool     // do not ask the user; answer with the question
	Peer    Peer     // the process at the other end of the connection
	Origin  Origin   // its machine, if not this one; Peer is then the bridge
}

// A Peer is the process that opened a connection to the engine's socket, as it was at that time. It
// is zero for any other connection.
type Peer struct {
	PID int
	UID int
}

// An Origin is the source of a connection that a bridge or the fleet makes for another machine. The
// zero value means this machine.
type Origin struct {
	From     string    // "user@host"; "" for this machine
	Agent    string    // the agent's process behind the requests on that machine; "" if none
	ReadOnly bool      // only reads are allowed
	By       *FarAgent // the agent making all requests; nil for the user
	Sandbox  *Sandbox  // this machine's sandbox for that agent; nil: none

	Person string    // owner of the fleet key that signed the requests; "" outside the fleet
	Role   FleetRole // permissions of that person
}

// Sandboxes returns the sandboxes that apply, all at once, to everything done for the caller: the
// one in its bounds and, for an agent on another machine, this machine's own.
func (c Caller) Sandboxes() (all []*Sandbox) {
	for _, s := range []*Sandbox{c.Bounds.Sandbox, c.Origin.Sandbox} {
		if s != nil {
			all = append(all, s)
		}
	}
	return all
}

func (c Caller) Agent() bool { return c.Owner != "" }

// IsServer reports whether an agents' server makes a call with this effect for itself, such as
// watching events. Then the call is neither judged by the policy nor recorded.
func (c Caller) IsServer(effect Effect) bool {
	return c.Bounds.ToolsOnly && len(c.Tools) == 0 && effect == Read
}

// Person is the actor of all clients of the user. Tandem is the actor of programs that a client
// starts for itself, such as an editor. AgentPrefix is the beginning of every agent's actor.
const (
	Person      = "person"
	Tandem      = "tandem"
	AgentPrefix = "agent:"
)

// Actor returns the caller's name for records: Person for the user, and otherwise a name with
// AgentPrefix, so an agent cannot pose as the user.
func (c Caller) Actor() string {
	if !c.Agent() {
		return Person
	}
	return AgentPrefix + strings.TrimPrefix(c.Name, AgentPrefix)
}

type callerKey struct{}

// CallerOf returns the sender of a request from the context of its handler. For any other context,
// it returns the zero Caller.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// IsCall reports whether a context is that of a request, rather than of the engine's own work.
func IsCall(ctx context.Context) bool { return ctx.Value(callerKey{}) != nil }

// WithCaller returns a context with a caller.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// A PeerProcess is the process that made a connection. It can be identified even if its PID is
// reused.
type PeerProcess interface {
	// Elsewhere reports whether the process is on another machine.
	Elsewhere() bool
	// Check returns nil while the process is running. start is the start time of the process that
	// has the PID now. Read it from /proc, like everything else about the process, before the call.
	// If Check then succeeds, the PID was not reused meanwhile.
	Check(start uint64) error
}

type peerProcessKey struct{}

// PeerProcessOf returns the process at the other end of a request's connection. If it is unknown,
// its Check always fails.
func PeerProcessOf(ctx context.Context) PeerProcess {
	if p, ok := ctx.Value(peerProcessKey{}).(PeerProcess); ok {
		return p
	}
	return unknownProcess{}
}

type unknownProcess struct{}

func (unknownProcess) Elsewhere() bool { return false }

func (unknownProcess) Check(uint64) error {
	return errors.New("the connection does not show who made it")
}

// WithPeerProcess returns a context for requests over a connection, with the process at its other
// end.
func WithPeerProcess(ctx context.Context, p PeerProcess) context.Context {
	return context.WithValue(ctx, peerProcessKey{}, p)
}
