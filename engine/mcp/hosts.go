package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
	"tandem/engine/mcp/toolkit"
)

// reachTimeout is how long it may take to reach a machine for the first time.
const reachTimeout = 30 * time.Second

// abroad are the other machines that one agent works on, for as long as it is there.
type abroad struct {
	ctx    context.Context
	mu     sync.Mutex
	byHost map[string]*stay
}

// A stay is an agent on another machine: with the same name, owner and bounds, and
// with what it has seen there.
type stay struct {
	host  string
	ready chan struct{} // closed when what follows is so
	agent *toolkit.Agent
	err   error

	backlog backlog // a machine that is away keeps no other from being told of calls
}

// on is the agent on another machine, reached for the first time by the first call.
func (s *server) on(ctx context.Context, f *toolkit.Agent, host string) (*stay, error) {
	s.agents.mu.Lock()
	a := s.agents.abroad[f]
	s.agents.mu.Unlock()
	if a == nil {
		return nil, api.Errorf(api.CodeUnavailable, "reach machine %s: the agent has gone", host)
	}
	a.mu.Lock()
	st := a.byHost[host]
	if st == nil {
		st = &stay{host: host, ready: make(chan struct{})}
		a.byHost[host] = st
		s.tasks.Go(func() { s.stay(a, st, f) })
	}
	a.mu.Unlock()
	select {
	case <-st.ready:
		return st, st.err
	case <-ctx.Done():
		return nil, api.Errorf(api.CodeUnavailable, "reach machine %s: %v", host, ctx.Err())
	}
}

// stay reaches a machine for an agent, and keeps it present there until it goes. What
// cannot be reached is tried anew by the next call.
func (s *server) stay(a *abroad, st *stay, own *toolkit.Agent) {
	st.agent, st.err = s.reach(a.ctx, own, st.host)
	if st.err != nil {
		a.mu.Lock()
		delete(a.byHost, st.host)
		a.mu.Unlock()
	}
	close(st.ready)
	if st.err == nil {
		st.agent.Attend(a.ctx, func(api.Event) {})
	}
}

// reach makes an agent of a machine's: paths begin in the home folder there, and
// programs have that machine's environment. What the policy there has somebody asked,
// it asks there.
func (s *server) reach(ctx context.Context, own *toolkit.Agent, host string) (*toolkit.Agent, error) {
	if s.o.Far == nil {
		return nil, api.Errorf(api.CodeNotFound, "reach machine %s: this server knows no others", host)
	}
	engine, err := retry.Connect(ctx, func(ctx context.Context) (*client.Client, error) {
		ctx, cancel := context.WithTimeout(ctx, reachTimeout)
		defer cancel()
		return s.o.Far(ctx, host, own.Actor, own.Owner, s.o.Bounds())
	})
	if err != nil {
		return nil, err
	}
	engine.Hasty = true
	info, err := api.EngineInfo.Call(ctx, engine, api.Empty{})
	if err != nil {
		engine.Close()
		return nil, err
	}
	o := *own.Options
	o.CWD, o.Home, o.Roots, o.NoElicit = info.Home, info.Home, nil, true
	return &toolkit.Agent{Options: &o, Engine: engine, Actor: own.Actor, Owner: own.Owner, Shell: cmp.Or(info.Shell, "sh")}, nil
}

// hostIn takes the machine out of the arguments of a call; "" for this one.
func hostIn(t toolkit.Tool, args json.RawMessage) (host string, rest json.RawMessage, err error) {
	var given map[string]json.RawMessage
	if !t.Hosted || json.Unmarshal(args, &given) != nil {
		return "", args, nil // the tool says what is wrong with them
	}
	value, ok := given[toolkit.HostArgument]
	if !ok {
		return "", args, nil
	}
	if json.Unmarshal(value, &host) != nil {
		return "", nil, api.Errorf(api.CodeInvalid, "call %s: argument %q must be a string: the name of a machine", t.Name, toolkit.HostArgument)
	}
	delete(given, toolkit.HostArgument)
	rest, err = json.Marshal(given)
	return host, rest, err
}

// lead takes a call to the machine that it names, if it names one.
func (s *server) lead(ctx context.Context, c *call) (err error) {
	if c.host, c.args, err = hostIn(c.tool, c.args); err != nil || c.host == "" {
		return err
	}
	if c.stay, err = s.on(ctx, c.own, c.host); err != nil {
		return err
	}
	c.at = c.stay.agent
	return present(ctx, c.own, c.at, c.host)
}

// present reports why a machine cannot be worked on just now: over a connection from
// before it went away, a call would find that out only with time.
func present(ctx context.Context, own, there *toolkit.Agent, host string) error {
	out, err := api.MachineList.Call(ctx, own.Engine, api.MachineListInput{})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(out.Machines, func(m api.Machine) bool { return m.Name == host && m.State == api.MachineConnected }) {
		return nil
	}
	return there.Engine.Reach(ctx)
}
