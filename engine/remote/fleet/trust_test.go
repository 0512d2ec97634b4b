package fleet_test

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"tandem/engine/api"
	"tandem/engine/remote/fleet"
	"tandem/engine/remote/fleet/hub"
	"tandem/tests/wait"
)

// A key is a plain NATS connection with a member's key.
type key struct {
	*nats.Conn
	refusals chan error
}

// key connects as a newly invited member.
func (r *rig) key(q hub.InviteRequest, inbox string) *key {
	r.Helper()
	joined := r.membership(q)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(joined.Authority)
	k := &key{refusals: make(chan error, 100)}
	var err error
	k.Conn, err = nats.Connect(joined.Hub, nats.UserCredentialBytes(joined.Credentials), nats.CustomInboxPrefix(inbox),
		nats.Secure(&tls.Config{RootCAs: roots, ServerName: fleet.ServerName, MinVersion: tls.VersionTLS12}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { k.refusals <- err }))
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(k.Close)
	return k
}

// wasRefused reports whether the hub refused the last action. A permitted action gets no reply, so
// it is followed by one forbidden to everyone: refusals arrive in order.
func (k *key) wasRefused(t *testing.T) (refused bool) {
	t.Helper()
	const forbidden = "nobody.may"
	if err := cmp.Or(k.Publish(forbidden, nil), k.Flush()); err != nil {
		t.Fatal(err)
	}
	for {
		err := wait.Receive(t, "the hub's refusal of "+forbidden, k.refusals)
		if strings.Contains(err.Error(), forbidden) {
			return refused
		}
		refused = refused || errors.Is(err, nats.ErrPermissionViolation)
	}
}

// An attempt is one forbidden action.
type attempt struct {
	name      string
	publish   string
	subscribe string
	queue     string
}

func (r *rig) attempts(k *key, all []attempt) {
	for _, a := range all {
		r.Run(a.name, func(t *testing.T) {
			var err error
			if a.publish != "" {
				err = k.Publish(a.publish, []byte("{}"))
			} else {
				_, err = k.QueueSubscribe(a.subscribe, a.queue, func(*nats.Msg) {})
			}
			if err != nil {
				t.Fatal(err)
			}
			if !k.wasRefused(t) {
				t.Errorf("permitted: %+v", a)
			}
		})
	}
}

// forbiddenToAll returns the actions forbidden to every user.
func forbiddenToAll() []attempt {
	return []attempt{
		{name: "invite as the owner", publish: "tandem.hub.owner.invite"},
		{name: "delete the bucket", publish: "$JS.API.STREAM.DELETE.KV_tandem_hosts"},
		{name: "make a bucket", publish: "$JS.API.STREAM.CREATE.x"},
		{name: "query the server", publish: "$SYS.REQ.SERVER.PING"},
		{name: "write to another subject", publish: "other"},
		{name: "listen to everything", subscribe: ">"},
		{name: "read the buckets directly", subscribe: "$KV.>"},
		{name: "receive join requests", subscribe: "tandem.join"},
		{name: "listen to the server", subscribe: "$SYS.>"},
	}
}

// forbiddenToMembers returns the actions forbidden to machines and people.
func forbiddenToMembers() []attempt {
	return append(forbiddenToAll(), attempt{name: "join as someone else", publish: "tandem.join"})
}

func TestMachineKeyHasNoOtherPermissions(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k := r.key(hub.InviteRequest{Kind: fleet.KindMachine, Name: "box", Labels: []string{"role=web"}}, "_INBOX_machine_box")
	r.attempts(k, append(forbiddenToMembers(), []attempt{
		{name: "pose as another machine", publish: "$KV.tandem_hosts.other"},
		{name: "write another's processes", publish: "$KV.tandem_processes.other.a"},
		{name: "answer for another", publish: "tandem.link.other.ann.0.down"},
		{name: "write to a person's link", publish: "tandem.link.box.ann.0.up"},
		{name: "call another machine", publish: "tandem.host.other.open.box"},
		{name: "call itself as a person", publish: "tandem.host.box.open.ann"},
		{name: "call any", publish: "tandem.any.role=web.box"},
		{name: "invite", publish: "tandem.hub.box.invite"},
		{name: "answer a person's inbox", publish: "_INBOX_person_ann.x"},
		{name: "empty the bucket", publish: "$JS.API.STREAM.PURGE.KV_tandem_processes"},
		{name: "read the bucket", publish: "$JS.API.CONSUMER.CREATE.KV_tandem_hosts"},
		{name: "read one value", publish: "$JS.API.DIRECT.GET.KV_tandem_hosts.$KV.tandem_hosts.other"},
		{name: "listen to the fleet", subscribe: "tandem.>"},
		{name: "listen to all machines", subscribe: "tandem.host.*.open.*"},
		{name: "receive calls of another", subscribe: "tandem.host.other.open.*"},
		{name: "listen to another's links", subscribe: "tandem.link.other.*.*.up"},
		{name: "listen to all links", subscribe: "tandem.link.*.*.*.up"},
		{name: "listen to its own replies", subscribe: "tandem.link.box.*.*.down"},
		{name: "listen to all inboxes", subscribe: "_INBOX_person_ann.>"},
		{name: "receive requests for another label", subscribe: "tandem.any.role=db.*", queue: "any"},
		{name: "receive requests for any label", subscribe: "tandem.any.>", queue: "any"},
		{name: "receive a copy of requests for any", subscribe: "tandem.any.role=web.*"},
		{name: "be the hub", subscribe: "tandem.hub.*.invite"},
	}...))
}

