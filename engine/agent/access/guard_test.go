package access

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/session/terminal"
	"tandem/persist/store"
)

// A caller is who makes a call: the test's own process, as the user or an agent, or one on another
// machine.
type caller struct {
	owner  string // of an agent
	bounds api.Bounds
	origin *api.Origin // nil: this machine
}

// makeContext returns the context that Check receives for a call by c.
func (c caller) makeContext(t *testing.T) context.Context {
	t.Helper()
	var seen context.Context
	m := server.NewMux(func(ctx context.Context, _ string, _ api.Effect, _ any) error {
		seen = context.WithoutCancel(ctx)
		return nil
	})
	server.Handle(m, api.EngineInfo, func(context.Context, api.Empty) (api.Info, error) { return api.Info{}, nil })
	l, err := net.Listen("unix", filepath.Join(socketDir(t), "s"))
	if err != nil {
		t.Fatal(err)
	}
	serving, stop := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = m.Serve(serving, l)
	}()
	t.Cleanup(func() { stop(); <-served })
	var conn net.Conn
	if c.origin != nil {
		near, far := net.Pipe()
		conn, err = near, m.Receive(far, *c.origin)
	} else {
		conn, err = net.Dial("unix", l.Addr().String())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	r, err := http.NewRequest(http.MethodPost, "http://tandem/v1/"+api.EngineInfo.Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	bounds, err := json.Marshal(c.bounds)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(api.ClientHeader, "claude")
	if c.owner != "" {
		r.Header.Set(api.OwnerHeader, c.owner)
		r.Header.Set(api.BoundsHeader, base64.StdEncoding.EncodeToString(bounds))
	}
	if err := r.Write(conn); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), r)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	return seen
}

// newGuard returns a guard of an engine without a keeper.
func newGuard(t *testing.T) *Guard {
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &Guard{
		DataDir: "/data", BootID: "b", KeeperPID: func() int { return 0 }, SandboxPath: data.SandboxPath,
		Visit: func(context.Context, func(store.Record, *terminal.Session)) error { return nil },
	}
}

