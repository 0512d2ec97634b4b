package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/agent/access"
	"tandem/engine/api"
	"tandem/engine/service/startrules"
	"tandem/engine/system/sandbox"
	"tandem/persist/store"
	"tandem/tests/needs"
)

func TestSaveSandboxOmitsNilLayers(t *testing.T) {
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &Starter{Store: data, Closed: []string{t.TempDir()}}
	open, closed := &api.Sandbox{}, &api.Sandbox{Network: &api.SandboxNetwork{}}
	for _, c := range []struct {
		id     string
		layers []*api.Sandbox
		want   int
	}{{"none", nil, 0}, {"nil", []*api.Sandbox{nil}, 0}, {"one", []*api.Sandbox{open}, 1}, {"both", []*api.Sandbox{open, nil, closed}, 2}} {
		r := store.Record{ID: c.id}
		if err := s.saveSandbox(&r, c.layers); err != nil || r.Sandboxed != (c.want > 0) {
			t.Errorf("%s: %+v, %v", c.id, r, err)
		}
		if !r.Sandboxed {
			continue
		}
		if got, err := sandbox.LoadLayers(data.SandboxPath(c.id)); err != nil || len(got) != c.want {
			t.Errorf("%s: %+v, %v", c.id, got, err)
		}
	}
}

func TestSandboxFilesHaveThePublicFormat(t *testing.T) {
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &Starter{Store: data, Closed: []string{t.TempDir()}}
	for _, c := range []struct {
		id, want string
		layers   []*api.Sandbox
	}{
		{"unconfined", `{"filesystem":{"denyRead":[],"allowWrite":["/"],"denyWrite":[]}}`, nil},
		{"confined", `{"filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[]},"network":{"allowedDomains":[],"deniedDomains":[]}}`,
			[]*api.Sandbox{{Network: &api.SandboxNetwork{}}}},
	} {
		if err := s.saveSandbox(&store.Record{ID: c.id}, c.layers); err != nil {
			t.Fatal(err)
		}
		if err := access.NoteUnconfined(data, c.id); err != nil { // has no effect on a confined process
			t.Fatal(err)
		}
		text, err := os.ReadFile(data.SandboxPath(c.id))
		var plain bytes.Buffer
		if err == nil {
			err = json.Compact(&plain, text)
		}
		if err != nil || plain.String() != c.want {
			t.Errorf("%s: %s, %v", c.id, plain.String(), err)
		}
	}
}

