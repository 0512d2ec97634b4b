package engine

import (
	"context"
	"os"
	"runtime"

	"tandem/engine/api"
	"tandem/engine/remote/all"
	"tandem/engine/remote/fleet"
	"tandem/engine/remote/hosts/transport"
)

// newFleet prepares this engine's part in a fleet, without serving anybody yet.
func (e *engine) newFleet() *fleet.Fleet {
	facts := map[string]string{"os": runtime.GOOS, "arch": runtime.GOARCH, "version": e.o.Version}
	if host, err := os.Hostname(); err == nil {
		facts["hostname"] = host
	}
	return &fleet.Fleet{
		Hello: transport.Hello{Version: e.o.Version, Protocol: api.Protocol, OldestProtocol: api.OldestProtocol, Agents: true},
		Facts: facts, Log: e.log,
		Events: func(ctx context.Context, send func(api.Event) error) error {
			return e.host.Control.Watch(ctx, "", true, func(snapshot api.Event) []api.Event { return []api.Event{snapshot} }, func(e api.Event) error {
				return send(e.WithoutPrivate())
			})
		},
		Notify: e.noteMachine,
	}
}

// noteMachine publishes the state of another machine. If m is nil, the summary of a fleet has
// changed.
func (e *engine) noteMachine(m *api.Machine) {
	e.machines.Note(m)
	e.host.Control.Publish(api.Event{Type: api.EventMachine, Machine: m})
}

func (e *engine) connectMachine(ctx context.Context, machine, caller, agent string) (all.Engine, error) {
	c, err := e.hosts.Engine(ctx, machine, caller, agent)
	if err != nil {
		return nil, err
	}
	return all.NewEngine(c), nil
}