func TestGuardRejectsWhatACallerMayNotCall(t *testing.T) {
	g := newGuard(t)
	agent := caller{owner: "x"}
	reader := caller{owner: "x", bounds: api.Bounds{ReadOnly: true}}
	confined := caller{owner: "x", bounds: api.Bounds{Sandbox: &api.Sandbox{Network: &api.SandboxNetwork{}}}}
	offline := confined
	local := caller{owner: "x", bounds: api.Bounds{Sandbox: &api.Sandbox{Network: &api.SandboxNetwork{AllowedDomains: []string{"localhost"}}}}}
	far := caller{origin: &api.Origin{From: "ann@laptop"}}
	farAgents := caller{origin: &api.Origin{From: "ann@laptop", Agent: "claude in web"}}
	for name, c := range map[string]struct {
		by     caller
		op     string
		effect api.Effect
		in     any
		want   string // of the error; "": allowed
	}{
		"the user's own operation":            {by: caller{}, op: api.RequestAnswer.Name, effect: api.Write, in: &api.RequestAnswerInput{}},
		"the user's operation, by an agent":   {by: agent, op: api.RequestAnswer.Name, effect: api.Write, in: &api.RequestAnswerInput{}, want: "only the user may do that"},
		"the user elsewhere":                  {by: far, op: api.RequestAnswer.Name, effect: api.Write, in: &api.RequestAnswerInput{}},
		"a program of an agent elsewhere":     {by: farAgents, op: api.RequestAnswer.Name, effect: api.Write, in: &api.RequestAnswerInput{}, want: "this program was started on ann@laptop from claude in web"},
		"an unknown operation, by the user":   {by: caller{}, op: "engine.magic", effect: api.Write, in: &api.Empty{}},
		"an unknown operation, by an agent":   {by: agent, op: "engine.magic", effect: api.Read, in: &api.Empty{}, want: "agents may not call it"},
		"a read, read-only":                   {by: reader, op: api.ProcessList.Name, effect: api.Read, in: &api.ProcessListInput{}},
		"a write, read-only":                  {by: reader, op: api.ProcessStop.Name, effect: api.Write, in: &api.ProcessStopInput{}, want: "this agent may only read"},
		"a start, read-only":                  {by: reader, op: api.Exec.Name, effect: api.Destructive, in: &api.ExecInput{}, want: "this agent may only read"},
		"its server's records, read-only":     {by: reader, op: api.PolicyEnd.Name, effect: api.Write, in: &api.Empty{}},
		"stop, by the user":                   {by: caller{}, op: api.EngineStop.Name, effect: api.Destructive, in: &api.EngineStopInput{All: true}},
		"stop, by a program of an agent":      {by: farAgents, op: api.EngineStop.Name, effect: api.Destructive, in: &api.EngineStopInput{All: true}, want: "only the user may do that"},
		"restart, by a program of an agent":   {by: farAgents, op: api.EngineStop.Name, effect: api.Destructive, in: &api.EngineStopInput{Restart: true}},
		"stop, by an agent":                   {by: agent, op: api.EngineStop.Name, effect: api.Destructive, in: &api.EngineStopInput{}, want: "agents may restart it"},
		"stop all and restart, by an agent":   {by: agent, op: api.EngineStop.Name, effect: api.Destructive, in: &api.EngineStopInput{All: true, Restart: true}, want: "agents may restart it"},
		"replace and restart, by an agent":    {by: agent, op: api.EngineStop.Name, effect: api.Destructive, in: &api.EngineStopInput{Replace: "/evil", Restart: true}, want: "agents may restart it"},
		"restart, by an agent":                {by: agent, op: api.EngineStop.Name, effect: api.Destructive, in: &api.EngineStopInput{Restart: true}},
		"PATH, by an agent":                   {by: agent, op: api.EnvSet.Name, effect: api.Write, in: &api.EnvSetInput{Name: "PATH"}, want: "PATH=… command"},
		"LD_PRELOAD, by an agent":             {by: agent, op: api.EnvSet.Name, effect: api.Write, in: &api.EnvSetInput{Name: "LD_PRELOAD"}, want: "only inside a sandbox"},
		"PATH, by an agent in a sandbox":      {by: confined, op: api.EnvSet.Name, effect: api.Write, in: &api.EnvSetInput{Name: "PATH"}},
		"another variable, by an agent":       {by: agent, op: api.EnvSet.Name, effect: api.Write, in: &api.EnvSetInput{Name: "LANG"}},
		"a connection as another machine":     {by: agent, op: "engine.open", effect: api.Write, in: &api.OpenOptions{}, want: "agents may not speak for another machine"},
		"a port, without a sandbox":           {by: agent, op: api.ProcessWait.Name, effect: api.Read, in: &api.ProcessWaitInput{Port: 80}},
		"a port, offline":                     {by: offline, op: api.ProcessWait.Name, effect: api.Read, in: &api.ProcessWaitInput{Port: 80}, want: "wait for port 80: "},
		"a session's port, offline":           {by: offline, op: api.SessionWait.Name, effect: api.Read, in: &api.SessionWaitInput{Port: 80}, want: "wait for port 80: "},
		"no port, offline":                    {by: offline, op: api.ProcessWait.Name, effect: api.Read, in: &api.ProcessWaitInput{Exit: true}},
		"a port, with localhost allowed":      {by: local, op: api.ProcessWait.Name, effect: api.Read, in: &api.ProcessWaitInput{Port: 80}},
		"a port, in a sandbox with a network": {by: caller{owner: "x", bounds: api.Bounds{Sandbox: &api.Sandbox{}}}, op: api.ProcessWait.Name, effect: api.Read, in: &api.ProcessWaitInput{Port: 80}},
		"folders outside":                     {by: caller{owner: "x", bounds: api.Bounds{Roots: []string{"/work"}}}, op: api.FilesRead.Name, effect: api.Read, in: &api.FilesReadInput{FileScope: api.FileScope{Roots: []string{"/etc"}}}, want: "allowed: /work"},
	} {
		t.Run(name, func(t *testing.T) {
			err := g.Check(c.by.makeContext(t), c.op, c.effect, c.in)
			if (err == nil) != (c.want == "") {
				t.Fatalf("answered %v, want %q", err, c.want)
			}
			if err == nil {
				return
			}
			if e := api.AsError(err); e.Code != api.CodeForbidden || !strings.Contains(e.Message+"; "+e.Hint, c.want) {
				t.Errorf("answered %s %v (hint %q), want %q", e.Code, err, e.Hint, c.want)
			}
		})
	}
}

