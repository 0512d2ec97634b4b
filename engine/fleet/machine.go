package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"tandem/engine/api"
	"tandem/engine/hosts/transport"
	"tandem/engine/panics"
)

// A Machine is this machine in the fleet: it tells how it is, and is there for who asks.
type Machine struct {
	Hello  transport.Hello // what it says of itself
	Facts  map[string]string
	Accept func(c net.Conn, v Visitor) error // serves a connection
	// Events tells of everything and then of what changes, as events.watch does.
	Events func(ctx context.Context, send func(api.Event) error) error
	Log    *slog.Logger
	// CheckEvery is how often it checks that one of its rows is still stored; default 30 s.
	CheckEvery time.Duration

	// BeatStep is the time between two heartbeats of the machine, less up to a fifth so that
	// those of many machines do not coincide; default 5 s.
	BeatStep time.Duration
	// StoredWait is how long the hub has to confirm a row; default 8 s. A row sent while the
	// hub's servers elect a leader is lost silently, so it is sent again, after twice as long
	// each time because the hub may be overloaded.
	StoredWait time.Duration

	conn     *conn
	presence *presence
	seen     recent
	end      func()
	running  sync.WaitGroup
}

// Start joins the fleet, and stays in it until Close.
func (m *Machine) Start(c Config, creds Credentials) error {
	ctx, cancel := context.WithCancel(context.Background())
	m.end = cancel
	m.presence = newPresence(creds.User, m)
	l, err := connect(c, creds, m.Log, m.presence.reconnected)
	if err != nil {
		cancel()
		return err
	}
	m.conn = l
	if _, err = l.subscribe(m.presence.storedSubject()+"*.*", "", m.presence.stored); err == nil {
		err = m.listen(openSubject(creds.Name, "*"), creds.Name, "")
	}
	for _, label := range creds.Labels {
		if err == nil {
			err = m.listen(anySubject(label, "*"), "any "+label, anyQueue)
		}
	}
	if err != nil {
		m.Close()
		return err
	}
	m.running.Go(panics.Restarted(ctx, m.Log, "fleet: rows", func() { m.presence.run(ctx, l, cmp.Or(m.CheckEvery, checkStep)) }))
	m.running.Go(panics.Restarted(ctx, m.Log, "fleet: events", func() { m.presence.follow(ctx, m.Events) }))
	return nil
}

// listen serves those who ask on a subject, which ends with who they are.
func (m *Machine) listen(subject, to, queue string) error {
	_, err := m.conn.subscribe(subject, queue, func(msg *nats.Msg) {
		person := msg.Subject[strings.LastIndexByte(msg.Subject, '.')+1:]
		go panics.Logged(m.Log, "fleet: connection", func() { m.open(msg.Data, to, person) })()
	})
	return err
}

// open answers somebody who asks for a pipe.
func (m *Machine) open(data []byte, to, person string) {
	me := m.conn.user.Name
	r, v, err := m.conn.user.check(data, to, person)
	if err == nil && !m.seen.add(r.ID) {
		return // nobody asks twice with the same id
	}
	if err != nil {
		m.Log.Warn("fleet", "event", "refused", "person", person, "error", err)
		if len(r.ID) == 32 && ValidName(r.ID) {
			m.refuse(downSubject(me, person, r.ID), api.Errorf(api.CodeForbidden, "reach machine %s: it refused: %v", me, err))
		}
		return
	}
	p, err := m.conn.newPipe(upSubject(me, person, r.ID), downSubject(me, person, r.ID), person)
	if err != nil {
		return // the connection to the hub is gone
	}
	hello, err := json.Marshal(m.Hello)
	if err == nil {
		err = m.Accept(p, v)
	}
	if err != nil {
		_ = p.closeWith(api.AsError(err))
		return
	}
	_ = p.send(kindHello, hello) // a connection that is lost ends the pipe by itself
}

func (m *Machine) refuse(subject string, e *api.Error) {
	body, err := json.Marshal(e)
	if err == nil {
		_ = m.conn.nats.Publish(subject, append([]byte{kindEnd, 0, 0, 0, 0}, body...)) // who asked has a time limit
	}
}

// State is why there is no connection to the hub; nil if there is one.
func (m *Machine) State() error { return m.conn.now() }

// Close leaves the fleet.
func (m *Machine) Close() {
	m.end()
	m.running.Wait()
	if m.conn != nil {
		m.conn.close()
	}
}

// recent are the ids of requests that were answered lately.
type recent struct {
	mu    sync.Mutex
	known map[string]bool
	order []string
}

// mostRecent is how many are kept.
const mostRecent = 4096

// add reports whether an id is new.
func (r *recent) add(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[id] {
		return false
	}
	if r.known == nil {
		r.known = map[string]bool{}
	}
	if len(r.order) >= mostRecent {
		delete(r.known, r.order[0])
		r.order = r.order[1:]
	}
	r.known[id] = true
	r.order = append(r.order, id)
	return true
}
