package api

import (
	"context"
	"errors"
	"strings"
)

// Request headers by which a client identifies itself.
const (
	ClientHeader   = "Tandem-Client"
	VersionHeader  = "Tandem-Version"
	ProtocolHeader = "Tandem-Protocol"
	OwnerHeader    = "Tandem-Owner"
)

// IgnoredHeader is the response header that lists input fields unknown to the engine and ignored,
// because the client is of a newer release.
const IgnoredHeader = "Tandem-Ignored"

// A Caller is the sender of a request. Name, Version and Owner are its own claims.
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

// A Peer is the process that made a connection to the engine's socket, as of that time. The zero
// value stands for any other connection.
type Peer struct {
	PID int
	UID int
}

// An Origin is the source of a connection made by a bridge or the fleet for another machine. The
// zero value is this machine.
type Origin struct {
	From     string    // "user@host"; "" for this machine
	Agent    string    // the agent's process behind the requests on that machine; "" if none
	ReadOnly bool      // only reads are allowed
	By       *FarAgent // the agent making all requests; nil for the user
	Sandbox  *Sandbox  // this machine's sandbox for that agent; nil: none

	Person string    // owner of the fleet key that signed the requests; "" outside the fleet
	Role   FleetRole // permissions of that person
}

// Sandboxes returns the sandboxes to apply, all at once, to everything done for the caller: that of
// its bounds and, for an agent on another machine, this machine's own.
func (c Caller) Sandboxes() (all []*Sandbox) {
	for _, s := range []*Sandbox{c.Bounds.Sandbox, c.Origin.Sandbox} {
		if s != nil {
			all = append(all, s)
		}
	}
	return all
}

func (c Caller) Agent() bool { return c.Owner != "" }

// IsServer reports whether an agent's server makes a call with the effect for itself, such as
// watching events. It is then neither judged by the policy nor recorded.
func (c Caller) IsServer(effect Effect) bool {
	return c.Bounds.ToolsOnly && len(c.Tools) == 0 && effect == Read
}

// Person is the actor of all the user's clients, Tandem of what a client starts for itself, such as an
// editor, and AgentPrefix the beginning of every agent's.
const (
	Person      = "person"
	Tandem      = "tandem"
	AgentPrefix = "agent:"
)

// Actor returns the caller's name for records: Person for the user, otherwise one with AgentPrefix,
// so that an agent cannot pose as the user.
func (c Caller) Actor() string {
	if !c.Agent() {
		return Person
	}
	return AgentPrefix + strings.TrimPrefix(c.Name, AgentPrefix)
}

type callerKey struct{}

// CallerOf returns the sender of the request with a handler's ctx; the zero Caller for any other
// context.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// WithCaller returns a context with a caller.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// A PeerProcess identifies the process that made a connection even if its pid is reused.
type PeerProcess interface {
	// Elsewhere reports whether the process is on another machine.
	Elsewhere() bool
	// Check returns nil while the process is running. start is the start time of the present process with
	// its pid. Read it, and everything else from /proc, before the call: then success proves that the pid
	// was not reused meanwhile.
	Check(start uint64) error
}

type peerProcessKey struct{}

// PeerProcessOf returns the process at the other end of a request's connection. An unknown one never
// passes Check.
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

// WithPeerProcess returns a context with the process at the other end of a connection.
func WithPeerProcess(ctx context.Context, p PeerProcess) context.Context {
	return context.WithValue(ctx, peerProcessKey{}, p)
}
