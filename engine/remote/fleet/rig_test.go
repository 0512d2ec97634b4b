package fleet_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/remote/fleet"
	"tandem/engine/remote/fleet/hub"
	"tandem/engine/remote/hosts/transport"
	"tandem/tests/leaks"
	"tandem/tests/wait"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// A rig is a hub with a real server.
type rig struct {
	*testing.T
	options hub.Options
	retry   time.Duration // of rows and heartbeats; zero for the defaults
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
	r.options.Listen = "" // reuse the address from now on
}

// stop stops the hub without notice, like a power failure.
func (r *rig) stop() {
	r.hub.Close()
	r.hub = nil
}

// join invites and joins a user, and returns the credentials.
func (r *rig) join(q hub.InviteRequest) (fleet.Config, fleet.Credentials) {
	r.Helper()
	return r.config(r.membership(q))
}

func (r *rig) membership(q hub.InviteRequest) fleet.Membership {
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

func (r *rig) config(joined fleet.Membership) (fleet.Config, fleet.Credentials) {
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

// A box is a machine without an engine: it echoes everything sent to it.
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
	awaitConnection(r, creds.Name, b.State)
	return b
}

func (r *rig) person(name string, role fleet.Role) *fleet.Person {
	r.Helper()
	c, creds := r.join(hub.InviteRequest{Kind: fleet.KindPerson, Name: name, Role: role})
	return r.connect(c, creds)
}

func (r *rig) connect(c fleet.Config, creds fleet.Credentials) *fleet.Person {
	r.Helper()
	p := &fleet.Person{Log: slog.New(slog.DiscardHandler)}
	if err := p.Start(c, creds); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(p.Close)
	awaitConnection(r, creds.Name, p.State)
	return p
}

// awaitConnection waits for a member's connection to the hub.
func awaitConnection(t testing.TB, name string, state func() error) {
	t.Helper()
	wait.Poll(t, name+" to be connected", func() (error, bool) {
		err := state()
		return err, err == nil
	})
}

// awaitRevocation waits until the hub rejects a member's key.
func awaitRevocation(t testing.TB, name string, state func() error) {
	t.Helper()
	wait.Poll(t, name+"'s key to be rejected", func() (error, bool) {
		err := state()
		return err, err != nil && strings.Contains(err.Error(), "revoked")
	})
}

// list waits until ok accepts the list of machines.
func (r *rig) list(p *fleet.Person, in api.FleetListInput, what string, ok func([]api.FleetMachine) bool) []api.FleetMachine {
	r.Helper()
	return wait.Poll(r, what, func() ([]api.FleetMachine, bool) {
		all, err := p.List(r.Context(), in)
		return all, err == nil && ok(all)
	})
}

// wipe deletes everything stored by the hub's server.
func (r *rig) wipe() {
	r.Helper()
	if err := os.RemoveAll(filepath.Join(r.options.Folder, "store")); err != nil {
		r.Fatal(err)
	}
}
