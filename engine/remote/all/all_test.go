package all

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
)

// A fakeLink is the link to a machine, whose engine answers session.get, process.list and
// history.search.
type fakeLink struct {
	mu     sync.Mutex
	state  api.Machine
	opened int           // connections
	closed int           // connections
	hang   chan struct{} // calls wait until it is closed; nil: they answer at once
	by     caller        // of the last connection
	events chan api.Event
	rows   map[string]time.Duration // commands of the history, and their ages
	began  time.Time
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
	switch out := out.(type) {
	case *api.Process:
		out.ID = in.(api.IDInput).ID
	case *api.ProcessListOutput:
		out.Processes = []api.Process{{ID: "p"}}
	case *api.HistorySearchOutput:
		*out = l.search(in.(api.HistorySearchInput))
	}
	return ctx.Err()
}

func (l *fakeLink) search(in api.HistorySearchInput) (out api.HistorySearchOutput) {
	for c, age := range l.rows {
		row := api.HistoryRow{Command: api.Command{ID: 1, Command: c, StartedAt: l.began.Add(-age), Process: "p"}, Runs: 1}
		if in.Query != "" {
			row.Score = strings.Count(c, in.Query)
		}
		out.Rows = append(out.Rows, row)
	}
	out.Total = len(l.rows)
	return out
}

// WatchFor streams events until the channel is closed.
func (l *fakeLink) WatchFor(ctx context.Context, _ api.WatchInput) iter.Seq2[api.Event, error] {
	l.mu.Lock()
	events := l.events
	l.mu.Unlock()
	return func(yield func(api.Event, error) bool) {
		for {
			select {
			case e, ok := <-events:
				if !ok {
					yield(api.Event{}, errors.New("the link was lost"))
					return
				}
				if !yield(e, nil) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

func (l *fakeLink) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed++
}

// A rig is a set of machines over fake links. The engine on this machine is a fake link too.
type rig struct {
	*Machines
	own   *fakeLink
	agent string // what AgentBehind returns
	may   bool   // what MayReachMachines returns

	mu    sync.Mutex
	links map[string]*fakeLink
}

func newRig(t *testing.T, names ...string) *rig {
	r := &rig{own: &fakeLink{began: time.Now()}, may: true, links: map[string]*fakeLink{}}
	for _, name := range names {
		r.links[name] = &fakeLink{state: api.Machine{Name: name, State: api.MachineConnected, Version: "1"}, events: make(chan api.Event, 100), began: time.Now()}
	}
	r.Machines = &Machines{
		Log: slog.New(slog.DiscardHandler),
		Connect: func(_ context.Context, machine, by, agent string) (Engine, error) {
			l := r.link(machine)
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
		Known:            func(_ context.Context, machine string) bool { return r.link(machine) != nil },
		List:             r.list,
		MayReachMachines: func(context.Context) bool { return r.may },
		AgentBehind:      func(context.Context) (string, error) { return r.agent, nil },
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.Start(ctx)
	t.Cleanup(func() { cancel(); r.Close() })
	return r
}

func (r *rig) link(machine string) *fakeLink {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.links[machine]
}

func (r *rig) list(context.Context) (out api.MachineListOutput) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(r.links)) {
		l := r.links[name]
		l.mu.Lock()
		out.Machines = append(out.Machines, l.state)
		l.mu.Unlock()
	}
	return out
}

// set sets the state of a machine's link.
func (r *rig) set(name string, change func(*api.Machine)) {
	l := r.link(name)
	l.mu.Lock()
	change(&l.state)
	state := l.state
	l.mu.Unlock()
	r.Note(&state)
}

// setState sets the state of a machine's link.
func (r *rig) setState(name string, state api.MachineState) {
	r.set(name, func(m *api.Machine) { m.State = state })
}

// remove removes a machine from the configuration.
func (r *rig) remove(name string) {
	r.mu.Lock()
	l := r.links[name]
	delete(r.links, name)
	r.mu.Unlock()
	gone := l.state
	gone.State = api.MachineAway
	r.Note(&gone)
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
	r := newRig(t, "box")
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
			r := newRig(t, "box", "other")
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

// A machine must not take a program started by an agent here for the user.
func TestConnectionNamesTheAgentBehindTheCall(t *testing.T) {
	r := newRig(t, "box")
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
