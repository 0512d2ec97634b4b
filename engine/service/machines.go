package service

import (
	"context"
	"io"
	"time"

	"tandem/engine/agent/access"
	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/remote/hosts"
)

// Machines serves the operations on other machines, and connects clients to them.
type Machines struct {
	Hosts *hosts.Hosts
	Guard *access.Guard
}

// maxMachineWait limits the wait of machine.list.
const maxMachineWait = time.Minute

// Handle registers the operations and the connections.
func (s *Machines) Handle(m *server.Mux) {
	server.Handle(m, api.MachineList, func(ctx context.Context, in api.MachineListInput) (api.MachineListOutput, error) {
		wait := time.Duration(in.WaitMS) * time.Millisecond
		return s.Hosts.List(ctx, min(max(wait, 0), maxMachineWait)), nil
	})
	server.Handle(m, api.MachineConnect, func(ctx context.Context, in api.MachineConnectInput) (api.Machine, error) {
		return s.Hosts.Connect(ctx, in)
	})
	m.HandleOpen(s.openMachine)
}

// openMachine connects to a machine. If an agent makes the call, the machine is told so, and
// rejects operations reserved for the user.
func (s *Machines) openMachine(ctx context.Context, o api.OpenOptions) (io.ReadWriteCloser, api.Info, error) {
	agent, err := s.Guard.AgentBehind(ctx)
	if err != nil {
		return nil, api.Info{}, err
	}
	o.Agent = agent
	conn, hello, err := s.Hosts.Open(ctx, o)
	if err != nil {
		return nil, api.Info{}, err
	}
	return conn, hello.Info(), nil
}
