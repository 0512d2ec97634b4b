// Package hosts connects to other machines: one permanent link to each, over ssh or any other
// command, shared by all clients of this engine. An unresponsive machine does not delay requests
// to others.
package hosts

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/base/panics"
	"tandem/engine/remote/hosts/transport"
)

// Hosts is the set of machines known to an engine. A link is established on the first request for
// its machine, and then kept.
type Hosts struct {
	DataDir string
	Origin  string   // this engine, "user@host"
	Environ []string // of the commands that connect to machines
	Log     *slog.Logger
	Tell    func(m api.Machine) // receives each change of a machine's state
	// Read returns the machines in config.toml, and whether they may have changed since the last
	// call. It is called for a machine unknown to Set, never concurrently. It may be nil.
	Read  func() (machines []transport.Machine, changed bool, err error)
	Fleet Fleet // machines not in config.toml; nil for none

	// QuestionWait is how long a command must be silent after a prompt to count as waiting for the
	// user; default 700 ms.
	QuestionWait time.Duration
	// DialTimeout is the maximum time until a bridge's greeting; default 20 s.
	DialTimeout time.Duration
	// HangupGrace is how long a command may take to exit after its input is closed; default 2 s.
	HangupGrace time.Duration

	reading sync.Mutex // held from Read to Set: older machines must not replace newer ones

	mu      sync.Mutex
	ctx     context.Context
	links   map[string]*link
	sock    string // socket of the ssh agent of the latest client
	ended   bool
	isSet   bool // Set was called, so watchers may have listed the machines
	running sync.WaitGroup
	ending  sync.WaitGroup // commands of closed links
	starter starter
}

// A Fleet provides machines reached without dialling, see package fleet.
type Fleet interface {
	HasPerson() bool
	// Few returns the machines to show like those in config.toml. If the fleet has too many for
	// that, list has only those selected by Show, and many has the totals.
	Few(ctx context.Context) (list []api.Machine, many *api.FleetSummary)
	Show(name string, on bool) (api.Machine, bool)
	Open(ctx context.Context, machine string, who transport.Preface) (net.Conn, transport.Hello, error)
}

// Start prepares h. Links end when ctx ends.
func (h *Hosts) Start(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ctx, h.links = ctx, map[string]*link{}
	h.QuestionWait = cmp.Or(h.QuestionWait, 700*time.Millisecond)
	h.DialTimeout = cmp.Or(h.DialTimeout, dialTimeout)
	h.HangupGrace = cmp.Or(h.HangupGrace, 2*time.Second)
}

// Close waits until all links and their commands have ended. The context of Start must have ended.
func (h *Hosts) Close() {
	h.mu.Lock()
	h.ended = true
	h.mu.Unlock()
	h.running.Wait()
	h.ending.Wait()
	h.starter.stop()
}

// Set replaces the machines. Links of unchanged machines stay. It reports new and removed machines
// to Tell.
func (h *Hosts) Set(machines []transport.Machine) {
	h.mu.Lock()
	var gone, added []*link
	for name, l := range h.links {
		if i := slices.IndexFunc(machines, func(m transport.Machine) bool { return m.Name == name }); i < 0 || !equalMachines(machines[i], l.machine) {
			gone = append(gone, l)
			delete(h.links, name)
		}
	}
	for _, m := range machines {
		if h.links[m.Name] == nil {
			h.links[m.Name] = newLink(h, m)
			if h.isSet {
				added = append(added, h.links[m.Name])
			}
		}
	}
	h.isSet = true
	h.mu.Unlock()
	// Outside the lock, because Tell calls other code.
	for _, l := range gone {
		l.end()
		h.Tell(api.Machine{Name: l.machine.Name, State: api.MachineAway, Error: "it was removed from config.toml, or changed there", Target: l.machine.Target(), SSH: l.machine.SSH != ""})
	}
	for _, l := range added {
		h.Tell(l.currentState())
	}
}

func equalMachines(a, b transport.Machine) bool {
	return a.SSH == b.SSH && slices.Equal(a.Transport, b.Transport) && len(a.Env) == len(b.Env) &&
		!slices.ContainsFunc(keysOf(a.Env), func(k string) bool { return a.Env[k] != b.Env[k] })
}

func keysOf(m map[string]string) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	return names
}

// findLink returns the link of a machine, and starts it if needed.
func (h *Hosts) findLink(name string) (*link, error) {
	l := h.startedLink(name)
	if l == nil && h.Read != nil {
		// The machine may have been added to config.toml just now.
		if err := h.Refresh(); err != nil {
			return nil, api.Errorf(api.CodeUnavailable, "reach machine %s: %v", name, err)
		}
		l = h.startedLink(name)
	}
	if l == nil {
		return nil, api.Errorf(api.CodeNotFound, "reach machine %s: config.toml has no machine with this name", name).
			WithHint("`tandem machine list` lists them, `tandem machine add` adds one")
	}
	return l, nil
}

