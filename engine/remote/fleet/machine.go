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
	"tandem/engine/base/panics"
	"tandem/engine/remote/hosts/transport"
)

// A Machine is this machine in the fleet: it publishes its state and answers requests.
type Machine struct {
	Hello  transport.Hello // what this machine says about itself
	Facts  map[string]string
	Accept func(c net.Conn, v Visitor) error // serves a connection
	// Events calls send with a snapshot of the engine's state and then with every change, like the
	// operation events.watch.
	Events func(ctx context.Context, send func(api.Event) error) error
	Log    *slog.Logger
	// CheckEvery is the interval between checks that a row is still stored; default 30 s.
	CheckEvery time.Duration

	// BeatStep is the interval between heartbeats, less up to a fifth so that those of many
	// machines do not coincide; default 5 s.
	BeatStep time.Duration
	// StoredWait is how long the hub has to confirm a row; default 8 s. A row sent while the hub's
	// servers elect a leader is lost silently, so it is sent again, after twice as long each time
	// because the hub may be overloaded.
	StoredWait time.Duration

	conn     *conn
	presence *presence
	recent   recentIDs
	cancel   func()
	running  sync.WaitGroup
}

// Start joins the fleet until Close is called.
func (m *Machine) Start(c Config, creds Credentials) error {
	ctx, cancel := context.WithCancel(context.Background())
	m.cancel = cancel
	m.presence = newPresence(creds.User, m)
	l, err := connect(c, creds, m.Log, m.presence.onReconnect)
	if err != nil {
		cancel()
		return err
	}
	m.conn = l
	if _, err = l.subscribe(m.presence.confirmSubject()+"*.*", "", m.presence.handleStored); err == nil {
		err = m.serveRequests(openSubject(creds.Name, "*"), creds.Name, "")
	}
	for _, label := range creds.Labels {
		if err == nil {
			err = m.serveRequests(anySubject(label, "*"), "any "+label, anyQueue)
		}
	}
	if err != nil {
		m.Close()
		return err
	}
	m.running.Go(panics.Restarted(ctx, m.Log, "fleet: rows", func() { m.presence.run(ctx, l, cmp.Or(m.CheckEvery, checkInterval)) }))
	m.running.Go(panics.Restarted(ctx, m.Log, "fleet: events", func() { m.presence.followEvents(ctx, m.Events) }))
	return nil
}

// serveRequests answers requests on a subject, whose last token is the person.
func (m *Machine) serveRequests(subject, to, queue string) error {
	_, err := m.conn.subscribe(subject, queue, func(msg *nats.Msg) {
		person := msg.Subject[strings.LastIndexByte(msg.Subject, '.')+1:]
		go panics.Logged(m.Log, "fleet: connection", func() { m.answerRequest(msg.Data, to, person) })()
	})
	return err
}

// answerRequest answers a request for a pipe.
func (m *Machine) answerRequest(data []byte, to, person string) {
	me := m.conn.user.Name
	r, v, err := m.conn.user.verifyRequest(data, to, person)
	if err == nil && !m.recent.addID(r.ID) {
		return // a replay, or the person's retry
	}
	if err != nil {
		m.Log.Warn("fleet", "event", "refused", "person", person, "error", err)
		// Answer only if the id is well formed, because it becomes part of a subject.
		if len(r.ID) == 32 && ValidName(r.ID) {
			m.sendRefusal(downSubject(me, person, r.ID), api.Errorf(api.CodeForbidden, "reach machine %s: it refused: %v", me, err))
		}
		return
	}
	p, err := m.conn.newPipe(upSubject(me, person, r.ID), downSubject(me, person, r.ID), person)
	if err != nil {
		return // disconnected from the hub
	}
	hello, err := json.Marshal(m.Hello)
	if err == nil {
		err = m.Accept(p, v)
	}
	if err != nil {
		_ = p.closeWith(api.AsError(err))
		return
	}
	// Last, because it tells the person that the connection was accepted.
	_ = p.sendMessage(kindHello, hello) // if the connection is lost, the pipe fails anyway
}

func (m *Machine) sendRefusal(subject string, e *api.Error) {
	body, err := json.Marshal(e)
	if err == nil {
		_ = m.conn.nats.Publish(subject, append([]byte{kindEnd, 0, 0, 0, 0}, body...)) // the person times out
	}
}

// State returns why there is no connection to the hub; nil if connected.
func (m *Machine) State() error { return m.conn.state() }

// Close leaves the fleet.
func (m *Machine) Close() {
	m.cancel()
	m.running.Wait()
	if m.conn != nil {
		m.conn.close()
	}
}

// recentIDs are the ids of recently answered requests.
type recentIDs struct {
	mu    sync.Mutex
	known map[string]bool
	order []string
}

// maxRecentIDs is how many ids are kept.
const maxRecentIDs = 4096

// addID reports whether id is new, and remembers it.
func (r *recentIDs) addID(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[id] {
		return false
	}
	if r.known == nil {
		r.known = map[string]bool{}
	}
	if len(r.order) >= maxRecentIDs {
		delete(r.known, r.order[0])
		r.order = r.order[1:]
	}
	r.known[id] = true
	r.order = append(r.order, id)
	return true
}
