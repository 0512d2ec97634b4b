package fleet_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"tandem/engine/api"
	"tandem/engine/remote/fleet"
	"tandem/engine/remote/fleet/hub"
	"tandem/engine/remote/fleet/hub/embedded"
	"tandem/tests/wait"
)

// root returns a connection to the hub's server with all permissions.
func (r *rig) root() *nats.Conn {
	r.Helper()
	seed, err := os.ReadFile(filepath.Join(r.options.Folder, "keys", "account.nk"))
	if err != nil {
		r.Fatal(err)
	}
	account, err := nkeys.FromSeed(seed)
	if err != nil {
		r.Fatal(err)
	}
	user, err := nkeys.CreateUser()
	if err != nil {
		r.Fatal(err)
	}
	public, _ := user.PublicKey()
	token, err := fleet.Issue(account, fleet.User{Kind: fleet.KindHub, Name: "root"}, public)
	if err != nil {
		r.Fatal(err)
	}
	nc, err := r.server.Connect(nats.UserJWT(func() (string, error) { return token, nil }, func(nonce []byte) ([]byte, error) { return user.Sign(nonce) }))
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(nc.Close)
	return nc
}

// stream returns the hub's stream for bucket.
func (r *rig) stream(nc *nats.Conn, bucket string) jetstream.Stream {
	r.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		r.Fatal(err)
	}
	s, err := js.Stream(r.Context(), "KV_"+bucket)
	if err != nil {
		r.Fatal(err)
	}
	return s
}

