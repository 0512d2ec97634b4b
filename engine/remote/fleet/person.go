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
	"tandem/engine/base/panics"
	"tandem/engine/remote/hosts/transport"
)

// A Person is this engine's person in the fleet: the view of all machines and the means to connect
// to each.
type Person struct {
	Log    *slog.Logger
	notify func(*api.Machine) // see Fleet.Notify; may be nil

	conn *conn
	view *view

	selected []string // selected machines of a large fleet, the newest last; guarded by view.mu
}

// Start connects until Close is called.
func (p *Person) Start(c Config, creds Credentials) error {
	p.view = newView()
	p.view.log = p.Log
	l, err := connect(c, creds, p.Log, p.view.onReconnect)
	if err != nil {
		return err
	}
	p.conn = l
	if p.notify != nil {
		p.view.watch = func(ctx context.Context) { p.watchChanges(ctx) }
	}
	return nil
}

// State returns why there is no connection to the hub; nil if connected.
func (p *Person) State() error { return p.conn.state() }

// addStats adds the traffic of the connection to a status.
func (p *Person) addStats(s *api.FleetStatusOutput) {
	stats := p.conn.nats.Stats()
	s.InMessages, s.InBytes, s.OutMessages, s.OutBytes, s.Reconnects = int64(stats.InMsgs), int64(stats.InBytes), int64(stats.OutMsgs), int64(stats.OutBytes), int64(stats.Reconnects)
	s.RTTMS = p.conn.roundTrip()
}

// Close leaves the fleet.
func (p *Person) Close() {
	p.view.close()
	p.conn.close()
}

// openTimeout limits how long a machine may take to answer.
const openTimeout = 10 * time.Second

// retryAfter is the time until a request is repeated. The machine answers an id only once.
const retryAfter = time.Second

var errOffline = errors.New("it is offline")

// Open connects to the engine of a machine.
func (p *Person) Open(ctx context.Context, machine string, who transport.Preface) (net.Conn, transport.Hello, error) {
	if !ValidName(machine) {
		return nil, transport.Hello{}, api.Errorf(api.CodeNotFound, "reach machine %s: no machine has this name", machine)
	}
	me := p.conn.user.Name
	id := newID()
	// Subscribe before asking: the answer must not arrive first.
	pipe, err := p.conn.newPipe(downSubject(machine, me, id), upSubject(machine, me, id), machine)
	if err == nil {
		var hello transport.Hello
		if hello, err = p.requestPipe(ctx, pipe, openSubject(machine, me), machine, id, who); err == nil {
			return pipe, hello, nil
		}
		pipe.release()
	}
	return nil, transport.Hello{}, p.unreachableError(machine, err)
}

// OpenAny connects to the engine of any machine with a label.
func (p *Person) OpenAny(ctx context.Context, label string, who transport.Preface) (net.Conn, transport.Hello, error) {
	if !ValidLabel(label) {
		return nil, transport.Hello{}, api.Errorf(api.CodeInvalid, "reach any machine with %s: must be key=value", label)
	}
	me := p.conn.user.Name
	id := newID()
	// No one can be addressed until a machine has answered, so the pipe gets its peer later.
	pipe, err := p.conn.newPipe(downSubject("*", me, id), "", label)
	if err == nil {
		var hello transport.Hello
		if hello, err = p.requestPipe(ctx, pipe, anySubject(label, me), "any "+label, id, who); err == nil {
			pipe.setPeer(upSubject(hello.Machine, me, id), hello.Machine)
			return pipe, hello, nil
		}
		pipe.release()
	}
	if errors.Is(err, errOffline) {
		return nil, transport.Hello{}, api.Errorf(api.CodeUnavailable, "reach any machine with %s: none is connected", label).WithHint(hintFleet)
	}
	return nil, transport.Hello{}, p.unreachableError("with "+label, err)
}

// requestPipe sends a request for a pipe and waits for the machine's hello.
func (p *Person) requestPipe(ctx context.Context, pipe *Pipe, subject, to, id string, who transport.Preface) (hello transport.Hello, err error) {
	request, err := p.conn.user.signRequest(to, id, who)
	if err != nil {
		return hello, err
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	// The machine answers over the pipe; only "no responders" comes as a direct reply.
	go panics.Logged(p.Log, "fleet: greeting", func() {
		// A machine that is just shutting down may receive the first request and not answer.
		for ctx.Err() == nil {
			once, stop := context.WithTimeout(ctx, retryAfter)
			_, err := p.conn.nats.RequestWithContext(once, subject, request)
			stop()
			switch {
			case errors.Is(err, nats.ErrNoResponders):
				pipe.failWith(errOffline)
				return
			case !errors.Is(err, context.DeadlineExceeded):
				return // if the connection is lost, the pipe fails
			}
		}
	})()
	text, from, err := pipe.waitHello(ctx)
	if err != nil {
		return hello, err
	}
	if err := json.Unmarshal(text, &hello); err != nil {
		return hello, err
	}
	tokens := strings.Split(from, ".") // enforced by the hub: a machine cannot use another's name
	hello.Machine = tokens[2]
	return hello, nil
}

const hintFleet = "`tandem fleet` lists the machines and their states"

// AwaySince returns the error for an offline machine.
func AwaySince(machine string, seen time.Time) error {
	return api.Errorf(api.CodeUnavailable, "reach machine %s: it is offline, last seen %v ago", machine, time.Since(seen).Round(time.Second)).
		WithReason(api.ReasonMachineOffline).WithHint(hintFleet)
}

// unreachableError explains why a machine could not be reached.
func (p *Person) unreachableError(machine string, err error) error {
	var refused *api.Error
	if errors.As(err, &refused) {
		return refused
	}
	if fault := p.State(); fault != nil {
		return api.Errorf(api.CodeUnavailable, "reach machine %s: the hub cannot be reached: %v", machine, fault)
	}
	if errors.Is(err, errOffline) {
		if seen := p.view.lastSeen(machine); !seen.IsZero() {
			return AwaySince(machine, seen)
		}
		return api.Errorf(api.CodeUnavailable, "reach machine %s: it is offline, or no machine has this name", machine).
			WithReason(api.ReasonMachineOffline).WithHint(hintFleet)
	}
	return api.Errorf(api.CodeUnavailable, "reach machine %s: %v", machine, err).WithHint(hintFleet)
}
