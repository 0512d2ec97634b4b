package hub

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"tandem/engine/api"
	"tandem/engine/fleet"
)

// An InviteRequest says who is invited.
type InviteRequest struct {
	Kind   fleet.Kind    `json:"kind"`
	Name   string        `json:"name"`
	Role   fleet.Role    `json:"role,omitempty"`
	Labels []string      `json:"labels,omitempty"`
	Life   time.Duration `json:"life,omitempty"` // how long the invitation is valid; default a day
}

const defaultLife = 24 * time.Hour

func (r InviteRequest) check() error {
	what := fmt.Sprintf("invite %s %s", r.Kind, r.Name)
	if !fleet.ValidName(r.Name) {
		return api.Errorf(api.CodeInvalid, "invite %s %q: must be a name of letters, digits, - and _", r.Kind, r.Name)
	}
	for _, label := range r.Labels {
		if !fleet.ValidLabel(label) {
			return api.Errorf(api.CodeInvalid, "%s: label %q: must be key=value of letters, digits, - and _", what, label)
		}
	}
	switch {
	case r.Name == ownerName:
		return api.Errorf(api.CodeInvalid, "%s: this name is reserved for the owner of the hub's folder", what)
	case r.Kind == fleet.KindPerson && !fleet.Known(r.Role):
		return api.Errorf(api.CodeInvalid, "%s: must be the role read, operate or admin", what)
	case r.Kind != fleet.KindPerson && r.Kind != fleet.KindMachine:
		return api.Errorf(api.CodeInvalid, "%s: must be a machine or a person", what)
	case r.Kind == fleet.KindMachine && r.Role != "" || r.Kind == fleet.KindPerson && len(r.Labels) > 0:
		return api.Errorf(api.CodeInvalid, "%s: a machine takes labels, a person takes a role", what)
	case r.Life < 0 || r.Life > 30*24*time.Hour:
		return api.Errorf(api.CodeInvalid, "%s: an invitation is valid for at most 30 days", what)
	}
	return nil
}

// An Answer is what the hub answers.
type Answer struct {
	Token   string     `json:"token,omitempty"`
	Members []Member   `json:"members,omitempty"`
	Status  *Status    `json:"status,omitempty"`
	Count   int        `json:"count,omitempty"`
	Error   *api.Error `json:"error,omitempty"`
}

func (h *Hub) serveInvite(m *nats.Msg) any {
	var r InviteRequest
	err := json.Unmarshal(m.Data, &r)
	var out Answer
	if err == nil {
		out.Token, err = h.Invite(r, asker(m.Subject))
	}
	return out.with(err)
}

// asker is who has published on a subject of the hub's, which lets each use their own.
func asker(subject string) string { return strings.Split(subject, ".")[2] }

func (h *Hub) serveRevoke(m *nats.Msg) any {
	var name string
	err := json.Unmarshal(m.Data, &name)
	var out Answer
	if err == nil {
		out.Count, err = h.Revoke(name)
	}
	return out.with(err)
}

func (h *Hub) serveJoin(m *nats.Msg) any {
	var r fleet.JoinRequest
	err := json.Unmarshal(m.Data, &r)
	var out fleet.JoinAnswer
	if err == nil {
		out, err = h.Join(r)
	}
	if err != nil {
		out.Error = api.AsError(err)
	}
	return out
}

func (a Answer) with(err error) Answer {
	if err != nil {
		a.Error = api.AsError(err)
	}
	return a
}

// ownerFile holds the credentials of whoever has the hub's folder.
const ownerFile = "owner.creds"

// ownerName is what they are called.
const ownerName = "owner"

// keepOwner makes the credentials with which the verbs reach the hub, anew with each start.
func (h *Hub) keepOwner() error {
	key, err := nkeys.CreateUser()
	if err != nil {
		return err
	}
	public, err := key.PublicKey()
	if err != nil {
		return err
	}
	token, err := fleet.Issue(h.account, fleet.User{Kind: fleet.KindOwner, Name: ownerName}, public)
	if err != nil {
		return err
	}
	seed, err := key.Seed()
	if err != nil {
		return err
	}
	text, err := jwt.FormatUserConfig(token, seed)
	if err != nil {
		return err
	}
	return keep(filepath.Join(h.o.Folder, ownerFile), text)
}

// Owner is how whoever has the folder of a hub reaches it.
func Owner(folder string) (fleet.Config, fleet.Credentials, error) {
	text, err := os.ReadFile(filepath.Join(folder, "hub.json"))
	if err != nil {
		return fleet.Config{}, fleet.Credentials{}, api.Errorf(api.CodeNotFound, "find hub: no hub on this machine").
			WithHint("`tandem hub` starts one; people with the role admin can reach theirs wherever they have joined")
	}
	var s state
	if err := json.Unmarshal(text, &s); err != nil {
		return fleet.Config{}, fleet.Credentials{}, fmt.Errorf("find hub: hub.json: %w", err)
	}
	creds, err := fleet.ReadCredentials(filepath.Join(folder, ownerFile))
	return fleet.Config{Hub: "tls://" + local(s.Listen), Authority: filepath.Join(folder, "keys", "authority.pem")}, creds, err
}

// local is where this machine reaches what listens.
func local(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err == nil && (host == "" || net.ParseIP(host).IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return listen
}

// Ask asks a hub for something and reads its answer.
func Ask(c fleet.Config, creds fleet.Credentials, what string, in any) (Answer, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return Answer{}, err
	}
	text, err := fleet.Ask(c, creds, fleet.HubSubject(creds.Name, what), body)
	if err != nil {
		return Answer{}, api.Errorf(api.CodeUnavailable, "ask hub: %v", err).WithHint("is `tandem hub` running?")
	}
	var out Answer
	if err := json.Unmarshal(text, &out); err != nil {
		return Answer{}, fmt.Errorf("ask hub: %w", err)
	}
	if out.Error != nil {
		return Answer{}, out.Error
	}
	return out, nil
}
