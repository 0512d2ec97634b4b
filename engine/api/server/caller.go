package server

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"tandem/engine/api"
	"tandem/engine/api/wire"
)

// A Caller is who sent a request, as it says itself.
type Caller struct {
	Name    string     // client.Options.Name: "dashboard", "cli", …; "" if it did not say
	Version string     // its program's version
	Owner   string     // client.Options.Owner; "" for a person's clients
	Bounds  api.Bounds // of an agent: what it is held to
	Peer    wire.Peer  // the process at the other end of the connection
	Origin  Origin     // where it is, if that is another machine; the peer is the bridge then
}

// Sandboxes are those that what is done for the caller is held to, all of them: the one
// that comes with its bounds and, for an agent from elsewhere, this machine's own.
func (c Caller) Sandboxes() (all []*api.Sandbox) {
	for _, s := range []*api.Sandbox{c.Bounds.Sandbox, c.Origin.Sandbox} {
		if s != nil {
			all = append(all, s)
		}
	}
	return all
}

// Agent reports whether the caller is an agent.
func (c Caller) Agent() bool { return c.Owner != "" }

type callerKey struct{}

// CallerOf tells who sent the request that a handler's context belongs to.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// withCaller gives a request's context with who has sent it.
func (m *Mux) withCaller(r *http.Request) (context.Context, *api.Error) {
	c := Caller{Name: r.Header.Get(api.ClientHeader), Version: r.Header.Get(api.VersionHeader), Owner: r.Header.Get(api.OwnerHeader), Peer: peerOf(r.Context()), Origin: originOf(r.Context())}
	bounds, err := m.bounds.of(r)
	if err != nil {
		return nil, err
	}
	if bounds != nil {
		c.Bounds = *bounds
	}
	if err := c.led(); err != nil {
		return nil, err
	}
	return context.WithValue(r.Context(), callerKey{}, c), nil
}

// led makes a caller from another machine who its engine says it is, whatever the
// request says: its bounds are those that it was led here with, and no others.
func (c *Caller) led() *api.Error {
	by := c.Origin.By
	switch {
	case by != nil:
		readOnly := c.Bounds.ReadOnly
		c.Name, c.Owner, c.Bounds = by.Name, by.Owner, by.Bounds
		c.Bounds.ReadOnly = c.Bounds.ReadOnly || readOnly
	case c.Origin.From != "" && c.Agent():
		return api.Errorf(api.CodeForbidden, "serve an agent from %s: its engine there has not said what it is held to", c.Origin.From)
	}
	return nil
}

// understood reports whether a request is in a protocol of this engine's: a client
// of another one may still have its connection when the engine is replaced. A
// client that does not say is believed to know what it does, and the two
// operations with which clients choose or replace an engine never change.
func understood(r *http.Request, name string) bool {
	said := r.Header.Get(api.ProtocolHeader)
	if said == "" || name == api.EngineInfo.Name || name == api.EngineStop.Name {
		return true
	}
	protocol, err := strconv.Atoi(said)
	return err == nil && protocol >= api.OldestProtocol && protocol <= api.Protocol
}

// mayBeNewer reports whether a request is from a program of ours, which may know
// fields that this engine does not. What somebody writes by hand is read
// strictly: a field that is not known is a slip of theirs.
func mayBeNewer(r *http.Request) bool { return r.Header.Get(api.ProtocolHeader) != "" }

// AgentPrefix is what the names of all agents begin with.
const AgentPrefix = "agent:"

// Actor is the name under which what the caller does is known. That of an
// agent is never one that a person could have.
func (c Caller) Actor() string {
	if !c.Agent() {
		return "person"
	}
	return AgentPrefix + strings.TrimPrefix(c.Name, AgentPrefix)
}
