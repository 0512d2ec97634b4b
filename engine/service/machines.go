package service

import (
	"context"
	"io"
	"time"

	"tandem/engine/access"
	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/hosts"
)

// Machines serves the operations on other machines, and leads to them.
type Machines struct {
	Hosts *hosts.Hosts
	Guard *access.Guard
}

// longestMachineWait bounds what machine.list may wait.
const longestMachineWait = time.Minute

// Handle serves the operations and the way through.
func (s *Machines) Handle(m *server.Mux) {
	server.Handle(m, api.MachineList, func(ctx context.Context, in api.MachineListInput) (api.MachineListOutput, error) {
		wait := time.Duration(in.WaitMS) * time.Millisecond
		return s.Hosts.List(ctx, min(max(wait, 0), longestMachineWait)), nil
	})
	server.Handle(m, api.MachineConnect, func(ctx context.Context, in api.MachineConnectInput) (api.Machine, error) {
		return s.Hosts.Connect(ctx, in)
	})
	m.HandleOpen(s.open)
}

// open leads to a machine, and tells it what of an agent's here asks: what is for
// the person alone is refused there as it would be here.
func (s *Machines) open(ctx context.Context, o api.OpenOptions) (io.ReadWriteCloser, api.Info, error) {
	agent, err := s.Guard.AgentBehind(ctx)
	if err != nil {
		return nil, api.Info{}, err
	}
	o.Agent = agent
	conn, hello, err := s.Hosts.Open(ctx, o)
	if err != nil {
		return nil, api.Info{}, err
	}
	return conn, api.Info{Version: hello.Version, Protocol: hello.Protocol, OldestProtocol: hello.OldestProtocol}, nil
}