func TestReadOnlyPersonKeyHasNoOtherPermissions(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	k := r.key(hub.InviteRequest{Kind: fleet.KindPerson, Name: "ann", Role: api.RoleRead}, "_INBOX_person_ann")
	r.attempts(k, append(forbiddenToMembers(), []attempt{
		{name: "pose as a machine", publish: "$KV.tandem_hosts.box"},
		{name: "write processes", publish: "$KV.tandem_processes.box.a"},
		{name: "answer as a machine", publish: "tandem.link.box.bob.0.down"},
		{name: "answer itself as a machine", publish: "tandem.link.box.ann.0.down"},
		{name: "call as someone else", publish: "tandem.host.box.open.bob"},
		{name: "write to someone else's link", publish: "tandem.link.box.bob.0.up"},
		{name: "call any as someone else", publish: "tandem.any.role=web.bob"},
		{name: "invite", publish: "tandem.hub.ann.invite"},
		{name: "revoke as an admin", publish: "tandem.hub.bob.revoke"},
		{name: "empty the bucket", publish: "$JS.API.STREAM.PURGE.KV_tandem_hosts"},
		{name: "change the bucket", publish: "$JS.API.STREAM.UPDATE.KV_tandem_hosts"},
		{name: "list the buckets", publish: "$JS.API.STREAM.NAMES"},
		{name: "delete a value", publish: "$JS.API.STREAM.MSG.DELETE.KV_tandem_hosts"},
		{name: "see the account", publish: "$JS.API.INFO"},
		{name: "receive calls of a machine", subscribe: "tandem.host.box.open.*"},
		{name: "receive calls in a queue", subscribe: "tandem.host.box.open.*", queue: "any"},
		{name: "receive requests for any", subscribe: "tandem.any.role=web.*", queue: "any"},
		{name: "listen to others' requests", subscribe: "tandem.link.*.bob.*.up"},
		{name: "listen to others' replies", subscribe: "tandem.link.*.bob.*.down"},
		{name: "listen to all links", subscribe: "tandem.link.>"},
		{name: "listen to someone else's inbox", subscribe: "_INBOX_person_bob.>"},
		{name: "listen to all inboxes", subscribe: "*.>"},
	}...))
}

func TestJoinerMayOnlyJoin(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	token, err := r.hub.Invite(hub.InviteRequest{Kind: fleet.KindMachine, Name: "box"}, "test")
	if err != nil {
		t.Fatal(err)
	}
	i, err := fleet.ParseToken(token)
	if err != nil {
		t.Fatal(err)
	}
	joined, err := fleet.Join(i)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(joined.Authority)
	k := &key{refusals: make(chan error, 100)}
	k.Conn, err = nats.Connect(joined.Hub, nats.CustomInboxPrefix("_INBOX_joiner_new"), nats.Secure(&tls.Config{RootCAs: roots, ServerName: fleet.ServerName, MinVersion: tls.VersionTLS12}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { k.refusals <- err }))
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	r.attempts(k, append(forbiddenToAll(), []attempt{
		{name: "pose as a machine", publish: "$KV.tandem_hosts.box"},
		{name: "call a machine", publish: "tandem.host.box.open.ann"},
		{name: "read the bucket", publish: "$JS.API.CONSUMER.CREATE.KV_tandem_hosts"},
		{name: "listen to machines", subscribe: "tandem.host.*.open.*"},
	}...))
}