func TestStartRejectsInvalidRequests(t *testing.T) {
	r := newRig(t)
	file := filepath.Join(r.work, "file")
	writeFile(t, file, "")
	project := func(change func(*api.ProjectEntry)) *api.ProjectEntry {
		p := &api.ProjectEntry{File: "/p/tandem.yaml", Name: "web"}
		change(p)
		return p
	}
	const secret = "\x1b]0;x\a"
	for _, c := range []struct {
		in   api.ProcessStartInput
		want string
	}{
		{api.ProcessStartInput{}, "no command given"},
		{api.ProcessStartInput{Command: []string{""}}, "the program's name is empty"},
		{api.ProcessStartInput{CWD: "relative"}, "start in relative: the path is not absolute"},
		{api.ProcessStartInput{CWD: "/none/\x1b[31m"}, "no such file or directory"},
		{api.ProcessStartInput{CWD: file}, "not a directory"},
		{api.ProcessStartInput{Name: "a\nb"}, "must consist of visible characters"},
		{api.ProcessStartInput{Name: "0123456789ab"}, "must not look like an id"},
		{api.ProcessStartInput{Name: "`x`"}, "must not contain"},
		{api.ProcessStartInput{Project: project(func(p *api.ProjectEntry) { p.Name = "a/b" })}, "the entry's name is not valid"},
		{api.ProcessStartInput{Name: strings.Repeat("x", 1000)}, "name"},
		{api.ProcessStartInput{TTY: true, Cols: -1}, "size -1x24: both sides must be 1 to"},
		{api.ProcessStartInput{TTY: true, Rows: 1 << 20}, "both sides must be 1 to"},
		{api.ProcessStartInput{Actor: secret}, "is not a valid name"},
		{api.ProcessStartInput{Umask: "0888"}, "umask 0888: must be octal, 0000 to 0777"},
		{api.ProcessStartInput{Umask: "1777"}, "must be octal"},
		{api.ProcessStartInput{Umask: "-22"}, "must be octal"},
		{api.ProcessStartInput{Env: map[string]string{"A=B": "x"}}, "A=B: invalid name or value"},
		{api.ProcessStartInput{Env: map[string]string{"": "x"}}, "invalid name or value"},
		{api.ProcessStartInput{Env: map[string]string{"A": "a\x00b"}}, "environment variable A: invalid name or value"},
		{api.ProcessStartInput{Environ: map[string]string{"A": strings.Repeat("x", maxEnvLength)}}, "write the value to a file"},
		{api.ProcessStartInput{Restart: &api.Restart{Policy: "sometimes"}}, "sometimes"},
		{api.ProcessStartInput{KeepAlive: true, Restart: &api.Restart{Policy: api.PolicyNo}}, "keep_alive"},
		{api.ProcessStartInput{Ready: &api.Readiness{Log: "("}}, "missing closing )"},
		{api.ProcessStartInput{Ready: &api.Readiness{}}, "no condition given"},
		{api.ProcessStartInput{StopSignal: "SIGNOTHING"}, "NOTHING"},
		{api.ProcessStartInput{Stdin: true, TTY: true}, "session.write types into a terminal"},
		{api.ProcessStartInput{StopTimeoutMS: -1}, "cannot be negative"},
		{api.ProcessStartInput{LogLimit: -1}, "cannot be negative"},
		{api.ProcessStartInput{Lease: "eternal"}, "must be detached, session or forever"},
		{api.ProcessStartInput{ID: "../escape"}, "is not 12 lower-case hex digits"},
		{api.ProcessStartInput{ID: "ABCDEF012345"}, "is not 12 lower-case hex digits"},
		{api.ProcessStartInput{After: []api.Dependency{{ID: "web", Condition: "someday"}}}, "someday"},
		{api.ProcessStartInput{Project: project(func(p *api.ProjectEntry) { p.File = "tandem.yaml" })}, "its path is not absolute"},
		{api.ProcessStartInput{Project: project(func(p *api.ProjectEntry) { p.File = "/" + strings.Repeat("x", 4096) })}, "its path is too long"},
		{api.ProcessStartInput{Project: project(func(p *api.ProjectEntry) { p.Name = "" })}, "the entry's name is not valid"},
		{api.ProcessStartInput{Project: project(func(p *api.ProjectEntry) { p.Project = "a\nb" })}, "the project's name is not valid"},
		{api.ProcessStartInput{Project: project(func(p *api.ProjectEntry) { p.Digest = strings.Repeat("0", 129) })}, "the digest is too long"},
	} {
		if c.want != "no command given" && c.in.Command == nil {
			c.in.Command = []string{"server"}
		}
		wantError(t, r, api.ProcessStart, c.in, api.CodeInvalid, c.want)
		_, err := api.ProcessStart.Call(t.Context(), r, c.in)
		if strings.ContainsAny(err.Error(), "\x1b\a\n") {
			t.Errorf("the error has control characters: %q", err)
		}
	}
	if all := call(t, r, api.ProcessList, api.ProcessListInput{}).Processes; len(all) != 0 {
		t.Errorf("started %+v", all)
	}
	if entries, err := os.ReadDir(filepath.Join(r.dir, "processes")); err == nil && len(entries) > 0 {
		t.Errorf("rejected starts left %v", entries)
	}
}

