package fleet_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/remote/fleet"
	"tandem/engine/remote/fleet/hub"
	"tandem/engine/remote/hosts/transport"
	"tandem/tests/needs"
	"tandem/tests/seed"
	"tandem/tests/wait"
)

func TestPersonListsAndReachesMachine(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	box, ann := r.machine("box", "role=web"), r.person("ann", api.RoleOperate)
	all := r.list(ann, api.FleetListInput{}, "the machine", func(all []api.FleetMachine) bool { return len(all) == 1 })
	if m := all[0]; m.Name != "box" || m.State != api.FleetConnected || m.Version != "1.2.3" || m.Labels["role"] != "web" || m.Labels["os"] != "linux" {
		t.Errorf("listed as %+v", m)
	}
	conn, hello, err := ann.Open(t.Context(), "box", transport.Preface{Origin: "ann@laptop"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if hello.Version != "1.2.3" || hello.Machine != "box" {
		t.Errorf("hello is %+v", hello)
	}
	if v := <-box.visits; v.Person != "ann" || v.Role != api.RoleOperate || v.Origin != "ann@laptop" {
		t.Errorf("visitor is %+v", v)
	}
	if _, err := conn.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "hello" {
		t.Errorf("echo is %q, %v", got, err)
	}
	if _, _, err := ann.Open(t.Context(), "other", transport.Preface{}); !errors.Is(err, api.CodeUnavailable) || !strings.Contains(err.Error(), "machine other: it is offline") {
		t.Errorf("missing machine: %v", err)
	}
}

func TestPipeDeliversBytesInOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.machine("box")
	ann := r.person("ann", api.RoleRead)
	conn, _, err := ann.Open(t.Context(), "box", transport.Preface{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	sent, random := make([]byte, 4<<20), seed.Rand(t)
	for i := range sent {
		sent[i] = byte(random.Uint32())
	}
	go func() { _, _ = conn.Write(sent) }()
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(conn, got); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("4 MB came back changed: %v", err)
	}
}

func TestListCountsProcessesWithoutAskingMachine(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	box, ann := r.machine("box"), r.person("ann", api.RoleRead)
	for _, id := range []string{"a", "b"} {
		box.events <- api.Event{Type: api.EventProcess, Process: &api.Process{ID: id, State: api.StateRunning}}
	}
	r.list(ann, api.FleetListInput{}, "two that run", func(all []api.FleetMachine) bool { return len(all) == 1 && all[0].Processes == 2 })
	box.events <- api.Event{Type: api.EventProcess, Process: &api.Process{ID: "b", State: api.StateExited}}
	r.list(ann, api.FleetListInput{}, "one that runs", func(all []api.FleetMachine) bool {
		return len(all) == 1 && all[0].Processes == 1 && all[0].States[api.StateExited] == 1
	})
}

func TestClosedMachineIsOfflineAtOnce(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newRig(t)
	box, ann := r.machine("box"), r.person("ann", api.RoleRead)
	r.list(ann, api.FleetListInput{}, "the machine", func(all []api.FleetMachine) bool { return len(all) == 1 && all[0].State == api.FleetConnected })
	box.Close()
	r.list(ann, api.FleetListInput{}, "it to be away", func(all []api.FleetMachine) bool { return len(all) == 1 && all[0].State == api.FleetAway })
	if _, _, err := ann.Open(t.Context(), "box", transport.Preface{}); !errors.Is(err, api.CodeUnavailable) || !strings.Contains(err.Error(), "last seen") {
		t.Errorf("Open = %v", err)
	}
}

func TestListSelectsMachinesByNameAndLabel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.machine("web-1", "role=web", "zone=a")
	r.machine("web-2", "role=web", "zone=b")
	r.machine("db-1", "role=db", "zone=b")
	ann := r.person("ann", api.RoleRead)
	r.list(ann, api.FleetListInput{}, "all", func(all []api.FleetMachine) bool { return len(all) == 3 })
	for _, c := range []struct {
		in   api.FleetListInput
		want string
	}{
		{api.FleetListInput{Names: []string{"web-*"}}, "web-1 web-2"},
		{api.FleetListInput{Names: []string{"*1"}}, "db-1 web-1"},
		{api.FleetListInput{Names: []string{"db-1", "web-2"}}, "db-1 web-2"},
		{api.FleetListInput{Labels: []string{"role=web", "zone!=b"}}, "web-1"},
		{api.FleetListInput{Labels: []string{"role!=web"}}, "db-1"},
		{api.FleetListInput{Labels: []string{"zone!=c"}}, "db-1 web-1 web-2"},
		{api.FleetListInput{Names: []string{"web-*"}, Labels: []string{"zone=b"}}, "web-2"},
		{api.FleetListInput{Labels: []string{"no=such"}}, ""},
	} {
		all, err := ann.List(t.Context(), c.in)
		var names []string
		for _, m := range all {
			names = append(names, m.Name)
		}
		if got := strings.Join(names, " "); err != nil || got != c.want {
			t.Errorf("%+v: %q, %v; want %q", c.in, got, err, c.want)
		}
	}
	for _, in := range []api.FleetListInput{{Labels: []string{"role"}}, {Labels: []string{"=x"}}, {Names: []string{"["}}} {
		if _, err := ann.List(t.Context(), in); !errors.Is(err, api.CodeInvalid) {
			t.Errorf("%+v: %v", in, err)
		}
	}
}

func TestOpenAnyReachesMachineWithLabel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.machine("web-1", "role=web")
	r.machine("web-2", "role=web")
	r.machine("db-1", "role=db")
	ann := r.person("ann", api.RoleOperate)
	for range 10 {
		conn, hello, err := ann.OpenAny(t.Context(), "role=web", transport.Preface{})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(hello.Machine, "web-") {
			t.Errorf("reached machine %s", hello.Machine)
		}
		if _, err := conn.Write([]byte("x")); err != nil {
			t.Error(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
			t.Error(err)
		}
		conn.Close()
	}
	if _, _, err := ann.OpenAny(t.Context(), "role=none", transport.Preface{}); !errors.Is(err, api.CodeUnavailable) || !strings.Contains(err.Error(), "none is connected") {
		t.Errorf("OpenAny = %v", err)
	}
}

// Revoking also ends the connections already open.
func TestRevokedUserIsDisconnected(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	box, ann, bob := r.machine("box"), r.person("ann", api.RoleAdmin), r.person("bob", api.RoleRead)
	conn, _, err := ann.Open(t.Context(), "box", transport.Preface{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.hub.Revoke("ann"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("her connection is still open")
	}
	awaitRevocation(t, "ann", ann.State)
	if _, _, err := ann.Open(t.Context(), "box", transport.Preface{}); err == nil {
		t.Error("she reaches the machine")
	}
	if _, err := r.hub.Revoke("box"); err != nil {
		t.Fatal(err)
	}
	awaitRevocation(t, "box", box.State)
	r.list(bob, api.FleetListInput{}, "it to be gone", func(all []api.FleetMachine) bool { return len(all) == 0 })
	if _, err := r.hub.Revoke("nobody"); !errors.Is(err, api.CodeNotFound) {
		t.Errorf("revoke nobody: %v", err)
	}
	r.machine("box") // the name is available again
}

func TestMachineReconnectsAfterHubRestart(t *testing.T) {
	t.Parallel()
	for _, wiped := range []bool{false, true} {
		name := "restarted"
		if wiped {
			name = "wiped"
		}
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			box, ann := r.machine("box"), r.person("ann", api.RoleRead)
			box.events <- api.Event{Type: api.EventProcess, Process: &api.Process{ID: "a", State: api.StateRunning}}
			running := func(all []api.FleetMachine) bool {
				return len(all) == 1 && all[0].State == api.FleetConnected && all[0].Processes == 1
			}
			r.list(ann, api.FleetListInput{}, "the process", running)
			conn, _, err := ann.Open(t.Context(), "box", transport.Preface{})
			if err != nil {
				t.Fatal(err)
			}
			r.stop()
			if _, err := conn.Read(make([]byte, 1)); err == nil {
				t.Error("a connection survived the hub")
			}
			r.list(ann, api.FleetListInput{}, "all to be away", func(all []api.FleetMachine) bool { return len(all) == 1 && all[0].State == api.FleetAway })
			if wiped {
				r.wipe()
			}
			box.events <- api.Event{Type: api.EventProcess, Process: &api.Process{ID: "b", State: api.StateExited}}
			r.start()
			r.list(ann, api.FleetListInput{}, "the machine to be back", func(all []api.FleetMachine) bool { return running(all) && all[0].States[api.StateExited] == 1 })
			if _, _, err := ann.Open(t.Context(), "box", transport.Preface{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// A dashboard keeps a connection to each machine listed, so only small fleets are listed one by
// one.
func TestFewListsMachinesOfSmallFleet(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	box := r.machine("box")
	c, creds := r.join(hub.InviteRequest{Kind: fleet.KindPerson, Name: "ann", Role: api.RoleRead})
	path := filepath.Join(t.TempDir(), "ann.creds")
	if err := os.WriteFile(path, creds.File(), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Person = path
	told := make(chan api.Machine, 100)
	f := &fleet.Fleet{Log: slog.New(slog.DiscardHandler), Notify: func(m *api.Machine) { told <- *m }}
	f.Set(c)
	defer f.Close()
	wait.Poll(t, "the machine to be listed", func() ([]api.Machine, bool) {
		few, _ := f.Few(t.Context())
		return few, len(few) == 1 && few[0].Name == "box" && few[0].State == api.MachineConnected
	})
	box.Close()
	for m := range told {
		if m.Name == "box" && m.State == api.MachineAway {
			break
		}
	}
}
