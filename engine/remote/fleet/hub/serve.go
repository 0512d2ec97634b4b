package hub

import (
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"tandem/engine/api"
	"tandem/engine/remote/fleet"
	"tandem/persist/regular"
)

// An InviteRequest describes the user to invite.
type InviteRequest struct {
	Kind   fleet.Kind    `json:"kind"`
	Name   string        `json:"name"`
	Role   fleet.Role    `json:"role,omitempty"`
	Labels []string      `json:"labels,omitempty"`
	Life   time.Duration `json:"life,omitempty"` // life of the invitation; default one day
}

const defaultLife = 24 * time.Hour

func (r InviteRequest) validate() error {
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
	case r.Kind == fleet.KindPerson && !fleet.ValidRole(r.Role):
		return api.Errorf(api.CodeInvalid, "%s: role %q: must be read, operate or admin", what, r.Role)
	case r.Kind != fleet.KindPerson && r.Kind != fleet.KindMachine:
		return api.Errorf(api.CodeInvalid, "%s: must be a machine or a person", what)
	case r.Kind == fleet.KindMachine && r.Role != "" || r.Kind == fleet.KindPerson && len(r.Labels) > 0:
		return api.Errorf(api.CodeInvalid, "%s: a machine takes labels, a person takes a role", what)
	case r.Life < 0 || r.Life > 30*24*time.Hour:
		return api.Errorf(api.CodeInvalid, "%s: an invitation is valid for at most 30 days", what)
	}
	return nil
}

// An Answer is the hub's answer to a request.
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
		out.Token, err = h.Invite(r, askerOf(m.Subject))
	}
	return out.withError(err)
}

// askerOf returns the sender of a request, taken from its subject. The hub's permissions let each
// user send only under its own name.
func askerOf(subject string) string { return strings.Split(subject, ".")[2] }

func (h *Hub) serveRevoke(m *nats.Msg) any {
	var name string
	err := json.Unmarshal(m.Data, &name)
	var out Answer
	if err == nil {
		out.Count, err = h.Revoke(name)
	}
	return out.withError(err)
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

func (a Answer) withError(err error) Answer {
	if err != nil {
		a.Error = api.AsError(err)
	}
	return a
}

// ownerFile has the credentials of the owner of the hub's folder.
const ownerFile = "owner.creds"

// ownerName is the owner's name.
const ownerName = "owner"

// writeOwner creates the credentials used by the tandem hub commands, anew with each start.
func (h *Hub) writeOwner() error {
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
	return writePrivate(filepath.Join(h.o.Folder, ownerFile), text)
}

// Owner returns the configuration and credentials of the owner of a hub's folder.
func Owner(folder string) (fleet.Config, fleet.Credentials, error) {
	text, err := regular.ReadFile(filepath.Join(folder, "hub.json"))
	if err != nil {
		return fleet.Config{}, fleet.Credentials{}, api.Errorf(api.CodeNotFound, "find hub: no hub on this machine").
			WithHint("`tandem hub` starts one; people with the role admin can reach their hub from any machine where they have joined")
	}
	var s hubState
	if err := json.Unmarshal(text, &s); err != nil {
		return fleet.Config{}, fleet.Credentials{}, fmt.Errorf("find hub: hub.json: %w", err)
	}
	creds, err := fleet.ReadCredentials(filepath.Join(folder, ownerFile))
	return fleet.Config{Hub: "tls://" + localAddress(s.Listen), Authority: filepath.Join(folder, "keys", "authority.pem")}, creds, err
}

// localAddress returns the address at which this machine reaches a hub that listens on listen.
func localAddress(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err == nil && (host == "" || net.ParseIP(host).IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return listen
}

// Ask sends a request to a hub and decodes the answer.
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
