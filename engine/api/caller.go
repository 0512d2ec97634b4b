package api

import (
	"context"
	"net/http"
	"strconv"
)

const (
	clientHeader   = "Tandem-Client"
	versionHeader  = "Tandem-Version"
	protocolHeader = "Tandem-Protocol"
	ownerHeader    = "Tandem-Owner"
)

// A Caller is who sent a request, as it says itself.
type Caller struct {
	Name    string // ConnectOptions.Name: "dashboard", "cli", …; "" if it did not say
	Version string // its program's version
	Owner   string // ConnectOptions.Owner; "" for a person's clients
	Bounds  Bounds // of an agent: what it is held to
	Peer    Peer   // the process at the other end of the connection
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
func (m *Mux) withCaller(r *http.Request) (context.Context, *Error) {
	c := Caller{Name: r.Header.Get(clientHeader), Version: r.Header.Get(versionHeader), Owner: r.Header.Get(ownerHeader), Peer: peerOf(r.Context())}
	bounds, err := m.bounds.of(r)
	if err != nil {
		return nil, err
	}
	if bounds != nil {
		c.Bounds = *bounds
	}
	return context.WithValue(r.Context(), callerKey{}, c), nil
}

// understood reports whether a request is in this engine's Protocol: a client
// of another one may still have its connection when the engine is replaced. A
// client that does not say is believed to know what it does, and the two
// operations with which clients choose or replace an engine never change.
func understood(r *http.Request, name string) bool {
	said := r.Header.Get(protocolHeader)
	return said == "" || said == strconv.Itoa(Protocol) || name == EngineInfo.Name || name == EngineStop.Name
}
