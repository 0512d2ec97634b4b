package fleet

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"sync"

	"tandem/engine/api"
	"tandem/engine/hosts/transport"
)

// A Fleet is an engine's part in one: as a machine, as the engine of a person, or both.
type Fleet struct {
	Hello  transport.Hello // what it says of itself as a machine
	Facts  map[string]string
	Accept func(c net.Conn, v Visitor) error
	Events func(ctx context.Context, send func(api.Event) error) error
	Log    *slog.Logger
	Tell   func(*api.Machine) // gets changes of the machines of Few; nil: there are others, or others are away

	setting sync.Mutex // one change at a time

	mu      sync.Mutex
	config  Config
	known   [2]string // what the credentials' files held
	faults  map[Kind]error
	machine *Machine
	person  *Person
}

// Set has the engine be what a configuration says. What stays as it was goes on.
func (f *Fleet) Set(c Config) {
	f.setting.Lock()
	defer f.setting.Unlock()
	known := [2]string{contents(c.Machine), contents(c.Person)}
	f.mu.Lock()
	same := f.config == c && f.known == known
	machine, person := f.machine, f.person
	f.mu.Unlock()
	if same {
		return
	}
	if machine != nil {
		machine.Close()
	}
	if person != nil {
		person.Close()
	}
	machine, person, faults := f.join(c)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.config, f.known, f.faults, f.machine, f.person = c, known, faults, machine, person
}

// contents is what is in a file, to see whether it has changed.
func contents(path string) string {
	text, _ := os.ReadFile(path) // one that is not there is told of when it is used
	return string(text)
}

// join begins to connect.
func (f *Fleet) join(c Config) (machine *Machine, person *Person, faults map[Kind]error) {
	faults = map[Kind]error{}
	if c.Hub == "" {
		return nil, nil, faults
	}
	if c.Machine != "" {
		creds, err := credentialsOf(c.Machine, KindMachine)
		if err == nil {
			machine = &Machine{Hello: f.Hello, Facts: f.Facts, Accept: f.Accept, Events: f.Events, Log: f.Log}
			err = machine.Start(c, creds)
		}
		if err != nil {
			machine, faults[KindMachine] = nil, err
		}
	}
	if c.Person != "" {
		creds, err := credentialsOf(c.Person, KindPerson)
		if err == nil {
			person = &Person{Log: f.Log, tell: f.Tell}
			err = person.Start(c, creds)
		}
		if err != nil {
			person, faults[KindPerson] = nil, err
		}
	}
	for kind, err := range faults {
		f.Log.Error("join the fleet", "as", kind, "error", err)
	}
	return machine, person, faults
}

func credentialsOf(path string, kind Kind) (Credentials, error) {
	creds, err := ReadCredentials(path)
	if err == nil && creds.Kind != kind {
		err = errors.New("read credentials " + path + ": not the credentials of a " + string(kind))
	}
	return creds, err
}

// Close leaves the fleet.
func (f *Fleet) Close() { f.Set(Config{}) }

// Status tells who this engine is in the fleet.
func (f *Fleet) Status() api.FleetStatusOutput {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := api.FleetStatusOutput{Hub: f.config.Hub, As: []api.FleetSelf{}}
	for kind, err := range f.faults {
		out.As = append(out.As, api.FleetSelf{Kind: string(kind), Error: err.Error()})
	}
	if f.machine != nil {
		out.As = append(out.As, self(f.machine.conn))
	}
	if f.person != nil {
		out.As = append(out.As, self(f.person.conn))
		f.person.measure(&out)
	}
	return out
}

func self(l *conn) api.FleetSelf {
	s := api.FleetSelf{Kind: string(l.user.Kind), Name: l.user.Name, Role: string(l.user.Role)}
	if err := l.now(); err != nil {
		s.Error = err.Error()
	}
	return s
}

// asPerson is the person of this engine.
func (f *Fleet) asPerson() (*Person, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.person != nil:
		return f.person, nil
	case f.faults[KindPerson] != nil:
		return nil, api.Errorf(api.CodeUnavailable, "reach the fleet: %v", f.faults[KindPerson])
	}
	return nil, api.Errorf(api.CodeNotFound, "reach the fleet: nobody has joined one here as a person yet").
		WithHint("`tandem hub invite person NAME --role operate` on the hub invites you")
}

// HasPerson reports whether somebody has joined here as a person.
func (f *Fleet) HasPerson() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.person != nil
}

// List is Person.List.
func (f *Fleet) List(ctx context.Context, in api.FleetListInput) ([]api.FleetMachine, error) {
	p, err := f.asPerson()
	if err != nil {
		return nil, err
	}
	return p.List(ctx, in)
}

// Few are the machines as the links to those of config.toml are told of, if they are few
// enough for a dashboard to keep a connection to each.
func (f *Fleet) Few(ctx context.Context) (list []api.Machine, many *api.FleetSummary) {
	p, err := f.asPerson()
	if err != nil {
		return nil, nil
	}
	p.view.begin(p.conn.nats)
	p.view.settled(ctx)
	if many = p.summary(); many != nil {
		p.view.wantRows() // whoever lists machines is about to look at what runs there
	}
	return p.few(), many
}

// Show has a machine be one of Few though there are many, or no more; ok is false if there
// is none of this name.
func (f *Fleet) Show(name string, on bool) (m api.Machine, ok bool) {
	p, err := f.asPerson()
	if err != nil {
		return m, false
	}
	return p.show(name, on)
}

// Processes is Person.Processes.
func (f *Fleet) Processes(ctx context.Context, in api.FleetProcessesInput) (api.FleetProcessesOutput, error) {
	p, err := f.asPerson()
	if err != nil {
		return api.FleetProcessesOutput{}, err
	}
	return p.Processes(ctx, in)
}

// History is Person.History.
func (f *Fleet) History(ctx context.Context, in api.FleetHistoryInput, who transport.Preface) (api.FleetHistoryOutput, error) {
	p, err := f.asPerson()
	if err != nil {
		return api.FleetHistoryOutput{}, err
	}
	return p.History(ctx, in, who)
}

// Open is Person.Open.
func (f *Fleet) Open(ctx context.Context, machine string, who transport.Preface) (net.Conn, transport.Hello, error) {
	p, err := f.asPerson()
	if err != nil {
		return nil, transport.Hello{}, err
	}
	return p.Open(ctx, machine, who)
}

// Any asks the machines with a label, and names the one that answers.
func (f *Fleet) Any(ctx context.Context, label string, who transport.Preface) (machine string, err error) {
	p, err := f.asPerson()
	if err != nil {
		return "", err
	}
	conn, hello, err := p.OpenAny(ctx, label, who)
	if err != nil {
		return "", err
	}
	return hello.Machine, conn.Close()
}
