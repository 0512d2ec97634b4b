package fleet_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"tandem/engine/api"
	"tandem/engine/fleet"
	"tandem/engine/fleet/hub"
	"tandem/engine/hosts/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testTimeout bounds how long a test waits for something to happen.
const testTimeout = 60 * time.Second

// A rig is a hub with a real server, and who has joined it.
type rig struct {
	*testing.T
	options hub.Options
	retry   time.Duration // of rows and heartbeats; zero for the product's
	hub     *hub.Hub
	server  hub.Server
	address string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{T: t, options: hub.Options{Folder: t.TempDir(), Listen: "127.0.0.1:0"}}
	r.options.Start = r.startServer
	r.start()
	t.Cleanup(func() {
		if r.hub != nil {
			r.hub.Close()
		}
	})
	return r
}

func (r *rig) start() {
	r.Helper()
	h, err := hub.Open(r.options)
	if err != nil {
		r.Fatal(err)
	}
	r.hub, r.address = h, h.Status().Address
	r.options.Listen = "" // where it was, from now on
}

// stop ends the hub, as a machine does that is switched off.
func (r *rig) stop() {
	r.hub.Close()
	r.hub = nil
}

// join invites and joins somebody, and gives how they connect.
func (r *rig) join(q hub.InviteRequest) (fleet.Config, fleet.Credentials) {
	r.Helper()
	return r.config(r.joined(q))
}

func (r *rig) joined(q hub.InviteRequest) fleet.Joined {
	r.Helper()
	token, err := r.hub.Invite(q, "test")
	if err != nil {
		r.Fatal(err)
	}
	i, err := fleet.ParseToken(token)
	if err != nil {
		r.Fatal(err)
	}
	joined, err := fleet.Join(i)
	if err != nil {
		r.Fatal(err)
	}
	return joined
}

func (r *rig) config(joined fleet.Joined) (fleet.Config, fleet.Credentials) {
	r.Helper()
	path := filepath.Join(r.TempDir(), "authority.pem")
	if err := os.WriteFile(path, joined.Authority, 0o600); err != nil {
		r.Fatal(err)
	}
	creds, err := fleet.ParseCredentials(joined.Credentials)
	if err != nil {
		r.Fatal(err)
	}
	return fleet.Config{Hub: joined.Hub, Authority: path}, creds
}

// A box is a machine of the fleet without an engine: it sends back what it is sent.
type box struct {
	*fleet.Machine
	events chan api.Event
	visits chan fleet.Visitor
}

func (r *rig) machine(name string, labels ...string) *box {
	r.Helper()
	c, creds := r.join(hub.InviteRequest{Kind: fleet.KindMachine, Name: name, Labels: labels})
	return r.run(c, creds)
}

func (r *rig) run(c fleet.Config, creds fleet.Credentials) *box {
	r.Helper()
	b := &box{events: make(chan api.Event, 100), visits: make(chan fleet.Visitor, 100)}
	b.Machine = &fleet.Machine{
		BeatStep: r.retry, StoredWait: r.retry, CheckEvery: 50 * time.Millisecond,
		Hello: transport.Hello{Version: "1.2.3", Protocol: 1}, Facts: map[string]string{"os": "linux"}, Log: slog.New(slog.DiscardHandler),
		Accept: func(c net.Conn, v fleet.Visitor) error {
			b.visits <- v
			go func() {
				_, _ = io.Copy(c, c)
				c.Close()
			}()
			return nil
		},
		Events: func(ctx context.Context, send func(api.Event) error) error {
			if err := send(api.Event{Type: api.EventSnapshot}); err != nil {
				return err
			}
			for {
				select {
				case e := <-b.events:
					if err := send(e); err != nil {
						return err
					}
				case <-ctx.Done():
					return nil
				}
			}
		},
	}
	if err := b.Start(c, creds); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(b.Close)
	r.until("machine "+creds.Name+" to be connected", func() bool { return b.State() == nil })
	return b
}

func (r *rig) person(name string, role fleet.Role) *fleet.Person {
	r.Helper()
	c, creds := r.join(hub.InviteRequest{Kind: fleet.KindPerson, Name: name, Role: role})
	return r.look(c, creds)
}

func (r *rig) look(c fleet.Config, creds fleet.Credentials) *fleet.Person {
	r.Helper()
	p := &fleet.Person{Log: slog.New(slog.DiscardHandler)}
	if err := p.Start(c, creds); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(p.Close)
	r.until(creds.Name+" to be connected", func() bool { return p.State() == nil })
	return p
}

// until waits for something to hold.
func (r *rig) until(what string, holds func() bool) {
	r.Helper()
	for end := time.Now().Add(testTimeout); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			r.Fatalf("waited in vain for %s", what)
		}
	}
}

// list waits until the list of machines is as it should be.
func (r *rig) list(p *fleet.Person, in api.FleetListInput, what string, is func([]api.FleetMachine) bool) []api.FleetMachine {
	r.Helper()
	var last []api.FleetMachine
	r.until(what, func() bool {
		all, err := p.List(r.Context(), in)
		last = all
		return err == nil && is(all)
	})
	return last
}

// wipe deletes what the hub's server has stored.
func (r *rig) wipe() {
	r.Helper()
	if err := os.RemoveAll(filepath.Join(r.options.Folder, "store")); err != nil {
		r.Fatal(err)
	}
}
