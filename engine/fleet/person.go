package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"tandem/engine/api"
	"tandem/engine/fleet/search"
	"tandem/engine/hosts/transport"
	"tandem/engine/panics"
)

// A Person is the person of this engine in the fleet: the machines as they tell of
// themselves, and the way to each.
type Person struct {
	Log  *slog.Logger
	tell func(*api.Machine) // see Fleet.Tell; nil: nobody is told

	conn *conn
	view *view

	searches search.Searches // of histories

	opened []string // machines that are shown of many, the last one last; of the lock of the view
}

// Start connects, and stays connected until Close.
func (p *Person) Start(c Config, creds Credentials) error {
	p.view = newView()
	p.view.log, p.searches.Log = p.Log, p.Log
	l, err := connect(c, creds, p.Log, p.view.reconnected)
	if err != nil {
		return err
	}
	p.conn = l
	if p.tell != nil {
		p.view.watching = func(ctx context.Context) { p.watch(ctx) }
	}
	return nil
}

// State is why there is no connection to the hub; nil if there is one.
func (p *Person) State() error { return p.conn.now() }

// measure tells what the connection carries.
func (p *Person) measure(s *api.FleetStatusOutput) {
	stats := p.conn.nats.Stats()
	s.InMessages, s.InBytes, s.OutMessages, s.OutBytes, s.Reconnects = int64(stats.InMsgs), int64(stats.InBytes), int64(stats.OutMsgs), int64(stats.OutBytes), int64(stats.Reconnects)
	s.RTTMS = p.conn.roundTrip()
}

// Close leaves the fleet.
func (p *Person) Close() {
	p.searches.Close()
	p.view.close()
	p.conn.close()
}

// openTimeout bounds how long a machine may take to answer.
const openTimeout = 10 * time.Second

// askAgain is after how long it is asked again, which answers once.
const askAgain = time.Second

var errAway = errors.New("it is away")

// Open connects to the engine of a machine.
func (p *Person) Open(ctx context.Context, machine string, who transport.Preface) (net.Conn, transport.Hello, error) {
	if !ValidName(machine) {
		return nil, transport.Hello{}, api.Errorf(api.CodeNotFound, "reach machine %s: no machine has this name", machine)
	}
	me := p.conn.user.Name
	id := newID()
	pipe, err := p.conn.newPipe(downSubject(machine, me, id), upSubject(machine, me, id), machine)
	if err == nil {
		var hello transport.Hello
		if hello, err = p.greet(ctx, pipe, openSubject(machine, me), machine, id, who); err == nil {
			return pipe, hello, nil
		}
		pipe.leave()
	}
	return nil, transport.Hello{}, p.unreachable(machine, err)
}

// OpenAny connects to the engine of any one machine that has a label.
func (p *Person) OpenAny(ctx context.Context, label string, who transport.Preface) (net.Conn, transport.Hello, error) {
	if !ValidLabel(label) {
		return nil, transport.Hello{}, api.Errorf(api.CodeInvalid, "reach any machine with %s: must be key=value", label)
	}
	me := p.conn.user.Name
	id := newID()
	pipe, err := p.conn.newPipe(downSubject("*", me, id), "", label)
	if err == nil {
		var hello transport.Hello
		if hello, err = p.greet(ctx, pipe, anySubject(label, me), "any "+label, id, who); err == nil {
			pipe.settle(upSubject(hello.Machine, me, id), hello.Machine)
			return pipe, hello, nil
		}
		pipe.leave()
	}
	if errors.Is(err, errAway) {
		return nil, transport.Hello{}, api.Errorf(api.CodeUnavailable, "reach any machine with %s: none is connected", label).WithHint(hintFleet)
	}
	return nil, transport.Hello{}, p.unreachable("with "+label, err)
}

// greet asks for a pipe and waits for the machine's first word.
func (p *Person) greet(ctx context.Context, pipe *Pipe, subject, to, id string, who transport.Preface) (hello transport.Hello, err error) {
	request, err := p.conn.user.request(to, id, who)
	if err != nil {
		return hello, err
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	go panics.Logged(p.Log, "fleet: greeting", func() { // the machine answers over the pipe; that nobody is there, the hub says at once
		for ctx.Err() == nil { // a machine that goes just now may take the first and not answer
			once, stop := context.WithTimeout(ctx, askAgain)
			_, err := p.conn.nats.RequestWithContext(once, subject, request)
			stop()
			switch {
			case errors.Is(err, nats.ErrNoResponders):
				pipe.fail(errAway)
				return
			case !errors.Is(err, context.DeadlineExceeded):
				return // the connection that is lost ends the pipe
			}
		}
	})()
	text, from, err := pipe.greeting(ctx)
	if err != nil {
		return hello, err
	}
	if err := json.Unmarshal(text, &hello); err != nil {
		return hello, err
	}
	tokens := strings.Split(from, ".") // the hub lets a machine speak for itself alone
	hello.Machine = tokens[2]
	return hello, nil
}

const hintFleet = "`tandem fleet` lists the machines and their states"

// AwaySince says that a machine cannot be asked.
func AwaySince(machine string, seen time.Time) error {
	return api.Errorf(api.CodeUnavailable, "reach machine %s: it is offline, last seen %v ago", machine, time.Since(seen).Round(time.Second)).WithHint(hintFleet)
}

// unreachable says why a machine could not be reached.
func (p *Person) unreachable(machine string, err error) error {
	var refused *api.Error
	if errors.As(err, &refused) {
		return refused
	}
	if fault := p.State(); fault != nil {
		return api.Errorf(api.CodeUnavailable, "reach machine %s: the hub cannot be reached: %v", machine, fault)
	}
	if errors.Is(err, errAway) {
		if seen := p.view.seen(machine); !seen.IsZero() {
			return AwaySince(machine, seen)
		}
		return api.Errorf(api.CodeUnavailable, "reach machine %s: it is offline, or no machine has this name", machine).WithHint(hintFleet)
	}
	return api.Errorf(api.CodeUnavailable, "reach machine %s: %v", machine, err).WithHint(hintFleet)
}
