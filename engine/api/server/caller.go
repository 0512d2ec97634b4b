package server

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"tandem/engine/api"
	"tandem/engine/api/wire"
)

// A Caller is the sender of a request. Name, Version and Owner are its own claims.
type Caller struct {
	Name    string     // client.Options.Name: "dashboard", "cli", …; "" if not sent
	Version string     // its program's version
	Owner   string     // client.Options.Owner; "" for the user's clients
	Bounds  api.Bounds // of an agent
	Call    string     // id of the tool's call that the request is part of; "" for a call of its own
	Tools   []string   // the called tool, then others whose policy rules apply too; none: the operation itself
	Uses    []string   // the operations of that call, if its first one names all subjects
	NoAsk   bool       // do not ask the user; answer with the question
	Peer    wire.Peer  // the process at the other end of the connection
	Origin  Origin     // its machine, if not this one; Peer is then the bridge
}

// Sandboxes returns the sandboxes to apply, all at once, to everything done for the caller: that of
// its bounds and, for an agent on another machine, this machine's own.
func (c Caller) Sandboxes() (all []*api.Sandbox) {
	for _, s := range []*api.Sandbox{c.Bounds.Sandbox, c.Origin.Sandbox} {
		if s != nil {
			all = append(all, s)
		}
	}
	return all
}

func (c Caller) Agent() bool { return c.Owner != "" }

// IsServer reports whether an agent's server makes a call with the effect for itself, such as
// watching events. It is then neither judged by the policy nor recorded.
func (c Caller) IsServer(effect api.Effect) bool {
	return c.Bounds.ToolsOnly && len(c.Tools) == 0 && effect == api.Read
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

// identify returns the request's context with its Caller.
func (m *Mux) identify(r *http.Request) (context.Context, *api.Error) {
	c := Caller{Name: r.Header.Get(api.ClientHeader), Version: r.Header.Get(api.VersionHeader), Owner: r.Header.Get(api.OwnerHeader), Peer: peerOf(r.Context()), Origin: originOf(r.Context())}
	// Like the owner, these are claims: only an agents' server may hold a connection of an agent.
	c.Call, c.NoAsk = r.Header.Get(api.CallHeader), r.Header.Get(api.AskHeader) == "no"
	if tools := r.Header.Get(api.ToolHeader); tools != "" {
		c.Tools = strings.Split(tools, ",")
	}
	if uses := r.Header.Get(api.UsesHeader); uses != "" {
		c.Uses = strings.Split(uses, ",")
	}
	bounds, err := m.bounds.boundsOf(r)
	if err != nil {
		return nil, err
	}
	if bounds != nil {
		c.Bounds = *bounds
	}
	if err := c.applyOrigin(); err != nil {
		return nil, err
	}
	if spoken := protocolOf(r); c.Agent() && spoken != 0 && spoken < api.AgentProtocol {
		return nil, api.Errorf(api.CodeConflict, "serve an agent: its server is older than the engine").
			WithHint("start the agent's server (tandem --serve) again")
	}
	return WithCaller(r.Context(), c), nil
}

// applyOrigin replaces the claims of an agent on another machine with those of its engine: its
// bounds are the ones sent when the connection was opened.
func (c *Caller) applyOrigin() *api.Error {
	by := c.Origin.By
	switch {
	case by != nil:
		// The request may only narrow the bounds further.
		readOnly := c.Bounds.ReadOnly
		c.Name, c.Owner, c.Bounds = by.Name, by.Owner, by.Bounds
		c.Bounds.ReadOnly = c.Bounds.ReadOnly || readOnly
	case c.Origin.From != "" && c.Agent():
		return api.Errorf(api.CodeForbidden, "serve an agent from %s: its engine did not send the agent's bounds", c.Origin.From)
	}
	return nil
}

// isUnderstood reports whether a request is in a protocol of this engine. A client may keep its
// connection when an engine of another protocol takes over. Requests without a protocol are
// accepted, as are the two operations for choosing and replacing an engine: they never change.
func isUnderstood(r *http.Request, name string) bool {
	if r.Header.Get(api.ProtocolHeader) == "" || name == api.EngineInfo.Name || name == api.EngineStop.Name {
		return true
	}
	protocol := protocolOf(r)
	return protocol >= api.OldestProtocol && protocol <= api.Protocol
}

// protocolOf returns the protocol of a request; 0 if it names none.
func protocolOf(r *http.Request) int {
	protocol, _ := strconv.Atoi(r.Header.Get(api.ProtocolHeader))
	return protocol
}

// mayBeNewer reports whether a request is from a tandem program, possibly with fields unknown to
// this engine. In a request written by hand, an unknown field is a mistake.
func mayBeNewer(r *http.Request) bool { return r.Header.Get(api.ProtocolHeader) != "" }

// AgentPrefix is the prefix of every agent's name.
const AgentPrefix = "agent:"

// Actor returns the caller's name for records: "person" for the user, otherwise one with
// AgentPrefix, so that an agent cannot pose as the user.
func (c Caller) Actor() string {
	if !c.Agent() {
		return "person"
	}
	return AgentPrefix + strings.TrimPrefix(c.Name, AgentPrefix)
}