func TestStartSavesRequestAndDefaults(t *testing.T) {
	r := newRig(t)
	call(t, r, api.EnvSet, api.EnvSetInput{Name: "SHARED", Value: "1"})
	call(t, r.agent(), api.EnvSet, api.EnvSetInput{Name: "OWN", Value: "own", Client: true})
	call(t, r.agent(), api.EnvSet, api.EnvSetInput{Name: "BOTH", Value: "own", Client: true})
	type want struct {
		name, kind, actor, owner, lease, stop string
		cols, rows                            int
		split                                 bool
		env                                   map[string]string
		limit                                 int64
	}
	for name, c := range map[string]struct {
		agent bool
		in    api.ProcessStartInput
		want  want
	}{
		"the user": {in: api.ProcessStartInput{Command: []string{"/bin/server"}}, want: want{name: "server", kind: "process", actor: "person"}},
		"an actor given by the user's program": {in: api.ProcessStartInput{Command: []string{"x"}, Actor: "cron", Lease: api.LeaseForever},
			want: want{name: "x", kind: "process", actor: "cron"}},
		"an agent posing as the user": {agent: true, in: api.ProcessStartInput{Command: []string{"x"}, Actor: "person", Env: map[string]string{"BOTH": "start"}},
			want: want{name: "x", kind: "process", actor: "agent:claude", owner: "owner-1", lease: "detached", env: map[string]string{"OWN": "own", "BOTH": "start"}}},
		"an agent with a lease": {agent: true, in: api.ProcessStartInput{Command: []string{"x"}, Lease: api.LeaseSession},
			want: want{name: "x", kind: "process", actor: "agent:claude", owner: "owner-1", lease: "session", env: map[string]string{"OWN": "own", "BOTH": "own"}}},
		"a terminal":          {in: api.ProcessStartInput{TTY: true}, want: want{name: "sh", kind: "session", actor: "person", stop: "SIGTERM", cols: 80, rows: 24}},
		"a terminal's size":   {in: api.ProcessStartInput{TTY: true, Cols: 1, Rows: 2, StopSignal: "INT", SplitLog: true}, want: want{name: "sh", kind: "session", actor: "person", stop: "INT", cols: 1, rows: 2}},
		"a size of no use":    {in: api.ProcessStartInput{Command: []string{"x"}, Cols: 100, Rows: 50, SplitLog: true}, want: want{name: "x", kind: "process", actor: "person", split: true}},
		"an excessive limit":  {in: api.ProcessStartInput{Command: []string{"x"}, LogLimit: math.MaxInt64}, want: want{name: "x", kind: "process", actor: "person", limit: maxLogLimit}},
		"a name not in UTF-8": {in: api.ProcessStartInput{Command: []string{"/bin/\xff\x1b"}}, want: want{name: "program", kind: "process", actor: "person"}},
	} {
		c.in.ID, c.in.CWD = api.NewID(), r.work+"/."
		by := r.client
		if c.agent {
			by = r.agent()
		}
		call(t, by, api.ProcessStart, c.in)
		e, err := r.control.EntryByID(t.Context(), c.in.ID)
		if err != nil {
			t.Fatal(err)
		}
		rec := e.Rec
		got := want{rec.Name, rec.Kind, rec.Actor, rec.Owner, rec.Lease, rec.StopSignal, rec.Cols, rec.Rows, rec.SplitLog, rec.Env, rec.LogLimit}
		if !reflect.DeepEqual(got, c.want) || rec.CWD != r.work {
			t.Errorf("%s: recorded %+v in %s, want %+v", name, got, rec.CWD, c.want)
		}
		call(t, r, api.ProcessStop, api.ProcessStopInput{ID: rec.ID})
	}
}

