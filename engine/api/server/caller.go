package server

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"tandem/engine/api"
)

// identify returns the request's context with its Caller.
func (m *Mux) identify(r *http.Request) (context.Context, *api.Error) {
	c := api.Caller{Name: r.Header.Get(api.ClientHeader), Version: r.Header.Get(api.VersionHeader), Owner: r.Header.Get(api.OwnerHeader), Peer: peerOf(r.Context()), Origin: originOf(r.Context())}
	// Like the owner, these are claims: only an agents' server may use a connection of an agent.
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
	if err := applyOrigin(&c); err != nil {
		return nil, err
	}
	if spoken := protocolOf(r); c.Agent() && spoken != 0 && spoken < api.AgentProtocol {
		return nil, api.Errorf(api.CodeConflict, "serve an agent: its server is older than the engine").
			WithHint("start the agent's server (tandem --serve) again")
	}
	return api.WithCaller(r.Context(), c), nil
}

// applyOrigin replaces what an agent on another machine claims by what its engine said. The bounds
// are those sent when the connection was opened.
func applyOrigin(c *api.Caller) *api.Error {
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

// isUnderstood reports whether this engine understands the protocol of a request. A client may keep
// its connection when an engine with another protocol takes over. Requests without a protocol are
// accepted. So are the two operations for choosing and replacing an engine, which never change.
func isUnderstood(r *http.Request, name string) bool {
	if r.Header.Get(api.ProtocolHeader) == "" || name == api.EngineInfo.Name || name == api.EngineStop.Name {
		return true
	}
	protocol := protocolOf(r)
	return protocol >= api.OldestProtocol && protocol <= api.Protocol
}

// protocolOf returns the protocol of a request, or 0 if it names none.
func protocolOf(r *http.Request) int {
	protocol, _ := strconv.Atoi(r.Header.Get(api.ProtocolHeader))
	return protocol
}

// mayBeNewer reports whether a request is from a tandem program, which may send fields that this
// engine does not know. In a request written by hand, an unknown field is a mistake.
func mayBeNewer(r *http.Request) bool { return r.Header.Get(api.ProtocolHeader) != "" }
