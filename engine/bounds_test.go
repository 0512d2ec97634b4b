package engine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/sockets"
	"tandem/engine/system/keeper"
	"tandem/engine/system/sandbox"
)

// A confinedAgent is a machine with an agent held to bounds: the agent may write in work, must not
// read work/secret, and has no network.
type confinedAgent struct {
	*memoryMachine
	work   string // contains secret/key, frozen/file and file
	bounds api.Bounds

	userSession   string // id of the user's session
	ownSession    string // id of the agent's own session
	lockedSession string // id of an agent's session with a locked keyboard
	inputProcess  string // id of the user's process reading standard input

	remote bool // it comes from another machine, and its requests do not mention it
}

// agentsName is the agent's name.
const agentsName = "agent:confined/1"

func newConfinedAgent(t *testing.T) *confinedAgent {
	p := &confinedAgent{memoryMachine: startInMemory(t), work: t.TempDir()}
	for name, text := range map[string]string{"secret/key": "hunter2 in json: \"x\"", "frozen/file": "as it was", "file": "{}"} {
		path := filepath.Join(p.work, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p.bounds = api.Bounds{Name: "confined", Base: p.work, Sandbox: &api.Sandbox{
		Filesystem: api.SandboxFilesystem{DenyRead: []string{p.in("secret")}, AllowWrite: []string{p.work}, DenyWrite: []string{p.in("frozen")}},
		Network:    &api.SandboxNetwork{},
	}}
	p.userSession = p.start("sh").ID
	p.inputProcess = call(p.machine, api.ProcessStart, api.ProcessStartInput{Command: []string{"cat"}, Stdin: true}).ID
	p.ownSession, p.lockedSession = p.agentSession(), p.agentSession()
	call(p.machine, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.lockedSession, Take: true})
	return p
}

// testLocalAndRemote runs a test twice: with an agent on this machine, and with one on another
// machine, whose bounds are known only from its connection.
func testLocalAndRemote(t *testing.T, test func(t *testing.T, p *confinedAgent)) {
	for name, far := range map[string]bool{"here": false, "from elsewhere": true} {
		t.Run(name, func(t *testing.T) {
			p := newConfinedAgent(t)
			p.remote = far
			test(t, p)
		})
	}
}

func (p *confinedAgent) in(name string) string { return filepath.Join(p.work, name) }

func (p *confinedAgent) agentSession() string {
	p.Helper()
	var s api.Process
	if status, answer := p.post(p.bounds, "session.start", `{"command":["sh"]}`); status != 200 || json.Unmarshal([]byte(answer), &s) != nil {
		p.Fatalf("start a session: %d %s", status, answer)
	}
	return s.ID
}

// post calls an operation as the agent, within bounds. It replaces the words $WORK, $THEIRS, $OWN,
// $TAKEN and $PIPED in the body with the fields of p.
func (p *confinedAgent) post(b api.Bounds, name, body string) (status int, answer string) {
	p.Helper()
	body = strings.NewReplacer("$WORK", p.work, "$THEIRS", p.userSession, "$OWN", p.ownSession, "$TAKEN", p.lockedSession, "$PIPED", p.inputProcess, "$DATA", p.dir).Replace(body)
	socket, _ := sockets.Paths(p.dir)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		if p.remote {
			conn, _, err := client.Open(ctx, p.options(), api.OpenOptions{Origin: "me@laptop", By: p.remoteAgent(b)})
			return conn, err
		}
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	req, err := http.NewRequestWithContext(p.Context(), http.MethodPost, "http://tandem/v1/"+name, strings.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	if !p.remote {
		req.Header.Set("Tandem-Client", agentsName)
		req.Header.Set("Tandem-Owner", "confined-1")
		req.Header.Set(api.BoundsHeader, b.Header())
	}
	resp, err := client.Do(req)
	if err != nil {
		p.Fatalf("%s %s: %v", name, body, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		p.Fatalf("%s %s: %v", name, body, err)
	}
	return resp.StatusCode, string(bytes.TrimSpace(text))
}

// remoteAgent returns the agent as described by another machine.
func (p *confinedAgent) remoteAgent(b api.Bounds) *api.FarAgent {
	return &api.FarAgent{Name: agentsName, Owner: "confined-1", Bounds: b.AbbreviateHome("/elsewhere")}
}

// wantRejected calls an operation, and fails unless the call is rejected with a message that
// contains says.
func (p *confinedAgent) wantRejected(b api.Bounds, name, body, says string) {
	p.Helper()
	if status, answer := p.post(b, name, body); status != http.StatusForbidden && status != http.StatusLocked && status != http.StatusConflict ||
		!strings.Contains(answer, says) {
		p.Errorf("%s %s: want it refused with %q, got %d %.300s", name, body, says, status, answer)
	}
}

// attempts are calls of every operation in the table by an agent trying to leave its bounds: to
// read or change something denied to it.
var attempts = map[string]struct {
	in     string   // valid input; the operation's treatment alone rejects it
	reads  []string // inputs that would read work/secret
	writes []string // inputs that would change something outside work, or in work/frozen
}{
	"engine.peer": {in: `{"client":"127.0.0.1:1","server":"127.0.0.1:2"}`}, "engine.info": {}, "engine.operations": {}, "machine.list": {}, "machine.connect": {in: `{"name":"x"}`}, "fleet.status": {}, "fleet.list": {}, "fleet.any": {in: `{"label":"a=b"}`}, "engine.stop": {in: `{"all":true}`},
	"session.start": {in: `{"command":["sh","-c","CANARY"]}`, writes: []string{
		`{"command":["sh","-c","CANARY"]}`, `{"command":["sh","-c","CANARY"],"sandbox":{"filesystem":{"allowWrite":["/"]}}}`}},
	"session.list": {}, "session.get": {in: `{"id":"$OWN"}`},
	"session.write":  {in: `{"id":"$TAKEN","text":"x"}`, writes: []string{`{"id":"$THEIRS","text":"CANARY\r"}`, `{"id":"$THEIRS","paste":"CANARY\r"}`, `{"id":"$THEIRS","keys":["enter"]}`}},
	"session.insert": {in: `{"id":"$TAKEN","text":"x"}`, writes: []string{`{"id":"$THEIRS","text":"x\nCANARY\n","lines":true}`}},
	"session.read":   {in: `{"id":"$OWN"}`}, "session.screen": {in: `{"id":"$OWN"}`},
	"session.resize": {in: `{"id":"$TAKEN","cols":90,"rows":30}`}, "session.rename": {in: `{"id":"$TAKEN","name":"other"}`},
	"session.kill": {in: `{"id":"$TAKEN"}`}, "session.find": {in: `{"id":"$OWN","pattern":"x"}`}, "session.text": {in: `{"id":"$OWN"}`},
	"session.record":  {in: `{"id":"$OWN"}`},
	"session.restore": {in: `{"all":true}`}, "session.dismiss": {in: `{"all":true}`},
	"session.exec":       {in: `{"id":"$TAKEN","command":"true"}`, writes: []string{`{"id":"$THEIRS","command":"CANARY"}`}},
	"session.foreground": {in: `{"id":"$OWN"}`},
	"agent.report":       {in: `{"id":"$TAKEN","state":"done"}`}, "agent.explain": {in: `{"id":"$OWN"}`},
	"agent.seen":   {in: `{"id":"$OWN","since":"2026-01-02T15:04:05Z"}`},
	"agent.wait":   {in: `{"ids":["$OWN"],"states":["done"],"timeout_ms":100}`},
	"session.wait": {in: `{"id":"$OWN","idle_ms":1,"timeout_ms":1000}`}, "session.keyboard": {in: `{"id":"$THEIRS","open":true}`},
	"process.start": {in: `{"command":["true"]}`, writes: []string{
		`{"command":["sh","-c","CANARY"]}`, `{"command":["sh","-c","CANARY"],"tty":true}`,
		`{"command":["sleep","9"],"ready":{"command":["sh","-c","CANARY; exit 1"],"timeout_ms":300}}`}},
	"process.list": {}, "process.get": {in: `{"id":"$OWN"}`},
	"process.stop": {in: `{"id":"$TAKEN"}`}, "process.stop_all": {in: `{"sessions":true}`}, "process.restart": {in: `{"id":"$TAKEN"}`},
	"process.signal": {in: `{"id":"$TAKEN","signal":"TERM"}`}, "process.log": {in: `{"id":"$OWN"}`}, "process.logs": {in: `{"ids":["$OWN"]}`},
	"process.wait": {in: `{"id":"$OWN","idle_ms":1,"timeout_ms":1000}`}, "process.update": {in: `{"id":"$TAKEN","name":"other"}`},
	"process.remove": {in: `{"id":"$TAKEN"}`}, "process.write": {writes: []string{`{"id":"$PIPED","text":"CANARY\n"}`}},
	"exec": {in: `{"command":["true"]}`,
		reads: []string{`{"command":["cat","$WORK/secret/key"]}`, `{"command":["cat","$WORK/secret/key"],"sandbox":{"filesystem":{}}}`},
		writes: []string{`{"command":["sh","-c","CANARY"]}`, `{"command":["sh","-c","CANARY"],"sandbox":{"filesystem":{"allowWrite":["/"]}}}`,
			`{"command":["sh","-c","CANARY"],"sandbox":{"filesystem":{"allowWrite":["$WORK/link"]}}}`}},

	"output.search": {in: `{"text":"x"}`},
	"scrub.find":    {in: `{"match":"x","all":true}`}, "scrub.run": {in: `{"match":"x","all":true}`},

	"history.search": {}, "history.add": {in: `{"command":"x","actor":"person"}`}, "history.remove": {in: `{"command":"x"}`}, "history.clear": {},
	"history.save":    {in: `{"path":"$WORK/history"}`, writes: []string{`{"path":"OUTSIDE"}`, `{"path":"$WORK/frozen/new"}`, `{"path":"$WORK/frozen/file","overwrite":true}`}},
	"history.load":    {in: `{"path":"$WORK/file"}`, reads: []string{`{"path":"$WORK/secret/key"}`, `{"path":"$WORK/secret/key","recent":true}`}},
	"history.loading": {}, "history.stats": {}, "commands.list": {}, "commands.add": {in: `{"commands":["x"]}`}, "commands.replace": {in: `{"commands":["x"]}`},

	"files.read":         {in: `{"path":"$WORK/file"}`, reads: []string{`{"path":"$WORK/secret/key"}`, `{"path":"$WORK/secret/key","bytes":true}`, `{"path":"$WORK/tokey"}`}},
	"files.read_json":    {in: `{"path":"$WORK/file"}`, reads: []string{`{"path":"$WORK/secret/key"}`}},
	"files.write":        {in: `{"path":"$WORK/new","text":"x"}`, writes: []string{`{"path":"OUTSIDE","text":"x"}`, `{"path":"$WORK/frozen/file","text":"x"}`, `{"path":"$WORK/frozen/file","text":"x","append":true}`, `{"path":"$WORK/link/new","text":"x"}`}},
	"files.edit":         {in: `{"path":"$WORK/file","edits":[{"search":"{}","replace":"{} "}]}`, writes: []string{`{"path":"$WORK/frozen/file","edits":[{"search":"as","replace":"is"}]}`}},
	"files.write_output": {in: `{"name":"x","content":"x"}`, writes: []string{`{"name":"x","content":"x"}`}},
	"files.list":         {in: `{"path":"$WORK"}`, reads: []string{`{"path":"$WORK/secret"}`}}, "files.stat": {in: `{"path":"$WORK/file"}`},
	"files.set":    {in: `{"path":"$WORK/link","target":"nowhere"}`, writes: []string{`{"path":"OUTSIDE","mode":"0777"}`, `{"path":"$WORK/frozen/new","target":"nowhere"}`}},
	"files.mkdir":  {in: `{"path":"$WORK/folder"}`, writes: []string{`{"path":"OUTSIDE"}`, `{"path":"$WORK/frozen/new"}`}},
	"files.delete": {in: `{"path":"$WORK/nothing"}`, writes: []string{`{"path":"$WORK/frozen/file"}`, `{"path":"$WORK/frozen","recursive":true}`}},
	"files.move":   {in: `{"path":"$WORK/nothing","to":"$WORK/b"}`, writes: []string{`{"path":"$WORK/frozen/file","to":"$WORK/b"}`, `{"path":"$WORK/file","to":"OUTSIDE"}`}, reads: []string{`{"path":"$WORK/secret","to":"$WORK/open"}`}},
	"files.copy":   {in: `{"path":"$WORK/nothing","to":"$WORK/b"}`, writes: []string{`{"path":"$WORK/file","to":"OUTSIDE"}`}, reads: []string{`{"path":"$WORK/secret/key","to":"$WORK/open"}`, `{"path":"$WORK/secret","to":"$WORK/open"}`}},
	"files.find":   {in: `{"pattern":"*","path":"$WORK"}`, reads: []string{`{"pattern":"*","path":"$WORK/secret"}`}},
	"files.grep":   {in: `{"pattern":"hunter","path":"$WORK"}`, reads: []string{`{"pattern":"hunter","path":"$WORK"}`, `{"pattern":"hunter","path":"$WORK/secret/key"}`}},
	"files.transfer": {in: `{"kind":"copy","items":[{"path":"$WORK/nothing","to":"$WORK/b"}]}`,
		reads: []string{`{"kind":"copy","items":[{"path":"$WORK/secret/key","to":"$WORK/open"}]}`, `{"kind":"move","items":[{"path":"$WORK/secret","to":"$WORK/open"}]}`},
		writes: []string{`{"kind":"copy","items":[{"path":"$WORK/file","to":"OUTSIDE"}]}`, `{"kind":"trash","items":[{"path":"$WORK/frozen/file"}]}`,
			`{"kind":"delete","items":[{"path":"$WORK/frozen/file"}]}`}},
	"files.transfer_between": {in: `{"kind":"copy","items":[{"path":"$WORK/file","to":"/box:/tmp/file"}]}`,
		reads: []string{`{"kind":"copy","items":[{"path":"$WORK/secret/key","to":"$WORK/open"}]}`}, writes: []string{`{"kind":"copy","items":[{"path":"$WORK/file","to":"OUTSIDE"}]}`}},
	"files.job": {in: `{"id":"1"}`}, "files.cancel": {in: `{"id":"1"}`},
	"files.restore": {in: `{"items":[]}`, writes: []string{`{"items":[{"path":"$WORK/file","to":"OUTSIDE"}]}`}},
	"files.trashed": {},
	"files.watch":   {in: `{"path":"$WORK","wait_ms":1}`}, "files.git": {in: `{"path":"$WORK"}`},

	"policy.check": {in: `{"operations":["exec"]}`}, "policy.end": {}, "request.list": {}, "request.answer": {in: `{"id":"x","allow":true}`},
	"request.undo": {in: `{"id":"x"}`},
	"audit.list":   {},
	"env.get":      {in: `{"name":"PATH"}`}, "env.set": {in: `{"name":"MINE","value":"x"}`}, "env.unset": {in: `{"name":"MINE"}`}, "env.list": {},
	"layout.get": {}, "layout.change": {in: `{"changes":[{"do":"close","id":"x"}]}`}, "layout.put": {in: `{"name":"x","layout":{}}`}, "layout.remove": {in: `{"name":"x"}`},
	"worktree.add": {in: `{"cwd":"/"}`}, "worktree.list": {in: `{"cwd":"/"}`}, "worktree.remove": {in: `{"path":"/"}`},
}

// A treatment is how an operation keeps an agent within its bounds.
type treatment string

const (
	anybodys    treatment = "tells or changes nothing that an agent may not"
	personOnly  treatment = "agents may not"
	bookkeeping treatment = "the agents' server does it for the user"
	running     treatment = "starts a program"
	reaching    treatment = "works on files"
	typing      treatment = "types"
	changing    treatment = "changes or ends a session or process"
	ownEnv      treatment = "changes variables"
)

// treatments repeats the treatment of every operation, independently of the engine's own rules, so
// that a change of the rules must be repeated here.
var treatments = byOperation(map[treatment][]string{
	anybodys: {
		"engine.info", "engine.operations", "machine.list", "fleet.status", "fleet.list", "fleet.any", "engine.open", "engine.stop", "session.list", "session.get", "session.read", "session.screen", "session.find", "session.text", "session.record",
		"session.wait", "session.foreground", "agent.explain", "agent.wait", "process.list", "process.get", "process.log", "process.logs", "process.wait", "history.search", "history.stats", "commands.list", "commands.add",
		"commands.replace", "files.job", "files.cancel", "env.get", "env.list", "layout.get", "events.watch",
		"output.search", // leaves out what the agent may not read
	},
	personOnly: {
		"session.keyboard", "session.restore", "session.dismiss", "agent.seen", "history.remove", "history.clear", "history.loading", "audit.list", "request.list", "request.answer", "request.undo", "layout.change", "layout.put",
		"layout.remove", "files.transfer_between", "files.trashed", "engine.peer", "machine.connect", "worktree.add", "worktree.list", "worktree.remove", "scrub.find", "scrub.run",
	},
	bookkeeping: {
		"policy.check", "policy.end",
	},
	running: {
		"session.start", "process.start", "exec", "history.add",
	},
	reaching: {
		"history.save", "history.load", "files.read", "files.read_json", "files.write", "files.edit", "files.write_output", "files.list", "files.stat",
		"files.mkdir", "files.set", "files.delete", "files.move", "files.copy", "files.find", "files.grep", "files.transfer", "files.restore", "files.watch",
		"files.git",
	},
	typing: {
		"session.write", "session.insert", "session.exec", "process.write", "session.attach",
	},
	changing: {
		"session.resize", "session.rename", "session.kill", "agent.report", "process.stop", "process.stop_all", "process.restart", "process.signal", "process.update",
		"process.remove",
	},
	ownEnv: {
		"env.set", "env.unset",
	},
})

func byOperation(operations map[treatment][]string) map[string]treatment {
	all := map[string]treatment{}
	for how, names := range operations {
		for _, name := range names {
			all[name] = how
		}
	}
	return all
}

func TestEveryOperationHasABoundsTest(t *testing.T) {
	t.Parallel()
	var names []string
	for _, e := range api.Operations() {
		names = append(names, e.Name)
		if _, ok := attempts[e.Name]; !ok {
			t.Errorf("%s: no way round the bounds has been tried", e.Name)
		}
	}
	for _, name := range append(names, "events.watch", "session.attach", "engine.open") {
		if treatments[name] == "" {
			t.Errorf("%s has no rule for what an agent may do", name)
		}
	}
	if len(attempts) != len(names) || len(treatments) != len(names)+3 {
		t.Errorf("%d operations, of which %d are tried and %d treated: which are no operations?", len(names), len(attempts), len(treatments)-3)
	}
}

func TestReadOnlyAgentChangesNothing(t *testing.T) {
	t.Parallel()
	testLocalAndRemote(t, checkReadOnlyAgent)
}

func checkReadOnlyAgent(t *testing.T, p *confinedAgent) {
	b := p.bounds
	b.ReadOnly = true
	for _, e := range api.Operations() {
		switch how := treatments[e.Name]; {
		case how == personOnly || how == bookkeeping:
		case e.Effect != api.Read:
			p.wantRejected(b, e.Name, attempts[e.Name].in, "may only read")
		default:
			if status, answer := p.post(b, e.Name, attempts[e.Name].in); status == http.StatusForbidden {
				t.Errorf("%s: %d %s", e.Name, status, answer)
			}
		}
	}
}

func TestOperationsForTheUserRejectAgents(t *testing.T) {
	t.Parallel()
	testLocalAndRemote(t, checkUserOperations)
}

func checkUserOperations(t *testing.T, p *confinedAgent) {
	for name, how := range treatments {
		if how == personOnly {
			p.wantRejected(p.bounds, name, attempts[name].in, "only the user may")
		}
	}
	p.wantRejected(p.bounds, "engine.stop", `{"all":true}`, "only the user can")
	p.wantRejected(p.bounds, "engine.stop", `{}`, "only the user can")
	p.wantRejected(p.bounds, "engine.stop", `{"replace":"/bin/true"}`, "only the user can")
}

func TestOperationsStayInAgentSandbox(t *testing.T) {
	testLocalAndRemote(t, checkSandbox)
}

func checkSandbox(t *testing.T, p *confinedAgent) {
	outside := t.TempDir()
	for link, target := range map[string]string{"link": outside, "tokey": p.in("secret/key")} {
		if err := os.Symlink(target, p.in(link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", outside)
	p.keeper.program = func(c *memoryChild) {
		p.checkSpec(c.spec)
		c.exit(exitCode(0))
	}
	canary := filepath.Join(outside, "canary")
	fill := strings.NewReplacer("CANARY", "echo x > "+canary+"; echo x > "+p.in("frozen/canary"), "OUTSIDE", filepath.Join(outside, "new"))
	for _, e := range api.Operations() {
		way := attempts[e.Name]
		for _, body := range slices.Concat(way.writes, way.reads) {
			status, answer := p.post(p.bounds, e.Name, fill.Replace(body))
			p.waitForEffects(status, answer)
			if strings.Contains(answer, "hunter2") {
				t.Errorf("%s %s reads the secret: %.300s", e.Name, body, answer)
			}
			p.checkUnchanged(e.Name+" "+body, outside)
		}
	}
}

// checkSpec fails if the child would run without the sandbox of the agent that started it, or with
// a wider one.
func (p *confinedAgent) checkSpec(s keeper.Spec) {
	p.Helper()
	profile := filepath.Join(s.Dir, "sandbox.json")
	layers, err := sandbox.LoadLayers(profile)
	if err != nil || !slices.Contains(s.Argv, "launch") || !slices.Contains(s.Argv, profile) {
		p.Errorf("%q has the sandbox %+v, %v", s.Argv, layers, err)
		return
	}
	own := p.bounds.Sandbox.Filesystem
	if !slices.ContainsFunc(layers, func(l sandbox.Profile) bool {
		f := l.Filesystem
		return slices.Equal(f.AllowWrite, own.AllowWrite) && slices.Equal(f.DenyWrite, own.DenyWrite) && slices.Equal(f.DenyRead, own.DenyRead) && l.Network != nil
	}) {
		p.Errorf("%q is not held to the agent's sandbox, but to %+v", s.Argv, layers)
	}
}

// waitForEffects waits for a process or job started by a call.
func (p *confinedAgent) waitForEffects(status int, answer string) {
	p.Helper()
	if status != http.StatusOK {
		return
	}
	var begun struct{ ID, Job string }
	if json.Unmarshal([]byte(answer), &begun) != nil {
		return
	}
	if begun.Job != "" {
		p.post(p.bounds, "files.job", fmt.Sprintf(`{"id":%q,"wait_ms":60000}`, begun.Job))
		return
	}
	if begun.ID != "" {
		p.post(p.bounds, "process.wait", fmt.Sprintf(`{"id":%q,"exit":true,"timeout_ms":60000}`, begun.ID))
	}
}

// checkUnchanged fails if the operation called after was able to change anything: it created a file
// in outside, or changed or copied a protected file.
func (p *confinedAgent) checkUnchanged(after, outside string) {
	p.Helper()
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		p.Fatalf("%s created %v outside, %v", after, left, err)
	}
	if frozen, err := os.ReadFile(p.in("frozen/file")); err != nil || string(frozen) != "as it was" {
		p.Fatalf("%s changed a protected file: %q, %v", after, frozen, err)
	}
	if left, err := os.ReadDir(p.in("frozen")); err != nil || len(left) != 1 {
		p.Fatalf("%s created %v in a protected folder, %v", after, left, err)
	}
	if _, err := os.Stat(p.in("secret/key")); err != nil {
		p.Fatalf("%s removed the secret: %v", after, err)
	}
	if copied, _ := os.ReadFile(p.in("open")); strings.Contains(string(copied), "hunter2") {
		p.Fatalf("%s copied the secret", after)
	}
}

func TestFileOperationsStayInAgentFolders(t *testing.T) {
	t.Parallel()
	testLocalAndRemote(t, checkFolders)
}

func checkFolders(t *testing.T, p *confinedAgent) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "file"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	roots := api.Bounds{Roots: []string{p.work}, Base: p.work}
	everywhere := api.Bounds{Base: p.work}
	for name, how := range treatments {
		if how != reaching || name == "files.write_output" || name == "files.restore" { // these name no path, or one in the trash
			continue
		}
		body := strings.NewReplacer("$WORK/file", outside+"/file", "$WORK/nothing", outside+"/file", "$WORK", outside).Replace(attempts[name].in)
		for _, try := range []struct {
			bounds     api.Bounds
			body, says string
		}{{roots, body, "outside the allowed folders"}, {everywhere, strings.ReplaceAll(body, outside, "$DATA"), "closed to agents"}} {
			if name == "files.transfer" {
				if job := p.runTransfer(try.bounds, try.body); !strings.Contains(job, try.says) {
					t.Errorf("%s %s: %s", name, try.body, job)
				}
				continue
			}
			p.wantRejected(try.bounds, name, try.body, try.says)
		}
	}
	for _, root := range []string{"/", outside} {
		p.wantRejected(roots, "files.read", fmt.Sprintf(`{"path":%q,"roots":[%q]}`, outside+"/file", root), "outside the allowed folders")
	}
}

// runTransfer begins a transfer and returns its result.
func (p *confinedAgent) runTransfer(b api.Bounds, body string) string {
	p.Helper()
	status, answer := p.post(b, "files.transfer", body)
	var begun struct{ Job string }
	if status != http.StatusOK || json.Unmarshal([]byte(answer), &begun) != nil {
		return answer
	}
	_, answer = p.post(b, "files.job", fmt.Sprintf(`{"id":%q,"wait_ms":60000}`, begun.Job))
	return answer
}

func TestEveryOperationHonoursTheKeyboardLock(t *testing.T) {
	t.Parallel()
	testLocalAndRemote(t, checkKeyboardLock)
}

func checkKeyboardLock(t *testing.T, p *confinedAgent) {
	for name, how := range treatments {
		if in := attempts[name].in; how == changing && name != "process.remove" || how == typing && strings.Contains(in, "$TAKEN") {
			p.wantRejected(api.Bounds{}, name, in, "locked_by_user")
		}
	}
}

func TestTypingDoesNotLeaveTheSandbox(t *testing.T) {
	t.Parallel()
	testLocalAndRemote(t, checkTyping)
}

func checkTyping(t *testing.T, p *confinedAgent) {
	for name, body := range map[string]string{
		"session.exec": `{"id":"$THEIRS","command":"true"}`, "session.write": `{"id":"$THEIRS","text":"x"}`, "process.write": `{"id":"$PIPED","text":"x"}`,
	} {
		p.wantRejected(p.bounds, name, body, "outside the agents' sandbox")
	}
	if status, answer := p.post(p.bounds, "session.write", `{"id":"$OWN","text":"mine"}`); status != 200 {
		t.Errorf("into its own session: %d %s", status, answer)
	}
	// The user opens the session to agents, and closes it again.
	call(p.machine, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.userSession, Open: true})
	if !p.get(p.userSession).Terminal.Open {
		t.Error("the session is not shown to be open")
	}
	if status, answer := p.post(p.bounds, "session.write", `{"id":"$THEIRS","text":"theirs"}`); status != 200 {
		t.Errorf("into an open session: %d %s", status, answer)
	}
	p.awaitScreen(p.ownSession, "mine")
	p.awaitScreen(p.userSession, "theirs")
	call(p.machine, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.userSession})
	p.wantRejected(p.bounds, "session.write", `{"id":"$THEIRS","text":"x"}`, "outside the agents' sandbox")
	// A sandbox chosen by the agent must not replace the sandbox set for it.
	wider := p.bounds
	wider.Sandbox = &api.Sandbox{}
	p.wantRejected(wider, "session.write", `{"id":"$OWN","text":"x"}`, "outside the agents' sandbox")
}

func TestAgentCannotReachTransfersOfOthers(t *testing.T) {
	t.Parallel()
	p := newConfinedAgent(t)
	job := call(p.machine, api.FilesTransfer, api.FilesTransferInput{Kind: api.TransferCopy,
		Items: []api.FileMove{{Path: p.in("secret/key"), To: p.in("secret/copy")}}}).Job
	for _, name := range []string{"files.job", "files.cancel"} {
		if status, answer := p.post(p.bounds, name, fmt.Sprintf(`{"id":%q}`, job)); status != http.StatusNotFound {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
	if done := call(p.machine, api.FilesJob, api.FileJobInput{ID: job, WaitMS: 60_000}); done.State != api.JobDone {
		t.Errorf("the user is told %+v", done)
	}
}

// The engine calls other machines in the user's name, so an agent needs a connection bound to its
// bounds.
func TestAgentsCallsAreNotForwarded(t *testing.T) {
	t.Parallel()
	testLocalAndRemote(t, func(t *testing.T, p *confinedAgent) {
		p.bounds.Sandbox = nil
		for name, body := range map[string]string{
			"session.get":    `{"id":"box/a1"}`,
			"session.write":  `{"id":"box/a1","text":"x"}`,
			"process.log":    `{"id":"box/a1"}`,
			"files.stat":     `{"path":"/box:/etc/passwd","machines":true}`,
			"files.read":     `{"path":"/box:/etc/passwd","machines":true}`,
			"files.delete":   `{"path":"/box:/tmp/x","machines":true}`,
			"history.remove": `{"host":"box","command":"x"}`,
		} {
			if status, answer := p.post(p.bounds, name, body); status == http.StatusOK || strings.Contains(answer, "reach machine") {
				t.Errorf("%s: %d %s", name, status, answer)
			}
			if !p.remote {
				err := p.client.Do(t.Context(), name, api.Read, json.RawMessage(body), new(json.RawMessage))
				if !errors.Is(err, api.CodeUnavailable) || !strings.Contains(err.Error(), "reach machine box") {
					t.Errorf("the user's %s: %v", name, err)
				}
			}
		}
		for _, name := range []string{"process.list", "history.search"} {
			p.wantRejected(p.bounds, name, `{"hosts":["","box"]}`, "only for its user's programs")
		}
		p.wantRejected(p.bounds, "process.list", `{"machines":true}`, "only for its user's programs")
	})
}

// The user's process may execute files that the agent could have changed.
func TestAgentCannotRestartProcessesOutsideItsSandbox(t *testing.T) {
	t.Parallel()
	p := newConfinedAgent(t)
	kept := call(p.machine, api.ProcessStart, api.ProcessStartInput{Command: []string{"sleep", "1000"}, KeepAlive: true})
	for _, id := range []string{p.userSession, p.inputProcess, kept.ID, kept.Name} {
		p.wantRejected(p.bounds, "process.restart", fmt.Sprintf(`{"id":%q}`, id), "outside the agents' sandbox")
		p.wantRejected(p.bounds, "process.update", fmt.Sprintf(`{"id":%q,"keep_alive":true}`, id), "outside the agents' sandbox")
		p.wantRejected(p.bounds, "process.update", fmt.Sprintf(`{"id":%q,"restart":{"policy":"always"}}`, id), "outside the agents' sandbox")
	}
	p.wantRejected(p.bounds, "process.signal", fmt.Sprintf(`{"id":%q,"signal":"KILL"}`, kept.ID), "outside the agents' sandbox")
	if now := call(p.machine, api.ProcessGet, api.IDInput{ID: kept.ID}); now.PID != kept.PID {
		t.Errorf("it was started again, as %d", now.PID)
	}
	// There is no process for the signal.
	if status, answer := p.post(p.bounds, "process.signal", `{"id":"$PIPED","signal":"CONT"}`); status == http.StatusForbidden {
		t.Errorf("it may not continue the user's process: %d %s", status, answer)
	}
	if status, answer := p.post(p.bounds, "process.update", `{"id":"$PIPED","name":"other"}`); status != 200 {
		t.Errorf("it may not rename the user's process: %d %s", status, answer)
	}
	for id, b := range map[string]api.Bounds{p.ownSession: p.bounds, p.inputProcess: {}} {
		p.keeper.child(id).exitAtStop(t, exitCode(0))
		if status, answer := p.post(b, "process.restart", fmt.Sprintf(`{"id":%q}`, id)); status != 200 {
			t.Errorf("restart within %+v: %d %s", b, status, answer)
		}
	}
}

func TestAgentsVariablesApplyOnlyToItsStarts(t *testing.T) {
	t.Parallel()
	p := newConfinedAgent(t)
	p.keeper.program = func(c *memoryChild) {
		c.print("GOT=" + c.variable("MINE") + "/" + c.variable("BASH_ENV") + "\n")
		if c.spec.Argv[0] == "true" {
			c.exit(exitCode(0))
		}
	}
	restarted := call(p.machine, api.ProcessStart, api.ProcessStartInput{Command: []string{"cat"}})
	free := api.Bounds{}
	for _, body := range []string{`{"name":"MINE","value":"leaked"}`, `{"name":"MINE","value":"leaked","client":false}`} {
		if status, answer := p.post(free, "env.set", body); status != 200 {
			t.Errorf("%s: %d %s", body, status, answer)
		}
	}
	p.wantRejected(free, "env.set", `{"name":"BASH_ENV","value":"/tmp/x"}`, "only inside a sandbox")
	p.wantRejected(free, "env.set", `{"name":"LD_PRELOAD","value":"/tmp/x"}`, "only inside a sandbox")
	if status, answer := p.post(p.bounds, "env.set", `{"name":"BASH_ENV","value":"leaked"}`); status != 200 {
		t.Errorf("inside a sandbox: %d %s", status, answer)
	}
	if _, answer := p.post(free, "exec", `{"command":["true"]}`); !strings.Contains(answer, `GOT=leaked`) {
		t.Errorf("its own command: %s", answer)
	}
	if out := call(p.machine, api.Exec, api.ExecInput{Command: []string{"true"}}); out.Stdout != "GOT=/\n" {
		t.Errorf("the user's command has %q", out.Stdout)
	}
	p.child(restarted).exitAtStop(t, exitCode(0))
	call(p.machine, api.ProcessRestart, api.ProcessRestartInput{ID: restarted.ID})
	if log := p.logOf(restarted); log != "GOT=/\nGOT=/\n" {
		t.Errorf("the user's process has %q", log)
	}
	// The next engine behaves the same.
	p.restart()
	if _, answer := p.post(free, "exec", `{"command":["true"]}`); !strings.Contains(answer, `GOT=leaked`) {
		t.Errorf("with the next engine: %s", answer)
	}
}

func TestReadinessChecksUseTheSandboxsNetwork(t *testing.T) {
	t.Parallel()
	p := newConfinedAgent(t)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var reached atomic.Int64
	server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), ConnState: func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			reached.Add(1)
		}
	}}
	go server.Serve(l)
	defer server.Close()
	port := l.Addr().(*net.TCPAddr).Port
	named := p.bounds
	named.Sandbox = &api.Sandbox{Network: &api.SandboxNetwork{AllowedDomains: []string{"example.org"}}}
	for _, b := range []api.Bounds{p.bounds, named} {
		for name, body := range map[string]string{
			"process.start": fmt.Sprintf(`{"command":["sleep","9"],"ready":{"port":%d}}`, port),
			"process.wait":  fmt.Sprintf(`{"id":"$OWN","port":%d,"timeout_ms":100}`, port),
			"session.wait":  fmt.Sprintf(`{"id":"$OWN","port":%d,"timeout_ms":100}`, port),
		} {
			if status, answer := p.post(b, name, body); status == http.StatusOK || !strings.Contains(answer, "the sandbox ") {
				t.Errorf("%s %s: %d %s", name, body, status, answer)
			}
		}
		body := fmt.Sprintf(`{"command":["sleep","9"],"ready":{"http":"http://127.0.0.1:%d/"}}`, port)
		if status, answer := p.post(b, "process.start", body); status == http.StatusOK || !strings.Contains(answer, "the sandbox ") {
			t.Errorf("%s: %d %s", body, status, answer)
		}
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("it was connected to %d times", n)
	}
	// Allowed hosts are probed.
	named.Sandbox.Network.AllowedDomains = []string{"localhost"}
	for _, ready := range []string{fmt.Sprintf(`{"port":%d}`, port), fmt.Sprintf(`{"http":"http://localhost:%d/"}`, port)} {
		var started api.Process
		status, answer := p.post(named, "process.start", `{"command":["sleep","1000"],"ready":`+ready+`}`)
		if status != http.StatusOK || json.Unmarshal([]byte(answer), &started) != nil {
			t.Fatalf("%s: %d %s", ready, status, answer)
		}
		if _, answer := p.post(named, "process.wait", fmt.Sprintf(`{"id":%q,"ready":true,"timeout_ms":60000}`, started.ID)); !strings.Contains(answer, `"met":"ready"`) {
			t.Errorf("%s: %s", ready, answer)
		}
	}
}

