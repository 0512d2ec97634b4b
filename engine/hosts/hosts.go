// Package hosts is other machines: one kept link to each, over ssh or any
// command, which all clients of this engine go through. A machine that does not
// answer costs nobody who asks for another anything.
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
	"tandem/engine/hosts/transport"
	"tandem/engine/panics"
)

// Hosts are the machines of one engine. Links begin when somebody first asks for
// them, and are then kept.
type Hosts struct {
	DataDir string
	Origin  string   // who this engine is, "user@host"
	Environ []string // of the commands that reach machines
	Log     *slog.Logger
	Tell    func(m api.Machine) // gets each change of a machine's state
	// Read reads the machines of config.toml, if they may have changed since its last call. It is
	// asked about one that Set has not given yet, one call at a time. nil: it never does.
	Read  func() (machines []transport.Machine, changed bool, err error)
	Fleet Fleet // machines that config.toml does not have; nil for none

	// QuestionWait is how long a command must print nothing after a prompt before it counts as
	// one that needs the user; default 700 ms.
	QuestionWait time.Duration
	// DialTimeout is how long a command may take until its bridge says hello; default 20 s.
	DialTimeout time.Duration
	// HangupGrace is how long a command may take to exit once its input is closed; default 2 s.
	HangupGrace time.Duration

	reading sync.Mutex // held from Read to Set: no older machines replace newer ones

	mu      sync.Mutex
	ctx     context.Context
	links   map[string]*link
	sock    string // where the ssh agent of the client that asked last listens
	ended   bool
	isSet   bool // Set was called: who watches may have listed the machines
	running sync.WaitGroup
	ending  sync.WaitGroup // commands of links that are over
	starter starter
}

// A Fleet leads to machines that are not dialled: see package fleet.
type Fleet interface {
	HasPerson() bool
	// Few are those that are shown as if they were of config.toml, of many if there are, which
	// Show adds to.
	Few(ctx context.Context) (list []api.Machine, many *api.FleetSummary)
	Show(name string, on bool) (api.Machine, bool)
	Open(ctx context.Context, machine string, who transport.Preface) (net.Conn, transport.Hello, error)
}

// Start gives links a life that ends with ctx.
func (h *Hosts) Start(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ctx, h.links = ctx, map[string]*link{}
	h.QuestionWait = cmp.Or(h.QuestionWait, 700*time.Millisecond)
	h.DialTimeout = cmp.Or(h.DialTimeout, dialTimeout)
	h.HangupGrace = cmp.Or(h.HangupGrace, 2*time.Second)
}

// Close waits until all links have ended, with their commands; the context of Start is over.
func (h *Hosts) Close() {
	h.mu.Lock()
	h.ended = true
	h.mu.Unlock()
	h.running.Wait()
	h.ending.Wait()
	h.starter.end()
}