func TestReadOnlyCallerSeesNoSecretVariables(t *testing.T) {
	g := newGuard(t)
	for _, readOnly := range []bool{false, true} {
		ctx := caller{owner: "x", bounds: api.Bounds{ReadOnly: readOnly}}.makeContext(t)
		get, list := &api.EnvInput{Name: "TOKEN", Reveal: true}, &api.EnvListInput{Reveal: true}
		for op, in := range map[string]any{api.EnvGet.Name: get, api.EnvList.Name: list} {
			if err := g.Check(ctx, op, api.Read, in); err != nil {
				t.Errorf("%s: %v", op, err)
			}
		}
		if get.Reveal == readOnly || list.Reveal == readOnly {
			t.Errorf("read-only %v: reveals %v and %v", readOnly, get.Reveal, list.Reveal)
		}
	}
}

func TestGuardNarrowsTheInputOfAgents(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	g := newGuard(t)
	bounds := api.Bounds{Name: "profile", Roots: []string{filepath.Join(home, "work")}, Base: filepath.Join(home, "work")}
	agent := caller{owner: "x", bounds: bounds}.makeContext(t)
	check := func(op string, effect api.Effect, in any) {
		t.Helper()
		if err := g.Check(agent, op, effect, in); err != nil {
			t.Errorf("%s: %v", op, err)
		}
	}
	set, get, unset := &api.EnvSetInput{Name: "A"}, &api.EnvInput{Name: "A"}, &api.EnvInput{Name: "A"}
	check(api.EnvSet.Name, api.Write, set)
	check(api.EnvGet.Name, api.Read, get)
	check(api.EnvUnset.Name, api.Write, unset)
	if !set.Client || get.Client || !unset.Client {
		t.Errorf("variables: set %v, get %v, unset %v", set.Client, get.Client, unset.Client)
	}
	past := &api.HistoryAddInput{Actor: "person"}
	check(api.HistoryAdd.Name, api.Write, past)
	if past.Actor != "agent:claude" {
		t.Errorf("an agent adds history as %s", past.Actor)
	}
	open := &api.OpenOptions{Machine: "build1", AuthSock: "/tmp/agent.sock"}
	check("engine.open", api.Write, open)
	if open.AuthSock != "" || open.By == nil || open.By.Owner != "x" || open.By.Name != "claude" || open.By.Bounds.Name != "profile" || !slices.Equal(open.By.Bounds.Roots, []string{"~/work"}) {
		t.Errorf("opened as %+v", open)
	}
	attach := &api.AttachOptions{Direct: true, Master: true}
	check("session.attach", api.Write, attach)
	rows := &api.FleetListInput{Rows: true}
	check(api.FleetList.Name, api.Read, rows)
	if attach.Direct || attach.Master || rows.Rows {
		t.Errorf("an agent attaches with %+v and lists with %+v", attach, rows)
	}
	read := &api.FilesReadInput{Path: "a"}
	check(api.FilesRead.Name, api.Read, read)
	if read.Base != bounds.Base || !slices.Equal(read.Roots, bounds.Roots) {
		t.Errorf("reads in %+v", read.FileScope)
	}
	own := &api.EnvSetInput{Name: "PATH"}
	if err := g.Check(caller{}.makeContext(t), api.EnvSet.Name, api.Write, own); err != nil || own.Client {
		t.Errorf("the user's variable: %+v, %v", own, err)
	}
}