func TestInvitationIsValidOnceBeforeExpiryAtItsHub(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	now := time.Now()
	r.stop()
	r.options.Now = func() time.Time { return now }
	r.start()
	invite := func() fleet.Invitation {
		token, err := r.hub.Invite(hub.InviteRequest{Kind: fleet.KindMachine, Name: "box"}, "test")
		if err != nil {
			t.Fatal(err)
		}
		i, err := fleet.ParseToken(token)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	refuses := func(what string, i fleet.Invitation, words string) {
		t.Helper()
		if _, err := fleet.Join(i); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v; want %q", what, err, words)
		}
	}
	late := invite()
	now = now.Add(25 * time.Hour)
	refuses("after its time", late, "the invitation expired 1h0m0s ago, by the hub's clock")
	wrong := invite()
	wrong.Secret[0]++
	refuses("with another secret", wrong, "unknown invitation")
	unknown := invite()
	unknown.ID[0]++
	refuses("with another id", unknown, "unknown invitation")
	other := invite()
	other.Authority[0]++
	refuses("at another hub", other, "did not issue this invitation")
	good := invite()
	if _, err := fleet.Join(good); err != nil {
		t.Fatal(err)
	}
	refuses("a second time", good, "or already used")
	if _, err := r.hub.Invite(hub.InviteRequest{Kind: fleet.KindMachine, Name: "box"}, "test"); !errors.Is(err, api.CodeConflict) {
		t.Errorf("a second machine of the name: %v", err)
	}
	r.stop()
	refuses("without a hub", good, "no hub answers there")
}

func TestParseTokenReportsIncompleteToken(t *testing.T) {
	t.Parallel()
	token := fleet.Invitation{Kind: fleet.KindPerson, Address: "hub.example.org:4222"}.Token()
	i, err := fleet.ParseToken(token)
	if err != nil || i.Address != "hub.example.org:4222" || i.Kind != fleet.KindPerson {
		t.Errorf("%+v, %v", i, err)
	}
	for _, broken := range []string{"", "x", token[:len(token)-3], token[1:], strings.Replace(token, token[20:22], "zz", 1), "!" + token} {
		if _, err := fleet.ParseToken(broken); err == nil || !strings.Contains(err.Error(), "incomplete") {
			t.Errorf("%.20q: %v", broken, err)
		}
	}
}

func TestInviteRejectsInvalidNamesAndLabels(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, q := range []hub.InviteRequest{
		{Kind: fleet.KindMachine, Name: ""}, {Kind: fleet.KindMachine, Name: "a.b"}, {Kind: fleet.KindMachine, Name: "*"}, {Kind: fleet.KindMachine, Name: ">"},
		{Kind: fleet.KindMachine, Name: "a b"}, {Kind: fleet.KindMachine, Name: "-a"}, {Kind: fleet.KindMachine, Name: "a/b"}, {Kind: fleet.KindMachine, Name: strings.Repeat("a", 64)},
		{Kind: fleet.KindMachine, Name: "box", Labels: []string{"role"}}, {Kind: fleet.KindMachine, Name: "box", Labels: []string{"role=a.b"}}, {Kind: fleet.KindMachine, Name: "box", Labels: []string{"a=*"}},
		{Kind: fleet.KindMachine, Name: "box", Role: api.RoleAdmin}, {Kind: fleet.KindPerson, Name: "ann"}, {Kind: fleet.KindPerson, Name: "ann", Role: "root"},
		{Kind: fleet.KindPerson, Name: "owner", Role: api.RoleAdmin}, {Kind: "hub", Name: "x"}, {Kind: fleet.KindMachine, Name: "box", Life: 1000 * time.Hour},
	} {
		if _, err := r.hub.Invite(q, "test"); !errors.Is(err, api.CodeInvalid) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// The hub's certificate is created six years in the past.
func TestExpiredCertificateIsReported(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c, creds := r.join(hub.InviteRequest{Kind: fleet.KindMachine, Name: "box"})
	r.stop()
	r.options.Now = func() time.Time { return time.Now().Add(-6 * 365 * 24 * time.Hour) }
	r.start()
	_, err := fleet.Ask(c, creds, "x", nil)
	if err == nil || !strings.Contains(err.Error(), "the hub's certificate is not valid now: it is valid from") {
		t.Errorf("Ask = %v", err)
	}
}

func ExampleInvitation_Token() {
	fmt.Println(len(fleet.Invitation{Kind: fleet.KindMachine, Address: "hub.example.org:4222"}.Token()) < 120)
	// Output: true
}