func (r *rig) messages(s jetstream.Stream) uint64 {
	r.Helper()
	info, err := s.Info(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	return info.State.Msgs
}

// A rollup is a message that replaces all others in a stream.
func TestMachineCannotDeleteRowsOfOthers(t *testing.T) {
	for _, existing := range []bool{false, true} {
		t.Run(fmt.Sprintf("hub used to allow rollups: %t", existing), func(t *testing.T) {
			r := newRig(t)
			if existing {
				r.allowRollups()
			}
			mallory := r.key(hub.InviteRequest{Kind: fleet.KindMachine, Name: "mallory"}, "_INBOX_machine_mallory")
			box := r.machine("box")
			box.events <- api.Event{Type: api.EventProcess, Process: &api.Process{ID: "p", State: api.StateRunning}}
			nc := r.root()
			hosts, processes := r.stream(nc, fleet.HostsBucket), r.stream(nc, fleet.ProcessesBucket)
			wait.Poll(r, "the machine's rows", func() ([2]uint64, bool) {
				rows := [2]uint64{r.messages(hosts), r.messages(processes)}
				return rows, rows[0] > 0 && rows[1] > 0
			})
			for _, subject := range []string{"$KV.tandem_hosts.mallory", "$KV.tandem_processes.mallory.x"} {
				for _, how := range []string{"all", "sub"} {
					m := nats.NewMsg(subject)
					m.Header.Set("Nats-Rollup", how)
					m.Data = []byte("{}")
					answer, err := mallory.RequestMsg(m, wait.Timeout)
					if err != nil {
						t.Fatal(err)
					}
					var ack struct{ Error *struct{ Description string } }
					if json.Unmarshal(answer.Data, &ack) != nil || ack.Error == nil {
						t.Errorf("rollup %q was accepted on %s: %s", how, subject, answer.Data)
					}
				}
			}
			if r.messages(hosts) == 0 || r.messages(processes) == 0 {
				t.Error("the machine's rows were deleted")
			}
		})
	}
}

// allowRollups configures the hub's streams the way an earlier release did and restarts the hub.
func (r *rig) allowRollups() {
	r.Helper()
	nc := r.root()
	js, err := jetstream.New(nc)
	if err != nil {
		r.Fatal(err)
	}
	for _, bucket := range []string{fleet.HostsBucket, fleet.ProcessesBucket} {
		info, err := r.stream(nc, bucket).Info(r.Context())
		if err != nil {
			r.Fatal(err)
		}
		c := info.Config
		c.AllowRollup, c.ConsumerLimits = true, jetstream.StreamConsumerLimits{}
		if _, err := js.UpdateStream(r.Context(), c); err != nil {
			r.Fatal(err)
		}
	}
	nc.Close()
	r.stop()
	r.start()
}

// createConsumer requests a consumer directly from the server, bypassing tandem's own client.
func (k *key) createConsumer(t *testing.T, name string, config map[string]any) error {
	t.Helper()
	config["name"], config["filter_subject"] = name, "$KV.tandem_hosts.>"
	body, _ := json.Marshal(map[string]any{"stream_name": "KV_tandem_hosts", "config": config})
	answer, err := k.Request("$JS.API.CONSUMER.CREATE.KV_tandem_hosts."+name+".$KV.tandem_hosts.>", body, wait.Timeout)
	if err != nil {
		t.Fatal(err)
	}
	var made struct{ Error *struct{ Description string } }
	if err := json.Unmarshal(answer.Data, &made); err != nil {
		t.Fatal(err)
	}
	if made.Error != nil {
		return fmt.Errorf("%s", made.Error.Description)
	}
	return nil
}

func TestHubLimitsConsumersOfReaders(t *testing.T) {
	r := newRig(t)
	r.machine("box")
	bob := r.person("bob", api.RoleRead)
	eve := r.key(hub.InviteRequest{Kind: fleet.KindPerson, Name: "eve", Role: api.RoleRead}, "_INBOX_person_eve")
	inbox := func(n int) string { return fmt.Sprintf("_INBOX_person_eve.%d", n) }
	listen := func(n int) {
		t.Helper()
		if _, err := eve.Subscribe(inbox(n), func(*nats.Msg) {}); err != nil { // a wildcard subscription does not keep a consumer active
			t.Fatal(err)
		}
	}
	listen(1000)
	for n := range 100 {
		listen(n)
		_ = eve.createConsumer(t, fmt.Sprintf("many%d", n), map[string]any{"deliver_subject": inbox(n), "ack_policy": "none", "deliver_policy": "last_per_subject"})
	}
	for name, config := range map[string]map[string]any{
		"durable": {"durable_name": "durable", "deliver_subject": inbox(1000), "ack_policy": "none"},
		"pull":    {"ack_policy": "explicit"},
		"another": {"deliver_subject": "_INBOX_person_bob.x", "ack_policy": "none"},
		"revoke":  {"deliver_subject": "tandem.hub.eve.revoke", "ack_policy": "none"},
		"link":    {"deliver_subject": "tandem.link.box.bob.0.up", "ack_policy": "none"},
	} {
		_ = eve.createConsumer(t, name, config)
	}
	if err := eve.createConsumer(t, "long", map[string]any{"deliver_subject": inbox(1001), "ack_policy": "none", "inactive_threshold": int64(time.Hour)}); err == nil {
		t.Error("created a consumer with an inactive threshold of an hour")
	}
	r.list(bob, api.FleetListInput{}, "the machine", func(all []api.FleetMachine) bool { return len(all) == 1 })
	hosts := r.stream(r.root(), fleet.HostsBucket)
	wait.Poll(r, "excess consumers to be deleted", func() (left []string, done bool) {
		for info := range hosts.ListConsumers(r.Context()).Info() {
			left = append(left, info.Name)
		}
		return left, len(left) <= hub.MaxConsumers+1 && !slices.ContainsFunc([]string{"durable", "pull", "another", "revoke", "link"}, func(name string) bool {
			return slices.Contains(left, name)
		})
	})
	r.list(bob, api.FleetListInput{}, "the machine", func(all []api.FleetMachine) bool { return len(all) == 1 })
}

// A consumer can deliver rows to a subject that the hub serves.
func TestHubIgnoresRowsDeliveredAsRequests(t *testing.T) {
	r := newRig(t)
	mallory := r.key(hub.InviteRequest{Kind: fleet.KindMachine, Name: "mallory"}, "_INBOX_machine_mallory")
	eve := r.key(hub.InviteRequest{Kind: fleet.KindPerson, Name: "eve", Role: api.RoleRead}, "_INBOX_person_eve")
	token, err := r.hub.Invite(hub.InviteRequest{Kind: fleet.KindMachine, Name: "late"}, "test")
	if err != nil {
		t.Fatal(err)
	}
	i, err := fleet.ParseToken(token)
	if err != nil {
		t.Fatal(err)
	}
	user, _ := nkeys.CreateUser()
	public, _ := user.PublicKey()
	request, _ := json.Marshal(fleet.JoinRequest{ID: i.ID[:], Secret: i.Secret[:], Key: public})
	if _, err := mallory.Request("$KV.tandem_hosts.mallory", request, wait.Timeout); err != nil {
		t.Fatal(err)
	}
	_ = eve.createConsumer(t, "joiner", map[string]any{"deliver_subject": fleet.JoinSubject, "ack_policy": "none", "deliver_policy": "last_per_subject"})
	hosts := r.stream(r.root(), fleet.HostsBucket)
	wait.Poll(r, "the consumer to be deleted", func() (error, bool) {
		_, err := hosts.Consumer(r.Context(), "joiner")
		return err, err != nil
	})
	if s := r.hub.Status(); s.Invitations != 1 {
		t.Errorf("the hub handled a row as a join request: %d invitations left, want 1", s.Invitations)
	}
}

func TestMachineRestoresItsMissingRows(t *testing.T) {
	r := newRig(t)
	box := r.machine("box")
	for _, id := range []string{"p", "q"} {
		box.events <- api.Event{Type: api.EventProcess, Process: &api.Process{ID: id, State: api.StateRunning}}
	}
	nc := r.root()
	processes := r.stream(nc, fleet.ProcessesBucket)
	wait.Poll(r, "the machine's rows to be rewritten after it connected", func() (*jetstream.StreamInfo, bool) {
		info, err := processes.Info(t.Context())
		return info, err == nil && info.State.Msgs == 2 && info.State.LastSeq >= 4
	})
	if err := processes.Purge(context.Background()); err != nil {
		t.Fatal(err)
	}
	wait.Poll(r, "the machine's rows to be restored", func() (uint64, bool) {
		rows := r.messages(processes)
		return rows, rows == 2
	})
}

// startServer starts the hub's server and records it in r.
func (r *rig) startServer(c hub.Config) (hub.Server, error) {
	s, err := embedded.Start(c)
	r.server = s
	return s, err
}

// The hub may publish to any subject, so it must check that a reply subject is an inbox.
func TestHubRepliesOnlyToInboxes(t *testing.T) {
	r := newRig(t)
	bob := r.key(hub.InviteRequest{Kind: fleet.KindPerson, Name: "bob", Role: api.RoleAdmin}, "_INBOX_person_bob")
	elsewhere, err := bob.SubscribeSync("tandem.link.*.bob.*.down")
	if err != nil {
		t.Fatal(err)
	}
	if err := bob.PublishRequest(fleet.HubSubject("bob", "status"), "tandem.link.box.bob.0.down", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := bob.Request(fleet.HubSubject("bob", "status"), nil, wait.Timeout); err != nil {
		t.Fatal(err)
	}
	if n, _, err := elsewhere.Pending(); err != nil || n != 0 {
		t.Errorf("%d replies outside an inbox, %v", n, err)
	}
}

func TestCoversComparesSubjectsTokenByToken(t *testing.T) {
	for pattern, subjects := range map[string]map[string]bool{
		"tandem.join":         {"tandem.join": true, "tandem": false, "tandem.join.x": false, "$KV.tandem_hosts.x": false, "": false},
		"tandem.hub.*.revoke": {"tandem.hub.bob.revoke": true, "tandem.hub..revoke": false, "tandem.hub.bob.invite": false, "tandem.hub.bob.revoke.x": false},
	} {
		for subject, want := range subjects {
			if got := fleet.Covers(pattern, subject); got != want {
				t.Errorf("Covers(%q, %q) = %t", pattern, subject, got)
			}
		}
	}
}