// Set makes machines those that there are. The link of one that stays as it was
// stays too. Who watches is told of those that are new and of those that are gone.
func (h *Hosts) Set(machines []transport.Machine) {
	h.mu.Lock()
	var gone, added []*link
	for name, l := range h.links {
		if i := slices.IndexFunc(machines, func(m transport.Machine) bool { return m.Name == name }); i < 0 || !same(machines[i], l.machine) {
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
	for _, l := range gone {
		l.end()
		h.Tell(api.Machine{Name: l.machine.Name, State: api.MachineAway, Error: "config.toml has it no more, or otherwise", Target: l.machine.Target(), SSH: l.machine.SSH != ""})
	}
	for _, l := range added {
		h.Tell(l.now())
	}
}

func same(a, b transport.Machine) bool {
	return a.SSH == b.SSH && slices.Equal(a.Transport, b.Transport) && len(a.Env) == len(b.Env) &&
		!slices.ContainsFunc(keys(a.Env), func(k string) bool { return a.Env[k] != b.Env[k] })
}

func keys(m map[string]string) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	return names
}

// find gives the link of a machine, which it begins.
func (h *Hosts) find(name string) (*link, error) {
	l := h.known(name)
	if l == nil && h.Read != nil {
		if err := h.Refresh(); err != nil {
			return nil, api.Errorf(api.CodeUnavailable, "reach machine %s: %v", name, err)
		}
		l = h.known(name)
	}
	if l == nil {
		return nil, api.Errorf(api.CodeNotFound, "reach machine %s: config.toml has no machine of this name", name).
			WithHint("`tandem machine list` shows them, `tandem machine add` makes one")
	}
	return l, nil
}

// Refresh passes the machines that Read returns to Set.
func (h *Hosts) Refresh() error {
	h.reading.Lock()
	defer h.reading.Unlock()
	machines, changed, err := h.Read()
	if err == nil && changed {
		h.Set(machines)
	}
	return err
}

// known returns the link of a machine, which it begins; nil for an unknown machine.
func (h *Hosts) known(name string) *link {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.links[name]
	if l != nil {
		h.begin(l)
	}
	return l
}

// begin starts a link that nobody has asked for before. The lock is held.
func (h *Hosts) begin(l *link) {
	if l.begun || h.ended {
		return
	}
	l.begun = true
	ctx, cancel := context.WithCancel(h.ctx)
	l.end = cancel
	h.running.Go(panics.Restarted(ctx, h.Log, "link to a machine", func() { l.run(ctx) }))
}

// Open connects to the engine of a machine, for who is told of there. It waits
// for a link that is being made, or was lost a moment ago, and for nothing else.
func (h *Hosts) Open(ctx context.Context, o api.OpenOptions) (net.Conn, transport.Hello, error) {
	h.useAgent(o.AuthSock)
	who := transport.Preface{Origin: h.Origin, Agent: o.Agent, By: o.By}
	l, err := h.find(o.Machine)
	switch {
	case err == nil:
		return l.open(ctx, who)
	case h.Fleet != nil && h.Fleet.HasPerson():
		return h.Fleet.Open(ctx, o.Machine, who)
	}
	return nil, transport.Hello{}, err
}

// useAgent takes down where the person's ssh agent is: this engine may have been
// started from a login that is long over.
func (h *Hosts) useAgent(sock string) {
	if sock == "" {
		return
	}
	h.mu.Lock()
	h.sock = sock
	h.mu.Unlock()
}

// environ is the environment of a command that reaches a machine.
func (h *Hosts) environ() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	env := slices.Clone(h.Environ)
	if h.sock != "" {
		env = append(env, "SSH_AUTH_SOCK="+h.sock)
	}
	return env
}

// List tells of all machines, by name, and begins their links. It waits up to
// some time for those that are being made.
func (h *Hosts) List(ctx context.Context, wait time.Duration) api.MachineListOutput {
	h.mu.Lock()
	var all []*link
	for _, l := range h.links {
		h.begin(l)
		all = append(all, l)
	}
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	list := []api.Machine{}
	for _, l := range all {
		list = append(list, l.settled(ctx, 0))
	}
	list, many := h.withFleet(ctx, list)
	slices.SortFunc(list, func(a, b api.Machine) int { return strings.Compare(a.Name, b.Name) })
	return api.MachineListOutput{Machines: list, Fleet: many}
}

// withFleet adds the machines of the fleet that config.toml does not have.
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

// Known tells of the machines whose links have begun, for who watches.
func (h *Hosts) Known() (list []api.Machine) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.links {
		if l.begun {
			list = append(list, l.now())
		}
	}
	return list
}

// Connect tries at once to reach a machine, and tells what came of it. One of a fleet is
// shown from then on, or no more.
func (h *Hosts) Connect(ctx context.Context, in api.MachineConnectInput) (api.Machine, error) {
	l, err := h.find(in.Name)
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
	return l.settled(ctx, 0), nil
}
