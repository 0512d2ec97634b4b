package fleet_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/remote/fleet"
	"tandem/engine/remote/fleet/hub"
)

// blockSaving makes every save of the hub's members fail until the returned function is called.
func (r *rig) blockSaving() (unblock func()) {
	r.Helper()
	path := filepath.Join(r.options.Folder, "hub.json")
	saved, err := os.ReadFile(path)
	if err == nil {
		err = errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "full"), 0o700))
	}
	if err != nil {
		r.Fatal(err)
	}
	return func() {
		if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, saved, 0o600)); err != nil {
			r.Fatal(err)
		}
	}
}

func (r *rig) invite(q hub.InviteRequest) fleet.Invitation {
	r.Helper()
	token, err := r.hub.Invite(q, "test")
	if err != nil {
		r.Fatal(err)
	}
	i, err := fleet.ParseToken(token)
	if err != nil {
		r.Fatal(err)
	}
	return i
}

func TestFailedSaveChangesNoMembership(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ann := r.person("ann", api.RoleAdmin)
	invited := r.invite(hub.InviteRequest{Kind: fleet.KindMachine, Name: "box"})
	unblock := r.blockSaving()
	if n, err := r.hub.Revoke("ann"); err == nil {
		t.Errorf("revoked %d, though it was not saved", n)
	}
	if _, err := fleet.Join(invited); err == nil {
		t.Error("box has joined, though it was not saved")
	}
	if s := r.hub.Status(); s.People != 1 || s.Machines != 0 || s.Invitations != 1 {
		t.Errorf("%+v", s)
	}
	if token, err := r.hub.Invite(hub.InviteRequest{Kind: fleet.KindMachine, Name: "web"}, "test"); err == nil {
		t.Errorf("invited by %s, though it was not saved", token)
	}
	unblock()
	if _, err := fleet.Join(invited); err != nil {
		t.Errorf("the invitation was used up by the failed join: %v", err)
	}
	r.invite(hub.InviteRequest{Kind: fleet.KindMachine, Name: "web"})
	if n, err := r.hub.Revoke("ann"); n != 1 || err != nil {
		t.Errorf("the second try revokes %d: %v", n, err)
	}
	awaitRevocation(t, "ann", ann.State)
}

// A fussyServer renews its account only if told to.
type fussyServer struct {
	hub.Server
	renews *bool
}

func (s fussyServer) Renew(account string) error {
	if !*s.renews {
		return errors.New("not now")
	}
	return s.Server.Renew(account)
}

func TestRevocationThatTheServerMissedIsRepeated(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.stop()
	renews, start := false, r.options.Start
	r.options.Start = func(c hub.Config) (hub.Server, error) {
		s, err := start(c)
		return fussyServer{s, &renews}, err
	}
	r.start()
	ann := r.person("ann", api.RoleAdmin)
	if _, err := r.hub.Revoke("ann"); err == nil {
		t.Error("no error, though the server keeps ann connected")
	}
	renews = true
	if _, err := r.hub.Revoke("ann"); err != nil {
		t.Error(err)
	}
	awaitRevocation(t, "ann", ann.State)
}

func TestMachineNamesAreUnique(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	web := hub.InviteRequest{Kind: fleet.KindMachine, Name: "web"}
	first, second := r.invite(web), r.invite(web)
	if _, err := fleet.Join(first); err != nil {
		t.Fatal(err)
	}
	if _, err := fleet.Join(second); err == nil || !strings.Contains(err.Error(), "a machine with this name exists") {
		t.Errorf("a second machine of this name joins: %v", err)
	}
	if s := r.hub.Status(); s.Machines != 1 {
		t.Errorf("%+v", s)
	}
	if _, err := r.hub.Revoke("web"); err != nil {
		t.Fatal(err)
	}
	if _, err := fleet.Join(r.invite(web)); err != nil {
		t.Errorf("after the revocation: %v", err)
	}
	r.invite(hub.InviteRequest{Kind: fleet.KindPerson, Name: "ann", Role: api.RoleRead})
	r.invite(hub.InviteRequest{Kind: fleet.KindPerson, Name: "ann", Role: api.RoleRead})
}
