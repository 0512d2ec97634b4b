package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
)

// reachTimeout limits the first connection to a machine.
const reachTimeout = 30 * time.Second

// remoteAgents holds one agent's counterparts on other machines. They last until ctx ends.
type remoteAgents struct {
	ctx    context.Context
	mu     sync.Mutex
	byHost map[string]*remoteAgent
}

// A remoteAgent acts for an agent on another machine, with the same name, owner and bounds, and
// with its own record of seen output. agent and err are set once ready is closed.
type remoteAgent struct {
	host  string
	ready chan struct{}
	agent *toolkit.Agent
	err   error
}

// agentOn returns the counterpart of f on a machine. The first call for a machine connects it,
// later ones wait for that.
func (s *server) agentOn(ctx context.Context, f *toolkit.Agent, host string) (*remoteAgent, error) {
	s.agents.mu.Lock()
	a := s.agents.remotes[f]
	s.agents.mu.Unlock()
	if a == nil {
		return nil, api.Errorf(api.CodeUnavailable, "reach machine %s: the agent has disconnected", host)
	}
	a.mu.Lock()
	st := a.byHost[host]
	if st == nil {
		st = &remoteAgent{host: host, ready: make(chan struct{})}
		a.byHost[host] = st
		s.tasks.Go(func() { s.keepRemote(a, st, f) })
	}
	a.mu.Unlock()
	select {
	case <-st.ready:
		return st, st.err
	case <-ctx.Done():
		return nil, api.Errorf(api.CodeUnavailable, "reach machine %s: %v", host, ctx.Err())
	}
}

// keepRemote connects to a machine and keeps the agent present there until a.ctx ends. After a
// failure the next call tries again.
func (s *server) keepRemote(a *remoteAgents, st *remoteAgent, own *toolkit.Agent) {
	st.agent, st.err = s.connectRemote(a.ctx, own, st.host)
	if st.err != nil {
		a.mu.Lock()
		delete(a.byHost, st.host)
		a.mu.Unlock()
	}
	// Waiting callers get the error too; only later calls find no entry and try again.
	close(st.ready)
	if st.err == nil {
		st.agent.WatchEvents(a.ctx, func(api.Event) {})
	}
}

// connectRemote returns an agent connected to another machine's engine. Its relative paths start in
// the home folder there, its programs get that machine's environment, and questions of the policy
// there are shown there.
func (s *server) connectRemote(ctx context.Context, own *toolkit.Agent, host string) (*toolkit.Agent, error) {
	if s.o.Far == nil {
		return nil, api.Errorf(api.CodeNotFound, "reach machine %s: this server knows no other machines", host)
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

// splitHost separates the machine from the arguments of a call. host is "" for this machine.
func splitHost(t toolkit.Tool, args json.RawMessage) (host string, rest json.RawMessage, err error) {
	var given map[string]json.RawMessage
	if !t.Hosted || json.Unmarshal(args, &given) != nil {
		return "", args, nil // the tool reports invalid arguments
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

// routeCall directs a call to the machine named in its arguments, if any.
func (s *server) routeCall(ctx context.Context, c *call) (err error) {
	if c.host, c.args, err = splitHost(c.tool, c.args); err != nil || c.host == "" {
		return err
	}
	if c.remote, err = s.agentOn(ctx, c.own, c.host); err != nil {
		return err
	}
	c.agent = c.remote.agent
	return checkReachable(ctx, c.own, c.agent, c.host)
}

// checkReachable returns an error if a machine cannot be reached now. Without this check, a call
// over a connection from before the machine went offline would notice only after a timeout.
func checkReachable(ctx context.Context, own, remote *toolkit.Agent, host string) error {
	out, err := api.MachineList.Call(ctx, own.Engine, api.MachineListInput{})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(out.Machines, func(m api.Machine) bool { return m.Name == host && m.State == api.MachineConnected }) {
		return nil
	}
	return remote.Engine.Reach(ctx)
}
