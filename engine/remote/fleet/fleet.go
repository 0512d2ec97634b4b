package fleet

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"

	"tandem/engine/api"
	"tandem/engine/remote/hosts/transport"
	"tandem/persist/regular"
)

// A Fleet is an engine's membership in a fleet: as a machine, as a person's engine, or both.
type Fleet struct {
	Hello  transport.Hello // what this machine says about itself
	Facts  map[string]string
	Accept func(c net.Conn, v Visitor) error
	Events func(ctx context.Context, send func(api.Event) error) error
	Log    *slog.Logger
	Notify func(*api.Machine) // receives changes of the machines of Few; nil if their number or that of offline machines changes

	setMu sync.Mutex // serializes Set

	mu       sync.Mutex
	config   Config
	contents [2]string // contents of the credentials' files
	faults   map[Kind]error
	machine  *Machine
	person   *Person
}

// Set applies a configuration. If nothing has changed, the connections are kept.
func (f *Fleet) Set(c Config) {
	f.setMu.Lock()
	defer f.setMu.Unlock()
	// A file can change under the same name, after another join.
	contents := [2]string{readContents(c.Machine), readContents(c.Person)}
	f.mu.Lock()
	same := f.config == c && f.contents == contents
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
	machine, person, faults := f.joinAs(c)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.config, f.contents, f.faults, f.machine, f.person = c, contents, faults, machine, person
}

// readContents returns a file's content, to detect changes.
func readContents(path string) string {
	text, _ := regular.ReadFile(path) // a missing file is reported when it is used
	return string(text)
}

// joinAs starts connecting as a machine, a person, or both.
func (f *Fleet) joinAs(c Config) (machine *Machine, person *Person, faults map[Kind]error) {
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
			person = &Person{Log: f.Log, notify: f.Notify}
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

// Status describes this engine's identities in the fleet.
func (f *Fleet) Status() api.FleetStatusOutput {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := api.FleetStatusOutput{Hub: f.config.Hub, As: []api.FleetSelf{}}
	for kind, err := range f.faults {
		out.As = append(out.As, api.FleetSelf{Kind: string(kind), Error: err.Error()})
	}
	if f.machine != nil {
		out.As = append(out.As, selfOf(f.machine.conn))
	}
	if f.person != nil {
		out.As = append(out.As, selfOf(f.person.conn))
		f.person.addStats(&out)
	}
	return out
}

func selfOf(l *conn) api.FleetSelf {
	s := api.FleetSelf{Kind: string(l.user.Kind), Name: l.user.Name, Role: string(l.user.Role)}
	if err := l.state(); err != nil {
		s.Error = err.Error()
	}
	return s
}

// requirePerson returns the person of this engine, or an error to show if there is none.
func (f *Fleet) requirePerson() (*Person, error) {
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

// HasPerson reports whether a person has joined here.
func (f *Fleet) HasPerson() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.person != nil
}

// List implements Person.List for this engine's person.
func (f *Fleet) List(ctx context.Context, in api.FleetListInput) ([]api.FleetMachine, error) {
	p, err := f.requirePerson()
	if err != nil {
		return nil, err
	}
	return p.List(ctx, in)
}

// Few returns the machines of a small fleet, in the form used for those of config.toml, or the
// totals of a large one. A dashboard can keep a connection to each of them.
func (f *Fleet) Few(ctx context.Context) (list []api.Machine, many *api.FleetSummary) {
	p, err := f.requirePerson()
	if err != nil {
		return nil, nil
	}
	p.view.start(p.conn.nats)
	p.view.waitComplete(ctx)
	return p.listFew(), p.summarize()
}

// Show selects a machine of a large fleet for Few, or deselects it; ok is false if there is no
// machine of this name.
func (f *Fleet) Show(name string, on bool) (m api.Machine, ok bool) {
	p, err := f.requirePerson()
	if err != nil {
		return m, false
	}
	return p.selectMachine(name, on)
}

// Open implements Person.Open for this engine's person.
func (f *Fleet) Open(ctx context.Context, machine string, who transport.Preface) (net.Conn, transport.Hello, error) {
	p, err := f.requirePerson()
	if err != nil {
		return nil, transport.Hello{}, err
	}
	return p.Open(ctx, machine, who)
}

// Any connects to any machine with a label and returns the name of the one that answered.
func (f *Fleet) Any(ctx context.Context, label string, who transport.Preface) (machine string, err error) {
	p, err := f.requirePerson()
	if err != nil {
		return "", err
	}
	conn, hello, err := p.OpenAny(ctx, label, who)
	if err != nil {
		return "", err
	}
	return hello.Machine, conn.Close()
}
