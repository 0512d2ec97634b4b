package all

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
)

// A fakeLink is the link to a machine with an engine that answers session.get.
type fakeLink struct {
	mu     sync.Mutex
	state  api.Machine
	opened int           // connections
	closed int           // connections
	hang   chan struct{} // calls wait until it is closed; nil: they answer at once
	by     caller        // of the last connection
}

// Do answers any operation with the process that it names.
func (l *fakeLink) Do(ctx context.Context, _ string, _ api.Effect, in, out any) error {
	if l.hang != nil {
		select {
		case <-l.hang:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	out.(*api.Process).ID = in.(api.IDInput).ID
	return nil
}

func (l *fakeLink) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed++
}

// A rig is a set of machines over fake links.
type rig struct {
	*Machines
	links map[string]*fakeLink
	agent string // what AgentBehind returns
}

func newRig(names ...string) *rig {
	r := &rig{links: map[string]*fakeLink{}}
	for _, name := range names {
		r.links[name] = &fakeLink{state: api.Machine{Name: name, State: api.MachineConnected, Version: "1"}}
	}
	r.Machines = &Machines{
		Connect: func(_ context.Context, machine, by, agent string) (Engine, error) {
			l := r.links[machine]
			if l == nil {
				return nil, api.Errorf(api.CodeNotFound, "reach machine %s: no such machine", machine)
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.state.State != api.MachineConnected {
				return nil, api.Errorf(api.CodeUnavailable, "reach machine %s: it is offline", machine)
			}
			l.opened++
			l.by = caller{machine, by, agent}
			return l, nil
		},
		Known:            func(_ context.Context, machine string) bool { return r.links[machine] != nil },
		MayReachMachines: func(context.Context) bool { return true },
		AgentBehind:      func(context.Context) (string, error) { return r.agent, nil },
	}
	return r
}

// set sets the state of a machine's link.
func (r *rig) set(name string, change func(*api.Machine)) {
	l := r.links[name]
	l.mu.Lock()
	change(&l.state)
	state := l.state
	l.mu.Unlock()
	r.Note(state)
}

// get calls session.get on a machine.
func (r *rig) get(ctx context.Context, machine string) error {
	var out api.Process
	err := r.Call(ctx, machine, api.SessionGet.Name, api.Read, api.IDInput{ID: "a1"}, &out)
	if err == nil && out.ID != "a1" {
		return errors.New("the answer is about " + out.ID)
	}
	return err
}

func TestCallsShareAConnectionUntilTheMachineIsOffline(t *testing.T) {
	r := newRig("box")
	box := r.links["box"]
	for range 2 {
		if err := r.get(t.Context(), "box"); err != nil {
			t.Fatal(err)
		}
	}
	if box.opened != 1 || box.closed != 0 {
		t.Errorf("opened %d times, closed %d", box.opened, box.closed)
	}
	r.set("box", func(*api.Machine) {})
	r.set("box", func(m *api.Machine) { m.Version = "2" }) // it speaks another protocol, perhaps
	if err := r.get(t.Context(), "box"); err != nil || box.opened != 2 || box.closed != 1 {
		t.Errorf("after an upgrade: opened %d times, closed %d: %v", box.opened, box.closed, err)
	}
	r.set("box", func(m *api.Machine) { m.State = api.MachineAway })
	if err := r.get(t.Context(), "box"); !errors.Is(err, api.CodeUnavailable) {
		t.Errorf("offline: %v", err)
	}
	r.set("box", func(m *api.Machine) { m.State = api.MachineConnected })
	if err := r.get(t.Context(), "box"); err != nil || box.opened != 3 {
		t.Errorf("back: opened %d times: %v", box.opened, err)
	}
	if err := r.get(t.Context(), "nosuch"); !errors.Is(err, api.CodeNotFound) {
		t.Errorf("no such machine: %v", err)
	}
}

func TestRunningCallFailsWithTheStateOfItsMachine(t *testing.T) {
	for name, change := range map[string]func(*api.Machine){
		"offline": func(m *api.Machine) { m.State, m.Error = api.MachineAway, "no answer within 2s" },
		"removed": func(m *api.Machine) { m.State, m.Error = api.MachineAway, "it was removed from config.toml" },
		"asks":    func(m *api.Machine) { m.State, m.Error = api.MachineNeedsYou, "password:" },
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig("box", "other")
			r.links["box"].hang = make(chan struct{})
			done := make(chan error, 1)
			go func() { done <- r.get(t.Context(), "box") }()
			synctest.Wait()
			began := time.Now()
			r.set("other", change)
			synctest.Wait()
			select {
			case err := <-done:
				t.Errorf("%s: the state of another machine ends a call: %v", name, err)
			default:
			}
			r.set("box", change)
			err := <-done
			if !errors.Is(err, api.CodeUnavailable) || !strings.Contains(err.Error(), "machine box") || !strings.Contains(err.Error(), r.links["box"].state.Error) || time.Since(began) > 0 {
				t.Errorf("%s: after %v: %v", name, time.Since(began), err)
			}
		})
	}
}

// What an agent started must not look like the user there.
func TestConnectionNamesTheAgentBehindTheCall(t *testing.T) {
	r := newRig("box")
	user := api.WithCaller(t.Context(), api.Caller{Name: "cli"})
	if err := r.get(user, "box"); err != nil || r.links["box"].by != (caller{"box", "cli", ""}) {
		t.Errorf("connected for %+v: %v", r.links["box"].by, err)
	}
	r.agent = "claude"
	if err := r.get(user, "box"); err != nil || r.links["box"].by != (caller{"box", "cli", "claude"}) || r.links["box"].opened != 2 {
		t.Errorf("connected for %+v: %v", r.links["box"].by, err)
	}
	r.agent = ""
	if err := r.get(user, "box"); err != nil || r.links["box"].opened != 2 {
		t.Errorf("opened %d times: %v", r.links["box"].opened, err)
	}
}