// Refresh passes the machines returned by Read to Set.
func (h *Hosts) Refresh() error {
	h.reading.Lock()
	defer h.reading.Unlock()
	machines, changed, err := h.Read()
	if err == nil && changed {
		h.Set(machines)
	}
	return err
}

// startedLink returns the link of a machine, and starts it if needed; nil for an unknown machine.
func (h *Hosts) startedLink(name string) *link {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.links[name]
	if l != nil {
		h.startLink(l)
	}
	return l
}

// startLink starts a link if it has not been started. The caller holds h.mu.
func (h *Hosts) startLink(l *link) {
	if l.begun || h.ended {
		return
	}
	l.begun = true
	ctx, cancel := context.WithCancel(h.ctx)
	l.end = cancel
	h.running.Go(panics.Restarted(ctx, h.Log, "link to a machine", func() { l.run(ctx) }))
}

// Open connects to the engine of a machine for the client described by o. It waits only for a link
// being established, or one lost a moment ago.
func (h *Hosts) Open(ctx context.Context, o api.OpenOptions) (net.Conn, transport.Hello, error) {
	h.useAgent(o.AuthSock)
	preface := transport.Preface{Origin: h.Origin, Agent: o.Agent, By: o.By}
	l, err := h.findLink(o.Machine)
	switch {
	case err == nil:
		return l.openTo(ctx, preface)
	case h.Fleet != nil && h.Fleet.HasPerson():
		return h.Fleet.Open(ctx, o.Machine, preface)
	}
	return nil, transport.Hello{}, err
}

// Engine returns a client of a machine's engine, for calls of this engine in the user's name.
// caller is the calling client's name, and agent the agent's process behind it, "" for none.
func (h *Hosts) Engine(ctx context.Context, machine, caller, agent string) (*client.Client, error) {
	return client.NewRemote(ctx, client.Options{DataDir: h.DataDir, Name: caller}, machine, func(ctx context.Context) (net.Conn, api.Info, error) {
		conn, hello, err := h.Open(ctx, api.OpenOptions{Machine: machine, Agent: agent})
		return conn, hello.Info(), err
	})
}

// Knows reports whether a machine is listed by List.
func (h *Hosts) Knows(ctx context.Context, machine string) bool {
	h.mu.Lock()
	known := h.links[machine] != nil
	h.mu.Unlock()
	if known || h.Fleet == nil {
		return known
	}
	few, _ := h.Fleet.Few(ctx)
	return slices.ContainsFunc(few, func(m api.Machine) bool { return m.Name == machine })
}

// useAgent records the socket of the user's ssh agent: the engine's own may be from a login that
// has ended.
func (h *Hosts) useAgent(sock string) {
	if sock == "" {
		return
	}
	h.mu.Lock()
	h.sock = sock
	h.mu.Unlock()
}

// environ returns the environment of a command that connects to a machine.
func (h *Hosts) environ() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	env := slices.Clone(h.Environ)
	if h.sock != "" {
		env = append(env, "SSH_AUTH_SOCK="+h.sock)
	}
	return env
}

// List returns all machines, sorted by name, and starts their links. It waits for links being
// established, at most for the duration wait.
func (h *Hosts) List(ctx context.Context, wait time.Duration) api.MachineListOutput {
	h.mu.Lock()
	var all []*link
	for _, l := range h.links {
		h.startLink(l)
		all = append(all, l)
	}
	h.mu.Unlock()
	// One timeout for all machines together.
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	list := []api.Machine{}
	for _, l := range all {
		list = append(list, l.awaitSettled(ctx, 0))
	}
	list, many := h.withFleet(ctx, list)
	slices.SortFunc(list, func(a, b api.Machine) int { return strings.Compare(a.Name, b.Name) })
	return api.MachineListOutput{Machines: list, Fleet: many}
}

// withFleet adds the machines of the fleet that are not in config.toml.
func (h *Hosts) withFleet(ctx context.Context, list []api.Machine) ([]api.Machine, *api.FleetSummary) {
	if h.Fleet == nil {
		return list, nil
	}
	few, many := h.Fleet.Few(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range few {
		if h.links[m.Name] == nil {
			list = append(list, m)
		}
	}
	return list, many
}

// Known returns the machines with started links, for watchers.
func (h *Hosts) Known() (list []api.Machine) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.links {
		if l.begun {
			list = append(list, l.currentState())
		}
	}
	return list
}

// Connect tries to reach a machine now and returns the result. A machine of a fleet is shown from
// then on, or hidden.
func (h *Hosts) Connect(ctx context.Context, in api.MachineConnectInput) (api.Machine, error) {
	l, err := h.findLink(in.Name)
	if err != nil {
		if h.Fleet != nil {
			if m, ok := h.Fleet.Show(in.Name, !in.Close); ok {
				return m, nil
			}
		}
		return api.Machine{}, err
	}
	l.retry()
	ctx, cancel := context.WithTimeout(ctx, h.DialTimeout+h.HangupGrace+settleGrace)
	defer cancel()
	return l.awaitSettled(ctx, 0), nil
}
