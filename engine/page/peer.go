package page

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"

	"tandem/engine/api"
	"tandem/engine/system/proctree"
)

// A connection is a TCP connection, with what is known about its other end.
type connection struct {
	client, server netip.AddrPort

	mu   sync.Mutex
	user bool // verified not to belong to an agent
}

type connectionKey struct{}

func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, &connection{client: addressOf(c.RemoteAddr()), server: addressOf(c.LocalAddr())})
}

func addressOf(a net.Addr) netip.AddrPort {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	at := t.AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// refuseAgents rejects connections from agents' processes on this machine: like an agent's client
// of the engine, they do not act for the user. A connection whose process is not found counts as
// an agent's.
func (p *Page) refuseAgents(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		agent, err := p.agentAt(r)
		switch {
		case err != nil:
			writeError(w, http.StatusBadGateway, fmt.Errorf("identify the client: %w", err))
		case agent != "":
			writeError(w, http.StatusForbidden, fmt.Errorf("the page is closed to agents, and this connection belongs to %s", agent))
		default:
			serve(w, r)
		}
	}
}

// agentAt returns the name of the agent at the other end of a request's connection, or "".
func (p *Page) agentAt(r *http.Request) (string, error) {
	c, ok := r.Context().Value(connectionKey{}).(*connection)
	if !ok || !c.client.IsValid() {
		return "", errors.New("not a TCP connection")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.user {
		return "", nil
	}
	engine, err := p.engines.connectTo(r.Context(), "")
	if err != nil {
		return "", err
	}
	out, err := api.EnginePeer.Call(r.Context(), engine, api.EnginePeerInput{Client: c.client.String(), Server: c.server.String()})
	if err != nil {
		return "", err
	}
	// Do not cache an agent: its process may just have exited during the check.
	c.user = out.Agent == ""
	return out.Agent, nil
}

// whoTries returns the sender of a request for the limits on codes: a user of this machine, an
// IPv4 address, or an IPv6 network, since one host has many IPv6 addresses.
func whoTries(r *http.Request) string {
	c, ok := r.Context().Value(connectionKey{}).(*connection)
	if !ok {
		return ""
	}
	if s, ok, err := proctree.FindSocket(c.client, c.server); ok && err == nil {
		return fmt.Sprintf("user %d", s.UID)
	}
	ip := c.client.Addr().WithZone("")
	if network, err := ip.Prefix(64); err == nil && ip.Is6() {
		return network.String()
	}
	return ip.String()
}
