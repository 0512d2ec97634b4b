package machines

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/remote/fleet"
	"tandem/engine/remote/fleet/hub"
	"tandem/engine/remote/fleet/hub/embedded"
	"tandem/engine/remote/hosts/transport"
	"tandem/tests/harness"
	"tandem/tests/wait"
)

// A testFleet is a hub in this process with engines of this host as members.
type testFleet struct {
	*testing.T
	env  []string
	dir  string
	hub  *hub.Hub
	opts hub.Options
}

func newTestFleet(t *testing.T) *testFleet {
	env, dir := harness.Stage(t)
	c := &testFleet{T: t, env: env, dir: dir, opts: hub.Options{Folder: filepath.Join(dir, "hub"), Listen: "127.0.0.1:0", Start: embedded.Start}}
	c.startHub()
	t.Cleanup(func() {
		if c.hub != nil {
			c.hub.Close()
		}
	})
	return c
}

func (c *testFleet) startHub() {
	c.Helper()
	h, err := hub.Open(c.opts)
	if err != nil {
		c.Fatal(err)
	}
	c.hub, c.opts.Listen = h, ""
}

// run runs tandem with the data folder of a member.
func (c *testFleet) run(member string, args ...string) (stdout, stderr string, status int) {
	c.Helper()
	env := append(c.env[:len(c.env):len(c.env)], "TANDEM_DATA_DIR="+filepath.Join(c.dir, member), "XDG_CONFIG_HOME="+filepath.Join(c.dir, member+"-config"))
	return harness.Run(c, env, c.dir, args...)
}

// mustRun runs tandem and fails the test on a non-zero status.
func (c *testFleet) mustRun(member string, args ...string) string {
	c.Helper()
	stdout, stderr, status := c.run(member, args...)
	if status != 0 {
		c.Fatalf("%s: tandem %s: status %d: %s%s", member, strings.Join(args, " "), status, stdout, stderr)
	}
	return stdout
}

// join invites a member and has it join.
func (c *testFleet) join(q hub.InviteRequest) string {
	c.Helper()
	token, err := c.hub.Invite(q, "test")
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { c.run(q.Name, "shutdown", "--all", "--yes") })
	return c.mustRun(q.Name, "join", token)
}

func (c *testFleet) joinMachine(name string, labels ...string) {
	c.Helper()
	c.join(hub.InviteRequest{Kind: fleet.KindMachine, Name: name, Labels: labels})
}

func (c *testFleet) joinPerson(name string, role api.FleetRole) {
	c.Helper()
	c.join(hub.InviteRequest{Kind: fleet.KindPerson, Name: name, Role: role})
}

// listMachines returns the output of `tandem fleet` for a member.
func (c *testFleet) listMachines(member string, args ...string) (all []api.FleetMachine) {
	c.Helper()
	if err := json.Unmarshal([]byte(c.mustRun(member, append([]string{"fleet", "--json"}, args...)...)), &all); err != nil {
		c.Fatal(err)
	}
	return all
}

// awaitMachines waits until ok accepts the machines that a member lists.
func (c *testFleet) awaitMachines(member, what string, ok func([]api.FleetMachine) bool) {
	c.Helper()
	wait.Poll(c, what, func() ([]api.FleetMachine, bool) {
		all := c.listMachines(member)
		return all, ok(all)
	})
}

func TestCommandsWorkOnAFleetMachine(t *testing.T) {
	t.Parallel()
	c := newTestFleet(t)
	c.joinMachine("web-1", "role=web")
	c.joinPerson("ann", api.RoleOperate)
	c.awaitMachines("ann", "the machine to be listed", func(all []api.FleetMachine) bool {
		return len(all) == 1 && all[0].State == api.FleetConnected && all[0].Labels["role"] == "web"
	})
	if out := c.mustRun("ann", "--host", "web-1", "exec", "--", "echo", "hello"); out != "hello\n" {
		t.Errorf("exec on the machine prints %q", out)
	}
	c.mustRun("ann", "--host", "web-1", "start", "--name", "loop", "--", "sh", "-c", "echo begun; exec sleep 1000")
	c.mustRun("ann", "--host", "web-1", "wait", "loop", "--log", "begun")
	c.awaitMachines("ann", "the process to be counted", func(all []api.FleetMachine) bool { return len(all) == 1 && all[0].Processes == 1 })
	c.mustRun("ann", "--host", "web-1", "stop", "loop")
	c.awaitMachines("ann", "the stopped process to disappear from the count", func(all []api.FleetMachine) bool { return len(all) == 1 && all[0].Processes == 0 })
	if out := c.mustRun("web-1", "audit"); !strings.Contains(out, "person:ann") || !strings.Contains(out, "process.start") || !strings.Contains(out, "echo hello") {
		t.Errorf("the machine's audit log does not name ann:\n%s", out)
	}
	if _, stderr, status := c.run("ann", "--host", "web-2", "ps"); status != 1 || !strings.Contains(stderr, "machine web-2: it is offline, or no machine has this name") {
		t.Errorf("on an unknown machine: %d %s", status, stderr)
	}
}