func TestRootsAreNarrowedToTheSmallerFolder(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"work/deep", "other"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(dir+"/other", dir+"/work/out"), os.Symlink(dir+"/work", dir+"/in")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		asked, roots, want []string // below dir
	}{
		"none asked":               {nil, []string{"/work"}, []string{"/work"}},
		"no limit":                 {[]string{"/other"}, nil, []string{"/other"}},
		"below":                    {[]string{"/work/deep"}, []string{"/work"}, []string{"/work/deep"}},
		"above":                    {[]string{""}, []string{"/work"}, []string{"/work"}},
		"the same":                 {[]string{"/work", "/work"}, []string{"/work"}, []string{"/work"}},
		"one of two":               {[]string{"/other", "/work/deep"}, []string{"/work"}, []string{"/work/deep"}},
		"one above two":            {[]string{""}, []string{"/work", "/other"}, []string{"/other", "/work"}},
		"outside":                  {[]string{"/other"}, []string{"/work"}, nil},
		"a similar name":           {[]string{"/workshop"}, []string{"/work"}, nil},
		"dots":                     {[]string{"/work/../other"}, []string{"/work"}, nil},
		"a link out":               {[]string{"/work/out"}, []string{"/work"}, nil},
		"a link in":                {[]string{"/in/deep"}, []string{"/work"}, []string{"/in/deep"}},
		"something missing":        {[]string{"/work/none"}, []string{"/work"}, []string{"/work/none"}},
		"something missing beside": {[]string{"/none"}, []string{"/work"}, nil},
	} {
		below := func(names []string) (all []string) {
			for _, name := range names {
				all = append(all, dir+name)
			}
			return all
		}
		scope := api.FileScope{Roots: below(c.asked)}
		err := narrowScope(&scope, api.Bounds{Roots: below(c.roots)})
		if (err != nil) != (c.want == nil) || err == nil && !slices.Equal(scope.Roots, below(c.want)) {
			t.Errorf("%s: %q, %v", name, scope.Roots, err)
		}
		if err != nil && !errors.Is(err, api.CodeForbidden) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRolesLimitWhatPeopleOfAFleetMayCall(t *testing.T) {
	g := newGuard(t)
	const read, operate, admin = "read", "operate", "admin"
	for op, c := range map[string]struct {
		effect api.Effect
		in     any
		roles  string // those that may call it
		agents string // of people with these roles
	}{
		api.ProcessList.Name:   {api.Read, &api.ProcessListInput{}, "read operate admin", "read operate admin"},
		api.ProcessLog.Name:    {api.Read, &api.ProcessLogInput{}, "read operate admin", "read operate admin"},
		api.ProcessLogs.Name:   {api.Read, &api.ProcessLogsInput{}, "read operate admin", "read operate admin"},
		api.ProcessStop.Name:   {api.Write, &api.ProcessStopInput{}, "operate admin", "operate admin"},
		api.Exec.Name:          {api.Destructive, &api.ExecInput{}, "operate admin", "operate admin"},
		api.FilesRead.Name:     {api.Read, &api.FilesReadInput{}, "operate admin", "operate admin"},
		api.FilesWrite.Name:    {api.Write, &api.FilesWriteInput{}, "operate admin", "operate admin"},
		api.EnvGet.Name:        {api.Read, &api.EnvInput{}, "operate admin", "operate admin"},
		api.EnvList.Name:       {api.Read, &api.EnvListInput{}, "operate admin", "operate admin"},
		api.EngineStop.Name:    {api.Destructive, &api.EngineStopInput{Restart: true}, "admin", "admin"},
		api.RequestAnswer.Name: {api.Write, &api.RequestAnswerInput{}, "admin", ""},
		api.AuditList.Name:     {api.Read, &api.AuditListInput{}, "admin", ""},
		api.PolicyEnd.Name:     {api.Write, &api.Empty{}, "admin", "read operate admin"},
		"engine.magic":         {api.Read, &api.Empty{}, "", ""},
	} {
		for _, role := range []string{read, operate, admin, "", "root"} {
			origin := &api.Origin{From: "ann", Person: "ann", Role: api.FleetRole(role)}
			of := caller{origin: &api.Origin{From: "ann", Person: "ann", Role: api.FleetRole(role), By: &api.FarAgent{Name: "claude", Owner: "x"}}}
			for who, by := range map[string]struct {
				caller
				roles string
			}{"a person": {caller{origin: origin}, c.roles}, "an agent": {of, c.agents}} {
				err := g.Check(by.makeContext(t), op, c.effect, c.in)
				allowed := role != "" && slices.Contains(strings.Fields(by.roles), role)
				// The rule for agents applies too.
				if allowed != (err == nil) || err != nil && !errors.Is(err, api.CodeForbidden) {
					t.Errorf("%s calls %s as %q: %v", who, op, role, err)
				}
			}
		}
	}
}
