package access

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/session/terminal"
	"tandem/engine/session/terminal/terminaltest"
	"tandem/engine/system/sandbox"
	"tandem/persist/store"
)

func TestTypingObeysKeyboardLockAndSandbox(t *testing.T) {
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := newGuard(t)
	g.SandboxPath = data.SandboxPath
	offline := &api.Sandbox{Network: &api.SandboxNetwork{}}
	writes := &api.Sandbox{Filesystem: api.SandboxFilesystem{AllowWrite: []string{"/work"}}}
	for id, layers := range map[string][]*api.Sandbox{"offline": {offline}, "both": {offline, writes}, "free": {{Filesystem: api.SandboxFilesystem{AllowWrite: []string{"/"}}}}} {
		text, _, err := Encode(layers)
		if err == nil {
			err = data.SaveSandbox(id, text, false)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(data.SandboxPath("free")+".x", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	user, agent := caller{}, caller{owner: "x"}
	confined := caller{owner: "x", bounds: api.Bounds{Sandbox: offline}}
	// A visitor is an agent on another machine. Its own sandbox applies, and the one set here too.
	visitor := caller{origin: &api.Origin{From: "ann", By: &api.FarAgent{Name: "claude", Owner: "x", Bounds: api.Bounds{Sandbox: offline}}, Sandbox: writes}}
	none := &api.Terminal{}
	for name, c := range map[string]struct {
		by       caller
		id       string
		state    api.State
		terminal *api.Terminal
		open     bool     // of the record
		types    api.Code // "": allowed
		starts   api.Code
		changes  api.Code
	}{
		"the user":                       {by: user, id: "unconfined", terminal: none},
		"the user, locked":               {by: user, id: "unconfined", terminal: &api.Terminal{Keyboard: "person"}},
		"an agent":                       {by: agent, id: "unconfined", terminal: none},
		"an agent, locked":               {by: agent, id: "unconfined", terminal: &api.Terminal{Keyboard: "person"}, types: api.CodeLocked, changes: api.CodeLocked},
		"an agent, ended":                {by: agent, id: "unconfined", state: api.StateExited, terminal: &api.Terminal{Keyboard: "person"}, types: api.CodeEnded},
		"a process without a terminal":   {by: agent, id: "unconfined"},
		"confined, outside":              {by: confined, id: "unconfined", terminal: none, types: api.CodeForbidden, starts: api.CodeForbidden},
		"confined, opened by the user":   {by: confined, id: "unconfined", terminal: &api.Terminal{Open: true}, open: true},
		"confined, inside":               {by: confined, id: "offline", terminal: none},
		"confined, inside and more":      {by: confined, id: "both", terminal: none},
		"confined, another sandbox":      {by: confined, id: "free", terminal: none, types: api.CodeForbidden, starts: api.CodeForbidden},
		"confined, ended":                {by: confined, id: "unconfined", state: api.StateStopped, terminal: none, types: api.CodeEnded, starts: api.CodeForbidden},
		"a visitor, inside one of two":   {by: visitor, id: "offline", terminal: none, types: api.CodeForbidden, starts: api.CodeForbidden},
		"a visitor, inside both":         {by: visitor, id: "both", terminal: none},
		"confined, an id with a way out": {by: confined, id: "../offline", terminal: none, types: api.CodeForbidden, starts: api.CodeForbidden},
	} {
		ctx := c.by.makeContext(t)
		view := api.Process{ID: c.id, Name: "web", State: api.StateRunning, Terminal: c.terminal}
		if c.state != "" {
			view.State = c.state
		}
		for what, got := range map[string]struct {
			err  error
			want api.Code
		}{
			"type":    {g.MayType(ctx, view), c.types},
			"report":  {g.MayReport(ctx, view), c.types},
			"change":  {MayChange(ctx, view, "stop"), c.changes},
			"restart": {g.MayStartAgain(ctx, store.Record{ID: c.id, Name: "web", AdmitsSandboxed: c.open}, true), c.starts},
			"signal": {g.MayStartAgain(ctx, store.Record{ID: c.id, Name: "web", AdmitsSandboxed: c.open, Supervision: store.Supervision{Restart: store.Restart{Policy: "always"}}}, false),
				c.starts},
			"signal without a policy": {g.MayStartAgain(ctx, store.Record{ID: c.id, Name: "web"}, false), ""},
		} {
			if (got.err == nil) != (got.want == "") || got.err != nil && (!errors.Is(got.err, got.want) || !strings.Contains(got.err.Error(), "web")) {
				t.Errorf("%s: %s: %v, want %q", name, what, got.err, got.want)
			}
		}
	}
}

func TestProbesOfPortsNeedTheLoopbackInterface(t *testing.T) {
	network := func(allowed, denied []string) *api.Sandbox {
		return &api.Sandbox{Network: &api.SandboxNetwork{AllowedDomains: allowed, DeniedDomains: denied}}
	}
	for name, c := range map[string]struct {
		layers []*api.Sandbox
		want   bool
	}{
		"no limit":          {[]*api.Sandbox{{}}, true},
		"no network":        {[]*api.Sandbox{network(nil, nil)}, false},
		"localhost":         {[]*api.Sandbox{network([]string{"localhost"}, nil)}, true},
		"an address":        {[]*api.Sandbox{network([]string{"127.0.0.1"}, nil)}, true},
		"another host":      {[]*api.Sandbox{network([]string{"example.org"}, nil)}, false},
		"denied again":      {[]*api.Sandbox{network([]string{"localhost"}, []string{"localhost"})}, false},
		"one layer without": {[]*api.Sandbox{network([]string{"localhost"}, nil), network(nil, nil)}, false},
	} {
		_, layers, err := Encode(c.layers)
		if err != nil {
			t.Fatal(name, err)
		}
		if err := MayProbe(layers); (err == nil) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEncodedSandboxLoadsUnchanged(t *testing.T) {
	whole := &api.Sandbox{
		Filesystem: api.SandboxFilesystem{DenyRead: []string{"/a b", "/ä\n"}, AllowWrite: []string{"/work"}, DenyWrite: []string{"/work/.git"}},
		Network:    &api.SandboxNetwork{AllowedDomains: []string{"*.example.org"}, DeniedDomains: []string{"evil.example.org"}},
	}
	for _, layers := range [][]*api.Sandbox{{{}}, {whole}, {whole, {}, {Network: &api.SandboxNetwork{}}}} {
		text, want, err := Encode(layers)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "sandbox.json")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := sandbox.LoadLayers(path)
		if err != nil || len(got) != len(layers) || len(got) != len(want) || strings.Contains(string(text), "null") {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

func TestSandboxOfAgentsIsReadOrRejected(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for text, want := range map[string]string{
		`{"filesystem":{"denyRead":[],"allowWrite":["/work"],"denyWrite":[]}}`: "",
		`{}`:                          "",
		``:                            "read the agents' sandbox: ",
		`{`:                           "read the agents' sandbox: ",
		`{"filesystem":{"x":[]}}`:     "read the agents' sandbox: ",
		`{"network":{"allow":["x"]}}`: "read the agents' sandbox: ",
	} {
		if err := os.WriteFile(filepath.Join(home, "agents.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := ReadSandbox("~/agents.json")
		if (err == nil) != (want == "") || (s == nil) != (err != nil) || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %+v, %v", text, s, err)
		}
	}
	if s, err := ReadSandbox(""); s != nil || err != nil {
		t.Errorf("without a path: %+v, %v", s, err)
	}
	if _, err := ReadSandbox(filepath.Join(home, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// typedSession returns a session in which a caller typed last.
func typedSession(t *testing.T, by caller) *terminal.Session {
	t.Helper()
	m, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	fd, err := unix.FcntlInt(m.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	s := terminal.Start(terminal.Options{
		ID: "0123456789ab", Master: os.NewFile(uintptr(fd), "pty"), Cols: 80, Rows: 24, Journal: data, Displays: &terminal.Displays{},
		Host:    terminaltest.Host{Log: filepath.Join(t.TempDir(), "log")},
		Replays: make(chan struct{}, 1), Chunks: terminal.NewChunks(), Log: slog.New(slog.DiscardHandler),
	}, func() { close(ended) })
	t.Cleanup(func() {
		s.Close()
		slave.Close()
		<-ended
	})
	if _, err := s.TypeThrough(by.makeContext(t), []byte("x")); err != nil { // it is known once it is written
		t.Fatal(err)
	}
	return s
}

// `tandem allow`, typed by the agent that waits for permission, comes from that agent.
func TestAgentBehindACallIsFound(t *testing.T) {
	processes := map[int]fakeProcess{
		900: {parent: 800, session: 800}, 800: {parent: fakeKeeper, session: 800}, // a program in a session
		910: {parent: 1, session: 910, mark: "0123456789ab"},   // one that left its session, with its mark
		920: {parent: 1, session: 920},                         // the user's own
		930: {parent: 920, session: 920, mark: "ffffffffffff"}, // with the mark of no record
	}
	shell := func(change func(*store.Record)) store.Record {
		r := store.Record{ID: "0123456789ab", Name: "shell", Identity: &store.Identity{PID: 800, StartTime: 800, BootID: "b"}}
		r.Actor = "person"
		change(&r)
		return r
	}
	users, agents := typedSession(t, caller{}), typedSession(t, caller{owner: "x"})
	for name, c := range map[string]struct {
		pid     int
		record  store.Record
		session *terminal.Session
		want    string
	}{
		"the user's shell":               {900, shell(func(*store.Record) {}), users, ""},
		"a shell nobody typed into":      {900, shell(func(*store.Record) {}), nil, ""},
		"a shell an agent typed into":    {900, shell(func(*store.Record) {}), agents, "shell, where agent:claude typed last"},
		"a shell an agent started":       {900, shell(func(r *store.Record) { r.Actor = "agent:claude" }), users, "shell, which agent:claude started"},
		"a shell an agent owns":          {900, shell(func(r *store.Record) { r.Owner = "x" }), users, "shell, which person started"},
		"by its mark":                    {910, shell(func(r *store.Record) { r.Actor = "agent:claude"; r.Identity = nil }), nil, "shell, which agent:claude started"},
		"another boot":                   {900, shell(func(r *store.Record) { r.Identity.BootID = "a" }), nil, "a process that hides which session it belongs to"},
		"a later process with its pid":   {900, shell(func(r *store.Record) { r.Identity.StartTime = 1 }), nil, "a process that hides which session it belongs to"},
		"the user's own program":         {920, shell(func(r *store.Record) { r.Actor = "agent:claude" }), nil, ""},
		"the mark of a forgotten record": {930, shell(func(r *store.Record) { r.Actor = "agent:claude" }), nil, ""},
	} {
		g := newTableGuard(processes, func(fakeProcess) bool { return false })
		g.Visit = func(_ context.Context, f func(store.Record, *terminal.Session)) error {
			f(store.Record{ID: "aaaaaaaaaaaa", Name: "other", Origin: store.Origin{Actor: "agent:other"}}, nil)
			f(c.record, c.session)
			return nil
		}
		behind, unknown, err := g.findAgentAbove(t.Context(), g.ancestryOf(c.pid))
		if behind != c.want || unknown != "" || err != nil {
			t.Errorf("%s: %q, %q, %v, want %q", name, behind, unknown, err, c.want)
		}
	}
	g := newTableGuard(processes, func(fakeProcess) bool { return false })
	g.Visit = func(context.Context, func(store.Record, *terminal.Session)) error { return api.ErrEnding() }
	if _, _, err := g.findAgentAbove(t.Context(), g.ancestryOf(900)); !api.IsEnding(err) {
		t.Errorf("while the engine exits: %v", err)
	}
}
