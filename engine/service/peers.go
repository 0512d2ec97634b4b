package service

import (
	"context"
	"net/netip"

	"tandem/engine/agent/access"
	"tandem/engine/api"
	"tandem/engine/api/server"
)

// Peers tells the user's own servers who owns the process that connects to them.
type Peers struct{ Guard *access.Guard }

// Handle registers engine.peer.
func (s Peers) Handle(m *server.Mux) {
	server.Handle(m, api.EnginePeer, func(ctx context.Context, in api.EnginePeerInput) (api.EnginePeerOutput, error) {
		client, err := netip.ParseAddrPort(in.Client)
		if err != nil {
			return api.EnginePeerOutput{}, api.Errorf(api.CodeInvalid, "read client %q: must be IP:port", in.Client)
		}
		own, err := netip.ParseAddrPort(in.Server)
		if err != nil {
			return api.EnginePeerOutput{}, api.Errorf(api.CodeInvalid, "read server %q: must be IP:port", in.Server)
		}
		agent, err := s.Guard.AgentAt(ctx, client, own)
		return api.EnginePeerOutput{Agent: agent}, err
	})
}
