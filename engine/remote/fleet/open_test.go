package fleet

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"tandem/engine/api"
	"tandem/engine/remote/hosts/transport"
)

// newCredentials returns the credentials of a new user of an account.
func newCredentials(t *testing.T, account nkeys.KeyPair, u User, change func(*jwt.UserClaims)) Credentials {
	t.Helper()
	key, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	claims := u.claims(public)
	if change != nil {
		change(claims)
	}
	token, err := claims.Encode(account)
	if err != nil {
		t.Fatal(err)
	}
	issuer, err := account.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return Credentials{User: u, JWT: token, key: key, issuer: issuer}
}

func TestMachineServesOnlyPeopleOfItsFleet(t *testing.T) {
	t.Parallel()
	account, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	box := newCredentials(t, account, User{Kind: KindMachine, Name: "box"}, nil)
	annUser := User{Kind: KindPerson, Name: "ann", Role: api.RoleRead}
	ann := newCredentials(t, account, annUser, nil)
	ask := func(c Credentials, to string, change func(*openRequest)) []byte {
		data, err := c.signRequest(to, newID(), transport.Preface{Origin: "ann@laptop"})
		if err != nil {
			t.Fatal(err)
		}
		var r openRequest
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(&r)
		}
		data, err = json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	if _, v, err := box.verifyRequest(ask(ann, "box", nil), "box", "ann"); err != nil || v.Person != "ann" || v.Role != api.RoleRead || v.Origin != "ann@laptop" {
		t.Fatalf("%+v, %v", v, err)
	}
	bob := newCredentials(t, account, User{Kind: KindPerson, Name: "bob", Role: api.RoleAdmin}, nil)
	for _, c := range []struct {
		name   string
		data   []byte
		person string
		words  string
	}{
		{"nothing", nil, "ann", "cannot be read"},
		{"a row of a bucket", []byte(`{"name":"box","version":"1"}`), "ann", "JWT"},
		{"a request to another machine", ask(ann, "other", nil), "ann", "its signature is wrong"},
		{"a request to any", ask(ann, "any role=web", nil), "ann", "its signature is wrong"},
		{"another id", ask(ann, "box", func(r *openRequest) { r.ID = newID() }), "ann", "its signature is wrong"},
		{"an id that is a wildcard", ask(ann, "box", func(r *openRequest) { r.ID = "*" }), "ann", "its id is invalid"},
		{"another origin", ask(ann, "box", func(r *openRequest) { r.Who = json.RawMessage(`{"origin":"root@hub"}`) }), "ann", "its signature is wrong"},
		{"the JWT of an admin", ask(ann, "box", func(r *openRequest) { r.JWT = bob.JWT }), "bob", "its signature is wrong"},
		{"the subject of another person", ask(ann, "box", nil), "bob", "its sender has no role"},
		{"a key of another fleet", ask(newCredentials(t, foreign, annUser, nil), "box", nil), "ann", "another fleet"},
		{"a machine's key", ask(box, "box", nil), "box", "its sender has no role"},
		{"an unknown role", ask(newCredentials(t, account, User{Kind: KindPerson, Name: "ann", Role: "root"}, nil), "box", nil), "ann", "its sender has no role"},
		{"an expired key", ask(newCredentials(t, account, annUser, func(c *jwt.UserClaims) { c.Expires = time.Now().Add(-time.Hour).Unix() }), "box", nil), "ann", "expired, or is not valid yet; compare the clocks"},
		{"a key not valid yet", ask(newCredentials(t, account, annUser, func(c *jwt.UserClaims) { c.NotBefore = time.Now().Add(time.Hour).Unix() }), "box", nil), "ann", "compare the clocks"},
	} {
		if _, v, err := box.verifyRequest(c.data, "box", c.person); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %+v, %v; want %q", c.name, v, err, c.words)
		}
	}
}

func TestRequestIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	var r recentIDs
	if !r.addID("a") || r.addID("a") {
		t.Error("an id was accepted twice, or never")
	}
	for range maxRecentIDs {
		r.addID(newID())
	}
	if len(r.known) > maxRecentIDs || len(r.order) > maxRecentIDs {
		t.Errorf("%d ids are kept", len(r.known))
	}
}

// The delay grows to the maximum, and differs between machines.
func TestReconnectDelayGrowsAndVaries(t *testing.T) {
	t.Parallel()
	for attempt := range 100 {
		longest := min(minDelay<<min(max(attempt-1, 0), 10), maxDelay)
		if p := reconnectDelay(attempt); p < longest/2 || p > longest {
			t.Errorf("attempt %d comes after %v", attempt, p)
		}
	}
	different := map[time.Duration]bool{}
	for range 20 {
		different[reconnectDelay(8)] = true
	}
	if len(different) < 10 {
		t.Errorf("%d different pauses of 20", len(different))
	}
}