// A fleet machine has no link that the engine keeps, only connections that it opens.
func TestFileIsCopiedToAFleetMachine(t *testing.T) {
	t.Parallel()
	c := newTestFleet(t)
	c.joinMachine("web-1")
	c.joinPerson("ann", api.RoleOperate)
	c.awaitMachines("ann", "the machine to be listed", func(all []api.FleetMachine) bool { return len(all) == 1 })
	from, to := filepath.Join(c.dir, "from"), filepath.Join(c.dir, "to")
	text := harness.MakeLines(5 << 20)
	if err := os.WriteFile(from, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := client.Connect(t.Context(), client.Options{DataDir: filepath.Join(c.dir, "ann"), Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	begun, err := api.FilesTransferBetween.Call(t.Context(), e, api.FilesTransferInput{Kind: api.TransferMove, Items: []api.FileMove{{Path: from, To: "/web-1:" + to}}})
	if err != nil {
		t.Fatal(err)
	}
	job, err := api.FilesJob.Call(t.Context(), e, api.FileJobInput{ID: begun.Job, WaitMS: 60_000})
	if err != nil || job.State != api.JobDone {
		t.Errorf("got %+v, %v", job, err)
	}
	if got, err := os.ReadFile(to); err != nil || string(got) != text {
		t.Errorf("%d bytes of %d arrived: %v", len(got), len(text), err)
	}
}

// The machine itself enforces roles.
func TestMachineEnforcesRoles(t *testing.T) {
	t.Parallel()
	c := newTestFleet(t)
	c.joinMachine("box")
	c.joinPerson("reader", api.RoleRead)
	c.joinPerson("worker", api.RoleOperate)
	c.joinPerson("chief", api.RoleAdmin)
	c.mustRun("box", "start", "--name", "loop", "--", "sleep", "1000")
	secret := filepath.Join(c.dir, "box", "fleet", "machine.creds")
	type try struct {
		args    []string
		allowed string // members whose role allows the command
	}
	for _, a := range []try{
		{[]string{"ps"}, "reader worker chief"},
		{[]string{"logs", "loop"}, "reader worker chief"},
		{[]string{"history"}, "reader worker chief"},
		{[]string{"info"}, "reader worker chief"},
		{[]string{"exec", "--", "true"}, "worker chief"},
		{[]string{"start", "--", "true"}, "worker chief"},
		{[]string{"signal", "loop", "CONT"}, "worker chief"},
		{[]string{"env", "list"}, "worker chief"},
		{[]string{"env", "set", "A=b"}, "worker chief"},
		{[]string{"requests"}, "chief"},
		{[]string{"audit"}, "chief"},
	} {
		for _, who := range []string{"reader", "worker", "chief"} {
			_, stderr, status := c.run(who, append([]string{"--host", "box"}, a.args...)...)
			may, refused := strings.Contains(a.allowed, who), strings.Contains(stderr, who+" has the role ")
			if may == refused || may != (status == 0) {
				t.Errorf("%s: %v: status %d: %s", who, a.args, status, stderr)
			}
		}
	}
	if text, err := os.ReadFile(secret); err != nil || len(text) == 0 {
		t.Error(err)
	}
	if info, err := os.Stat(secret); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the machine's key has the mode %v, %v", info.Mode(), err)
	}
	if out := c.mustRun("box", "audit"); !strings.Contains(out, "person:reader") || !strings.Contains(out, "denied") {
		t.Errorf("denied calls are not in the audit log:\n%s", out)
	}
}

func TestMachineThatLeftCannotBeReached(t *testing.T) {
	t.Parallel()
	c := newTestFleet(t)
	c.joinMachine("box")
	c.joinPerson("ann", api.RoleRead)
	c.mustRun("ann", "--host", "box", "ps")
	if out := c.mustRun("box", "leave"); !strings.Contains(out, "left the fleet") {
		t.Errorf("leave prints %q", out)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "box", "fleet", "machine.creds")); !os.IsNotExist(err) {
		t.Errorf("the key of the machine still exists: %v", err)
	}
	c.awaitMachines("ann", "the machine to go offline", func(all []api.FleetMachine) bool { return len(all) == 1 && all[0].State == api.FleetAway })
	if _, stderr, status := c.run("ann", "--host", "box", "ps"); status != 1 || !strings.Contains(stderr, "it is offline, last seen") {
		t.Errorf("on the machine that left: %d %s", status, stderr)
	}
	if _, stderr, status := c.run("box", "leave"); status != 1 || !strings.Contains(stderr, "belongs to no fleet") {
		t.Errorf("leaving again: %d %s", status, stderr)
	}
}

func TestRevokedPersonReachesNothing(t *testing.T) {
	t.Parallel()
	c := newTestFleet(t)
	c.joinMachine("box")
	c.joinPerson("ann", api.RoleAdmin)
	if out := c.mustRun("ann", "hub", "people"); !strings.Contains(out, "box") || !strings.Contains(out, "ann") {
		t.Errorf("people = %s", out)
	}
	c.awaitMachines("ann", "the machine", func(all []api.FleetMachine) bool { return len(all) == 1 })
	if _, err := c.hub.Revoke("ann"); err != nil {
		t.Fatal(err)
	}
	wait.Poll(t, "the revoked user to be refused", func() (string, bool) {
		_, stderr, status := c.run("ann", "--host", "box", "ps")
		return stderr, status == 1 && strings.Contains(stderr, "revoked")
	})
	if stdout, stderr, status := c.run("ann", "fleet"); status != 0 || !strings.Contains(stdout, "box") || !strings.Contains(stderr, "the hub cannot be reached") || !strings.Contains(stderr, "revoked") {
		t.Errorf("a revoked user lists the fleet: %d %s%s", status, stdout, stderr)
	}
	c.joinMachine("box-2") // other members are not affected
}

func TestCommandRunsOnAllMachinesOfAPatternOrLabel(t *testing.T) {
	t.Parallel()
	c := newTestFleet(t)
	c.joinMachine("web-1", "role=web", "zone=a")
	c.joinMachine("web-2", "role=web", "zone=b")
	c.joinMachine("db-1", "role=db", "zone=b")
	c.joinPerson("ann", api.RoleOperate)
	c.awaitMachines("ann", "three machines", func(all []api.FleetMachine) bool { return len(all) == 3 })
	stdout, stderr, status := c.run("ann", "exec", "--host", "web-*", "--", "echo", "hello")
	if status != 0 || stdout != "web-1  hello\nweb-2  hello\n" && stdout != "web-2  hello\nweb-1  hello\n" {
		t.Errorf("by a pattern: %d %q %s", status, stdout, stderr)
	}
	if !strings.Contains(stderr, "2 × ok") || !strings.Contains(stderr, "web-1, web-2") {
		t.Errorf("the summary is %q", stderr)
	}
	if stdout, _, status := c.run("ann", "exec", "--label", "zone=b,role!=db", "--", "echo", "hello"); status != 0 || stdout != "web-2  hello\n" {
		t.Errorf("by labels: %d %q", status, stdout)
	}
	stdout, stderr, status = c.run("ann", "exec", "--label", "role=*", "--", "sh", "-c", `test "$(hostname)" = x && exit 3; exit 4`)
	if status != 3 || !strings.Contains(stderr, "3 × exit 4") {
		t.Errorf("with a failing command: %d %q %s", status, stdout, stderr)
	}
	c.mustRun("db-1", "leave")
	c.awaitMachines("ann", "the machine to go offline", func(all []api.FleetMachine) bool {
		return slices.ContainsFunc(all, func(m api.FleetMachine) bool { return m.Name == "db-1" && m.State == api.FleetAway })
	})
	stdout, stderr, status = c.run("ann", "exec", "--label", "zone=*", "--json", "--", "echo", "hello")
	var away, ok int
	for line := range strings.Lines(stdout) {
		var v struct{ Host, Error, Stdout string }
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if v.Error != "" {
			away++
		} else if v.Stdout == "hello\n" {
			ok++
		}
	}
	if status != 3 || away != 1 || ok != 2 {
		t.Errorf("with one offline: status %d, %d offline, %d ok: %s%s", status, away, ok, stdout, stderr)
	}
	if _, stderr, status := c.run("ann", "exec", "--host", "none-*", "--", "true"); status != 125 || !strings.Contains(stderr, "none has these names") {
		t.Errorf("with no match: %d %s", status, stderr)
	}
	if out := c.mustRun("ann", "ps", "-a", "--label", "role=web", "--usage"); !strings.Contains(out, "HOST") || !strings.Contains(out, "web-2") {
		t.Errorf("ps = %s", out)
	}
}

func TestStartAnyChoosesAMachineWithTheLabel(t *testing.T) {
	t.Parallel()
	c := newTestFleet(t)
	c.joinMachine("w-1", "role=worker")
	c.joinMachine("w-2", "role=worker")
	c.joinMachine("db-1", "role=db")
	c.joinPerson("ann", api.RoleOperate)
	stdout, stderr, status := c.run("ann", "start", "--any", "role=worker", "--name", "job", "--", "sleep", "1000")
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	on := strings.TrimSpace(strings.TrimPrefix(stderr, "on "))
	if !strings.HasPrefix(on, "w-") || !strings.Contains(c.mustRun("ann", "--host", on, "ps", "--json"), strings.TrimSpace(stdout)) {
		t.Errorf("stderr %q, id %q", stderr, stdout)
	}
	if _, stderr, status := c.run("ann", "start", "--any", "role=none", "--", "true"); status != 1 || !strings.Contains(stderr, "none is connected") {
		t.Errorf("with an unused label: %d %s", status, stderr)
	}
}

// joinExtras adds count machines without engines, more than the dashboard connects to. Each
// reports one running process.
func (c *testFleet) joinExtras(count int) []*fleet.Machine {
	c.Helper()
	var all []*fleet.Machine
	for i := range count {
		name := fmt.Sprintf("extra-%02d", i)
		token, err := c.hub.Invite(hub.InviteRequest{Kind: fleet.KindMachine, Name: name, Labels: []string{"role=extra"}}, "test")
		if err != nil {
			c.Fatal(err)
		}
		invitation, err := fleet.ParseToken(token)
		if err != nil {
			c.Fatal(err)
		}
		joined, err := fleet.Join(invitation)
		if err != nil {
			c.Fatal(err)
		}
		authority := filepath.Join(c.dir, "authority.pem")
		if err := os.WriteFile(authority, joined.Authority, 0o600); err != nil {
			c.Fatal(err)
		}
		creds, err := fleet.ParseCredentials(joined.Credentials)
		if err != nil {
			c.Fatal(err)
		}
		m := &fleet.Machine{Hello: transport.Hello{Version: "1.2.3", Protocol: api.Protocol, OldestProtocol: api.OldestProtocol}, Log: slog.New(slog.DiscardHandler),
			Accept: func(net.Conn, fleet.Visitor) error {
				return api.Errorf(api.CodeUnavailable, "this machine serves no calls")
			},
			Events: func(ctx context.Context, send func(api.Event) error) error {
				err := send(api.Event{Type: api.EventSnapshot, Processes: []api.Process{{ID: "a", Name: "worker", Kind: api.KindProcess, State: api.StateRunning, Command: "work"}}})
				<-ctx.Done()
				return err
			}}
		if err := m.Start(fleet.Config{Hub: joined.Hub, Authority: authority}, creds); err != nil {
			c.Fatal(err)
		}
		c.Cleanup(m.Close)
		all = append(all, m)
	}
	return all
}

// The machines here answer no calls, so ps and ls on many machines can show only their reports to
// the hub.
func TestFleetProcessesAreListedWithoutQueryingMachines(t *testing.T) {
	t.Parallel()
	c := newTestFleet(t)
	c.joinMachine("web-1", "role=web")
	c.joinPerson("ann", api.RoleOperate)
	extras := c.joinExtras(3)
	c.mustRun("web-1", "start", "--name", "loop", "--", "sleep", "1000")
	all := func(args ...string) (rows []map[string]any, status int) {
		stdout, stderr, status := c.run("ann", append(args, "--json")...)
		for line := range strings.Lines(stdout) {
			var row map[string]any
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatalf("%q: %v; %s", line, err, stderr)
			}
			rows = append(rows, row)
		}
		return rows, status
	}
	for _, verb := range []string{"ps", "ls"} {
		wait.Poll(t, verb, func() ([]map[string]any, bool) {
			rows, status := all(verb, "--host", "*")
			return rows, status == 0 && len(rows) == 4
		})
		if out := c.mustRun("ann", verb, "--label", "role=extra"); strings.Count(out, "worker") != 3 || !strings.HasPrefix(out, "HOST") {
			t.Errorf("%s = %s", verb, out)
		}
	}
	extras[0].Close()
	wait.Poll(t, "the machine to go offline", func() ([]map[string]any, bool) {
		rows, status := all("ps", "--host", "extra-*")
		if status != 3 || len(rows) != 3 {
			return rows, false
		}
		why, _ := rows[0]["error"].(string)
		return rows, strings.Contains(why, "it is offline, last seen")
	})
	if _, stderr, status := c.run("ann", "ps", "--label", "role=extra", "--usage"); status != 3 || strings.Count(stderr, "serves no calls") != 2 || !strings.Contains(stderr, "it is offline") {
		t.Errorf("with --usage they are not queried: %d %s", status, stderr)
	}
	if rows, _ := all("ps", "--host", "web-*", "--usage"); len(rows) != 1 || rows[0]["rss_bytes"] == nil {
		t.Errorf("with --usage: %v", rows)
	}
}