// An agent cannot claim to be another machine. A request from another machine belongs to the agent
// named by its connection, whatever its headers say.
func TestRemoteAgentIsIdentifiedByItsConnection(t *testing.T) {
	t.Parallel()
	p := newConfinedAgent(t)
	o := p.options()
	o.Name, o.Owner, o.Bounds = agentsName, "confined-1", &p.bounds
	for _, to := range []api.OpenOptions{{Origin: "me@laptop"}, {Origin: "me@laptop", By: p.remoteAgent(api.Bounds{})}} {
		if _, _, err := client.Open(t.Context(), o, to); !errors.Is(err, api.CodeForbidden) {
			t.Errorf("an agent opened a connection for another machine: %v", err)
		}
	}
	say := func(to api.OpenOptions, header map[string]string, name, body string) (int, string) {
		t.Helper()
		conn, _, err := client.Open(t.Context(), p.options(), to)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://tandem/v1/"+name, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range header {
			req.Header.Set(name, value)
		}
		if err := req.Write(conn); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	led := api.OpenOptions{Origin: "me@laptop", By: p.remoteAgent(p.bounds)}
	wider := api.Bounds{Base: "/"}
	for _, header := range []map[string]string{
		nil, {"Tandem-Client": "dashboard"}, {"Tandem-Client": "agent:other/1", "Tandem-Owner": "other", api.BoundsHeader: wider.Header()},
	} {
		if status, answer := say(led, header, "files.read", fmt.Sprintf(`{"path":%q}`, p.in("secret/key"))); status == http.StatusOK {
			t.Errorf("with %v it reads the secret: %s", header, answer)
		}
		status, answer := say(led, header, "process.start", `{"command":["true"]}`)
		if status != http.StatusOK || !strings.Contains(answer, `"actor":"`+agentsName+`"`) || !strings.Contains(answer, `"client":"confined-1"`) {
			t.Errorf("with %v the process has another owner: %d %s", header, status, answer)
		}
	}
	narrower := api.Bounds{ReadOnly: true}
	if status, answer := say(led, map[string]string{api.BoundsHeader: narrower.Header()}, "exec", `{"command":["true"]}`); status != http.StatusForbidden {
		t.Errorf("a read-only request started a process: %d %s", status, answer)
	}
	// A connection that names no agent cannot carry an agent's requests.
	if status, answer := say(api.OpenOptions{Origin: "me@laptop"}, map[string]string{"Tandem-Owner": "x"}, "engine.info", ""); status != http.StatusForbidden ||
		!strings.Contains(answer, "did not send the agent") {
		t.Errorf("unannounced agent: %d %s", status, answer)
	}
}