// A client repeats a start with the same id if the engine exited before it answered.
func TestRepeatedStartAnswersWithTheFirst(t *testing.T) {
	r := newRig(t)
	in := api.ProcessStartInput{ID: api.NewID(), Name: "web", Command: []string{"server"}, CWD: r.work}
	first := r.start(in)
	if again := r.start(in); again.PID != first.PID || again.PID == 0 {
		t.Errorf("started twice: %d and %d", first.PID, again.PID)
	}
	other := in
	other.Command = []string{"another"}
	wantError(t, r, api.ProcessStart, other, api.CodeConflict, "id "+in.ID+" is taken")
	wantError(t, r.agent(), api.ProcessStart, in, api.CodeConflict, "is taken")
	wantError(t, r, api.ProcessStart, api.ProcessStartInput{Name: "web", Command: []string{"server"}, CWD: r.work}, api.CodeConflict, "start process: process "+in.ID+" is already called web")
	wantError(t, r, api.SessionStart, api.SessionStartInput{Name: "web", CWD: r.work}, api.CodeConflict, "start session: process "+in.ID+" is already called web; choose another name")
	// A rejected start releases its id, so that the client can repeat it.
	later := api.ProcessStartInput{ID: api.NewID(), Name: "web", Command: []string{"server"}, CWD: r.work}
	wantError(t, r, api.ProcessStart, later, api.CodeConflict, "is already called web")
	call(t, r, api.ProcessStop, api.ProcessStopInput{ID: "web"})
	if p := r.start(later); p.ID != later.ID {
		t.Errorf("the id of a rejected start is not free: %+v", p)
	}
	// Without a chosen name, a suffix makes it unique.
	if p := r.start(api.ProcessStartInput{Command: []string{"web"}}); p.Name == "web" || !strings.HasPrefix(p.Name, "web") {
		t.Errorf("named %s", p.Name)
	}
}

func TestConcurrentStartsWithOneIDStartOneChild(t *testing.T) {
	command := []string{"server"}
	for name, start := range map[string]func(r *rig, id string) (api.Process, error){
		api.ProcessStart.Name: func(r *rig, id string) (api.Process, error) {
			return api.ProcessStart.Call(r.t.Context(), r, api.ProcessStartInput{ID: id, Command: command, CWD: r.work})
		},
		api.SessionStart.Name: func(r *rig, id string) (api.Process, error) {
			return api.SessionStart.Call(r.t.Context(), r, api.SessionStartInput{ID: id, Command: command, CWD: r.work})
		},
		api.Exec.Name: func(r *rig, id string) (api.Process, error) {
			out, err := api.Exec.Call(r.t.Context(), r, api.ExecInput{ID: id, Command: command, CWD: r.work, TimeoutMS: 1})
			return out.Process, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			id := api.NewID()
			var spawned atomic.Int32
			r.executor.spawned = func(store.Record) { spawned.Add(1) }
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					if p, err := start(r, id); err != nil || p.ID != id || p.State != api.StateRunning {
						t.Errorf("%+v, %v", p, err)
					}
				})
			}
			all.Wait()
			if n := spawned.Load(); n != 1 {
				t.Errorf("started %d children", n)
			}
		})
	}
}

// A record with this id may exist on disk although it cannot be read at the moment.
func TestStartUnderAnUnreadableRecordIsUnsure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		id := api.NewID()
		writeFile(t, filepath.Join(r.store.Dir(id), "record.json"), "{")
		wantError(t, r, api.ProcessStart, api.ProcessStartInput{ID: id, Command: []string{"server"}, CWD: r.work}, api.CodeUnsure, "it may have been started as "+id)
	})
}

func TestStartsAreRejectedWhileEverythingStops(t *testing.T) {
	r := newRig(t)
	if err := r.control.StopAll(t.Context(), "person", time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := api.ProcessStart.Call(t.Context(), r, api.ProcessStartInput{Command: []string{"x"}, CWD: r.work}); !api.IsEnding(err) {
		t.Errorf("started: %v", err)
	}
}

// The engine reports a folder that cannot be entered before the keeper tries.
func TestStartRejectsFoldersThatCannotBeEntered(t *testing.T) {
	if needs.OtherUser(t) {
		return
	}
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.MkdirAll(filepath.Join(closed, "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(closed, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(closed, 0o700)
	for path, why := range map[string]string{closed: "permission denied", closed + "/in": "permission denied", closed + "-none": "no such file or directory"} {
		if _, err := startrules.Folder(path); !errors.Is(err, api.ReasonBadCWD) || err.Error() != "start in "+path+": "+why {
			t.Errorf("%s: %v", path, err)
		}
	}
}