// awaitMatch waits until the screen matches a regular expression.
func awaitMatch(t *testing.T, screen *harness.Terminal, expr string) {
	t.Helper()
	re := regexp.MustCompile(expr)
	if err := screen.WaitFor(re.MatchString); err != nil {
		t.Fatalf("waiting for %s: %v", expr, err)
	}
}

// A machine of a large fleet, once it is chosen, is shown like any other: its processes are found,
// read and stopped, its sessions opened and its history searched, until it is hidden.
func TestDashboardShowsAMachineOfALargeFleet(t *testing.T) {
	t.Parallel()
	c := newTestFleet(t)
	c.joinMachine("web-1", "role=web")
	c.joinPerson("ann", api.RoleOperate)
	extras := c.joinExtras(fleet.MaxFew)
	c.mustRun("web-1", "start", "--name", "printer", "--", "sh", "-c", "echo printed-there; exec sleep 1000")
	c.mustRun("web-1", "new", "--name", "far", "--", "sh", "-c", "echo far-shown; exec cat")
	env := append(slices.Clone(c.env), "TANDEM_DATA_DIR="+filepath.Join(c.dir, "ann"), "XDG_CONFIG_HOME="+filepath.Join(c.dir, "ann-config"))
	screen, err := harness.StartTerminal(140, 40, env, c.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(screen.Close)
	choose := func() {
		t.Helper()
		harness.Press(t, screen, "ctrl+b", "M")
		harness.Await(t, screen, "The fleet…")
		harness.Press(t, screen, ":fleet", "enter")
		harness.Await(t, screen, "33 of 33 machines connected")
		harness.Press(t, screen, ":web-1", "enter")
	}
	harness.Await(t, screen, "33 machines")
	choose()
	harness.Press(t, screen, ":Show", "enter")
	harness.Await(t, screen, "connecting to web-1")
	harness.Press(t, screen, "alt+2")
	harness.Press(t, screen, "/", ":host:web", "enter")
	awaitMatch(t, screen, `host:web +\d+/2 of \d`)
	awaitMatch(t, screen, `printer +web-1 +running`)
	harness.Press(t, screen, "g")
	harness.Press(t, screen, "/", "ctrl+u", ":printer", "enter")
	harness.Await(t, screen, "printed-there")
	harness.Press(t, screen, "x")
	harness.Await(t, screen, "Stop web-1/printer")
	harness.Press(t, screen, "y")
	awaitMatch(t, screen, `printer +web-1 +stopped`)
	harness.Press(t, screen, "/", "ctrl+u", ":far", "enter")
	awaitMatch(t, screen, `▌  ● . far +web-1 +running`)
	harness.Press(t, screen, "enter")
	harness.Await(t, screen, "─ web-1/far")
	harness.Await(t, screen, "far-shown")
	harness.Press(t, screen, "alt+3")
	awaitMatch(t, screen, `web-1 +echo printed-there`)
	harness.Press(t, screen, "/", ":host:web", "enter")
	awaitMatch(t, screen, `web-1 +echo printed-there`)
	choose()
	harness.Press(t, screen, ":Hide", "enter")
	harness.Await(t, screen, "web-1 is no longer shown")
	harness.Press(t, screen, "alt+2", "esc")
	if err := screen.WaitFor(func(s string) bool { return !strings.Contains(s, "web-1 ") }); err != nil {
		t.Errorf("a hidden machine's processes are listed: %v", err)
	}
	extras[0].Close()
	harness.Await(t, screen, "33 machines, 1 offline")
	harness.Press(t, screen, "ctrl+b", "M")
	harness.Await(t, screen, "The fleet…")
	harness.Press(t, screen, ":fleet", "enter")
	harness.Await(t, screen, "32 of 33 machines connected")
	awaitMatch(t, screen, `extra-00 .*away for`)
}
