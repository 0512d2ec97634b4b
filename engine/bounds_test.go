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
	"tandem/tests/needs"
)

// A confinedAgent is a machine with an agent that is held to bounds: it may write in
// work, may not read work/secret, and reaches no network.
type confinedAgent struct {
	*machine
	work   string // holds secret/key, frozen/file and file
	bounds api.Bounds

	theirs string // id of a person's session
	own    string // id of the agent's own session
	taken  string // id of a session of the agent's whose keyboard the person has
	piped  string // id of a person's process that reads standard input

	far bool // it comes from another machine, and its requests say nothing of it
}

// agentsName is who the agent is.
const agentsName = "agent:confined/1"

func newConfinedAgent(t *testing.T) *confinedAgent {
	p := &confinedAgent{machine: startMachine(t), work: t.TempDir()}
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
	p.theirs = p.start("sh").ID
	p.piped = call(p.machine, api.ProcessStart, api.ProcessStartInput{Command: []string{"cat"}, Stdin: true}).ID
	p.own, p.taken = p.agentSession(), p.agentSession()
	call(p.machine, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.taken, Take: true})
	return p
}

// hereAndFromElsewhere runs a test with an agent of this machine and with one of another,
// whose bounds came with its connection alone.
func hereAndFromElsewhere(t *testing.T, test func(t *testing.T, p *confinedAgent)) {
	for name, far := range map[string]bool{"here": false, "from elsewhere": true} {
		t.Run(name, func(t *testing.T) {
			p := newConfinedAgent(t)
			p.far = far
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

// post calls an operation as the agent, within bounds. The words $WORK, $THEIRS,
// $OWN, $TAKEN and $PIPED in the body stand for what they are called there.
func (p *confinedAgent) post(b api.Bounds, name, body string) (status int, answer string) {
	p.Helper()
	body = strings.NewReplacer("$WORK", p.work, "$THEIRS", p.theirs, "$OWN", p.own, "$TAKEN", p.taken, "$PIPED", p.piped, "$DATA", p.dir).Replace(body)
	socket, _ := api.Sockets(p.dir)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		if p.far {
			conn, _, err := client.Open(ctx, p.options(), api.OpenOptions{Origin: "me@laptop", By: p.led(b)})
			return conn, err
		}
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	req, err := http.NewRequestWithContext(p.Context(), http.MethodPost, "http://tandem/v1/"+name, strings.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	if !p.far {
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

// led is the agent as another machine tells of it.
func (p *confinedAgent) led(b api.Bounds) *api.FarAgent {
	return &api.FarAgent{Name: agentsName, Owner: "confined-1", Bounds: b.AbbreviateHome("/elsewhere")}
}

// refused calls an operation and wants it refused in words that tell why.
func (p *confinedAgent) refused(b api.Bounds, name, body, says string) {
	p.Helper()
	if status, answer := p.post(b, name, body); status != http.StatusForbidden && status != http.StatusLocked && status != http.StatusConflict ||
		!strings.Contains(answer, says) {
		p.Errorf("%s %s: want it refused with %q, got %d %.300s", name, body, says, status, answer)
	}
}

// ways are calls of every operation of the table, as an agent would try to leave
// its bounds by them: reading and changing what it may not.
var ways = map[string]struct {
	in     string   // input that is in order, for what its treatment alone refuses
	reads  []string // inputs that would read work/secret
	writes []string // inputs that would change something outside work, or in work/frozen
}{
	"engine.peer": {in: `{"client":"127.0.0.1:1","server":"127.0.0.1:2"}`}, "engine.info": {}, "engine.operations": {}, "machine.list": {}, "machine.connect": {in: `{"name":"x"}`}, "fleet.status": {}, "fleet.list": {}, "fleet.processes": {}, "fleet.history": {}, "fleet.any": {in: `{"label":"a=b"}`}, "engine.stop": {in: `{"all":true}`},
	"session.start": {in: `{"command":["sh","-c","CANARY"]}`, writes: []string{
		`{"command":["sh","-c","CANARY"]}`, `{"command":["sh","-c","CANARY"],"sandbox":{"filesystem":{"allowWrite":["/"]}}}`}},
	"session.list": {}, "session.get": {in: `{"id":"$OWN"}`},
	"session.write": {in: `{"id":"$TAKEN","text":"x"}`, writes: []string{`{"id":"$THEIRS","text":"CANARY\r"}`, `{"id":"$THEIRS","paste":"CANARY\r"}`, `{"id":"$THEIRS","keys":["enter"]}`}},
	"session.read":  {in: `{"id":"$OWN"}`}, "session.screen": {in: `{"id":"$OWN"}`},
	"session.resize": {in: `{"id":"$TAKEN","cols":90,"rows":30}`}, "session.rename": {in: `{"id":"$TAKEN","name":"other"}`},
	"session.kill": {in: `{"id":"$TAKEN"}`}, "session.find": {in: `{"id":"$OWN","pattern":"x"}`}, "session.text": {in: `{"id":"$OWN"}`},
	"session.record":     {in: `{"id":"$OWN"}`},
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
	"process.signal": {in: `{"id":"$TAKEN","signal":"TERM"}`}, "process.log": {in: `{"id":"$OWN"}`},
	"process.wait": {in: `{"id":"$OWN","idle_ms":1,"timeout_ms":1000}`}, "process.update": {in: `{"id":"$TAKEN","name":"other"}`},
	"process.remove": {in: `{"id":"$TAKEN"}`}, "process.write": {writes: []string{`{"id":"$PIPED","text":"CANARY\n"}`}},
	"exec": {in: `{"command":["true"]}`,
		reads: []string{`{"command":["cat","$WORK/secret/key"]}`, `{"command":["cat","$WORK/secret/key"],"sandbox":{"filesystem":{}}}`},
		writes: []string{`{"command":["sh","-c","CANARY"]}`, `{"command":["sh","-c","CANARY"],"sandbox":{"filesystem":{"allowWrite":["/"]}}}`,
			`{"command":["sh","-c","CANARY"],"sandbox":{"filesystem":{"allowWrite":["$WORK/link"]}}}`}},

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
	"files.job": {in: `{"id":"1"}`}, "files.cancel": {in: `{"id":"1"}`},
	"files.restore": {in: `{"items":[]}`, writes: []string{`{"items":[{"path":"$WORK/file","to":"OUTSIDE"}]}`}},
	"files.trashed": {},
	"files.watch":   {in: `{"path":"$WORK","wait_ms":1}`}, "files.git": {in: `{"path":"$WORK"}`},

	"policy.check": {in: `{"tool":"x","actor":"x"}`}, "request.list": {}, "request.answer": {in: `{"id":"x","allow":true}`},
	"audit.add": {in: `{"entries":[]}`}, "audit.list": {},
	"env.get": {in: `{"name":"PATH"}`}, "env.set": {in: `{"name":"MINE","value":"x"}`}, "env.unset": {in: `{"name":"MINE"}`}, "env.list": {},
	"layout.get": {}, "layout.put": {in: `{"layout":{}}`}, "layout.remove": {in: `{"name":"x"}`},
	"worktree.add": {in: `{"cwd":"/"}`}, "worktree.list": {in: `{"cwd":"/"}`}, "worktree.remove": {in: `{"path":"/"}`},
}

// A treatment is how an agent has to be kept within its bounds by an operation.
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

// treatments says it of every operation once more, apart from the rules that the
// engine goes by, so that whoever changes those has to say so here.
var treatments = byOperation(map[treatment][]string{
	anybodys: {
		"engine.info", "engine.operations", "machine.list", "fleet.status", "fleet.list", "fleet.any", "engine.open", "engine.stop", "session.list", "session.get", "session.read", "session.screen", "session.find", "session.text", "session.record",
		"session.wait", "session.foreground", "agent.explain", "agent.wait", "process.list", "process.get", "process.log", "process.wait", "history.search", "history.stats", "commands.list", "commands.add",
		"commands.replace", "files.job", "files.cancel", "env.get", "env.list", "layout.get", "events.watch",
	},
	personOnly: {
		"session.keyboard", "agent.seen", "history.remove", "history.clear", "history.loading", "audit.list", "request.list", "request.answer", "layout.put",
		"layout.remove", "files.trashed", "engine.peer", "machine.connect", "fleet.processes", "fleet.history", "worktree.add", "worktree.list", "worktree.remove",
	},
	bookkeeping: {
		"policy.check", "audit.add",
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
		"session.write", "session.exec", "process.write", "session.attach",
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

func TestEveryOperationIsTreatedAndTried(t *testing.T) {
	t.Parallel()
	var names []string
	for _, e := range api.Operations() {
		names = append(names, e.Name)
		if _, ok := ways[e.Name]; !ok {
			t.Errorf("%s: no way round the bounds has been tried", e.Name)
		}
	}
	for _, name := range append(names, "events.watch", "session.attach", "engine.open") {
		if treatments[name] == "" {
			t.Errorf("%s has no rule for what an agent may do", name)
		}
	}
	if len(ways) != len(names) || len(treatments) != len(names)+3 {
		t.Errorf("%d operations, of which %d are tried and %d treated: which are no operations?", len(names), len(ways), len(treatments)-3)
	}
}

func TestAnAgentThatMayReadChangesNothing(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	hereAndFromElsewhere(t, anAgentThatMayReadChangesNothing)
}

func anAgentThatMayReadChangesNothing(t *testing.T, p *confinedAgent) {
	b := p.bounds
	b.ReadOnly = true
	for _, e := range api.Operations() {
		switch how := treatments[e.Name]; {
		case how == personOnly || how == bookkeeping:
		case e.Effect != api.Read:
			p.refused(b, e.Name, ways[e.Name].in, "may only read")
		default:
			if status, answer := p.post(b, e.Name, ways[e.Name].in); status == http.StatusForbidden {
				t.Errorf("%s: %d %s", e.Name, status, answer)
			}
		}
	}
}

func TestWhatIsForThePersonIsRefusedToAgents(t *testing.T) {
	t.Parallel()
	hereAndFromElsewhere(t, whatIsForThePersonIsRefusedToAgents)
}

func whatIsForThePersonIsRefusedToAgents(t *testing.T, p *confinedAgent) {
	for name, how := range treatments {
		if how == personOnly {
			p.refused(p.bounds, name, ways[name].in, "only the user may")
		}
	}
	p.refused(p.bounds, "engine.stop", `{"all":true}`, "only the user can")
	p.refused(p.bounds, "engine.stop", `{}`, "only the user can")
	p.refused(p.bounds, "engine.stop", `{"replace":"/bin/true"}`, "only the user can")
}

func TestNoOperationLeavesTheSandboxOfAnAgent(t *testing.T) {
	needs.FullRun(t)
	hereAndFromElsewhere(t, noOperationLeavesTheSandboxOfAnAgent)
}

func noOperationLeavesTheSandboxOfAnAgent(t *testing.T, p *confinedAgent) {
	outside := t.TempDir()
	for link, target := range map[string]string{"link": outside, "tokey": p.in("secret/key")} {
		if err := os.Symlink(target, p.in(link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", outside)
	canary := filepath.Join(outside, "canary")
	fill := strings.NewReplacer("CANARY", "echo x > "+canary+"; echo x > "+p.in("frozen/canary"), "OUTSIDE", filepath.Join(outside, "new"))
	for _, e := range api.Operations() {
		way := ways[e.Name]
		for _, body := range slices.Concat(way.writes, way.reads) {
			status, answer := p.post(p.bounds, e.Name, fill.Replace(body))
			p.settle(status, answer)
			if strings.Contains(answer, "hunter2") {
				t.Errorf("%s %s reads the secret: %.300s", e.Name, body, answer)
			}
			p.unchanged(e.Name+" "+body, outside)
		}
	}
}

// settle waits for what a call has begun.
func (p *confinedAgent) settle(status int, answer string) {
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

// unchanged sees that nothing was made outside, and that nothing was taken out
// of what may not be written or read.
func (p *confinedAgent) unchanged(after, outside string) {
	p.Helper()
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		p.Fatalf("%s has made %v outside, %v", after, left, err)
	}
	if frozen, err := os.ReadFile(p.in("frozen/file")); err != nil || string(frozen) != "as it was" {
		p.Fatalf("%s has changed what may not be written: %q, %v", after, frozen, err)
	}
	if left, err := os.ReadDir(p.in("frozen")); err != nil || len(left) != 1 {
		p.Fatalf("%s has made %v where nothing may be written, %v", after, left, err)
	}
	if _, err := os.Stat(p.in("secret/key")); err != nil {
		p.Fatalf("%s has taken away what may not be read: %v", after, err)
	}
	if copied, _ := os.ReadFile(p.in("open")); strings.Contains(string(copied), "hunter2") {
		p.Fatalf("%s has copied what may not be read", after)
	}
}

func TestNoFileOperationLeavesTheFoldersOfAnAgent(t *testing.T) {
	t.Parallel()
	hereAndFromElsewhere(t, noFileOperationLeavesTheFoldersOfAnAgent)
}

func noFileOperationLeavesTheFoldersOfAnAgent(t *testing.T, p *confinedAgent) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "file"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	roots := api.Bounds{Roots: []string{p.work}, Base: p.work}
	everywhere := api.Bounds{Base: p.work}
	for name, how := range treatments {
		if how != reaching || name == "files.write_output" || name == "files.restore" { // which name no path, or one of the trash
			continue
		}
		body := strings.NewReplacer("$WORK/file", outside+"/file", "$WORK/nothing", outside+"/file", "$WORK", outside).Replace(ways[name].in)
		for _, try := range []struct {
			bounds     api.Bounds
			body, says string
		}{{roots, body, "outside the allowed folders"}, {everywhere, strings.ReplaceAll(body, outside, "$DATA"), "closed to agents"}} {
			if name == "files.transfer" {
				if job := p.transferred(try.bounds, try.body); !strings.Contains(job, try.says) {
					t.Errorf("%s %s: %s", name, try.body, job)
				}
				continue
			}
			p.refused(try.bounds, name, try.body, try.says)
		}
	}
	for _, root := range []string{"/", outside} {
		p.refused(roots, "files.read", fmt.Sprintf(`{"path":%q,"roots":[%q]}`, outside+"/file", root), "outside the allowed folders")
	}
}

// transferred begins a transfer and tells what has become of it.
func (p *confinedAgent) transferred(b api.Bounds, body string) string {
	p.Helper()
	status, answer := p.post(b, "files.transfer", body)
	var begun struct{ Job string }
	if status != http.StatusOK || json.Unmarshal([]byte(answer), &begun) != nil {
		return answer
	}
	_, answer = p.post(b, "files.job", fmt.Sprintf(`{"id":%q,"wait_ms":60000}`, begun.Job))
	return answer
}

func TestATakenKeyboardHoldsForEveryOperation(t *testing.T) {
	t.Parallel()
	hereAndFromElsewhere(t, aTakenKeyboardHoldsForEveryOperation)
}

func aTakenKeyboardHoldsForEveryOperation(t *testing.T, p *confinedAgent) {
	for name, how := range treatments {
		if in := ways[name].in; how == changing && name != "process.remove" || how == typing && strings.Contains(in, "$TAKEN") {
			p.refused(api.Bounds{}, name, in, "locked_by_user")
		}
	}
}

func TestTypingDoesNotLeaveTheSandbox(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	hereAndFromElsewhere(t, typingDoesNotLeaveTheSandbox)
}

func typingDoesNotLeaveTheSandbox(t *testing.T, p *confinedAgent) {
	for name, body := range map[string]string{
		"session.exec": `{"id":"$THEIRS","command":"true"}`, "session.write": `{"id":"$THEIRS","text":"x"}`, "process.write": `{"id":"$PIPED","text":"x"}`,
	} {
		p.refused(p.bounds, name, body, "outside the agents' sandbox")
	}
	if status, answer := p.post(p.bounds, "session.exec", `{"id":"$OWN","command":"echo mine"}`); status != 200 || !strings.Contains(answer, `"output":"mine\n"`) {
		t.Errorf("into its own session: %d %s", status, answer)
	}
	// The person opens the session, and closes it again.
	call(p.machine, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.theirs, Open: true})
	if !p.get(p.theirs).Terminal.Open {
		t.Error("the session is not shown to be open")
	}
	if status, answer := p.post(p.bounds, "session.exec", `{"id":"$THEIRS","command":"echo theirs"}`); status != 200 || !strings.Contains(answer, `"output":"theirs\n"`) {
		t.Errorf("into an open session: %d %s", status, answer)
	}
	call(p.machine, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.theirs})
	p.refused(p.bounds, "session.write", `{"id":"$THEIRS","text":"x"}`, "outside the agents' sandbox")
	// A sandbox of the agent's choice is not the one that it is held to.
	wider := p.bounds
	wider.Sandbox = &api.Sandbox{}
	p.refused(wider, "session.write", `{"id":"$OWN","text":"x"}`, "outside the agents' sandbox")
}

func TestTransfersOfOthersAreNotAnAgents(t *testing.T) {
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

// An agent could have changed the files that a person's process runs.
func TestNothingOutsideTheSandboxIsStartedAgain(t *testing.T) {
	t.Parallel()
	p := newConfinedAgent(t)
	kept := call(p.machine, api.ProcessStart, api.ProcessStartInput{Command: []string{"sleep", "1000"}, KeepAlive: true})
	for _, id := range []string{p.theirs, p.piped, kept.ID, kept.Name} {
		p.refused(p.bounds, "process.restart", fmt.Sprintf(`{"id":%q}`, id), "outside the agents' sandbox")
		p.refused(p.bounds, "process.update", fmt.Sprintf(`{"id":%q,"keep_alive":true}`, id), "outside the agents' sandbox")
		p.refused(p.bounds, "process.update", fmt.Sprintf(`{"id":%q,"restart":{"policy":"always"}}`, id), "outside the agents' sandbox")
	}
	p.refused(p.bounds, "process.signal", fmt.Sprintf(`{"id":%q,"signal":"KILL"}`, kept.ID), "outside the agents' sandbox")
	if now := call(p.machine, api.ProcessGet, api.IDInput{ID: kept.ID}); now.PID != kept.PID {
		t.Errorf("it was started again, as %d", now.PID)
	}
	for name, body := range map[string]string{
		"process.signal": `{"id":"$PIPED","signal":"CONT"}`, "process.update": `{"id":"$PIPED","name":"other"}`, "process.restart": `{"id":"$OWN"}`,
	} {
		if status, answer := p.post(p.bounds, name, body); status != 200 {
			t.Errorf("%s %s: %d %s", name, body, status, answer)
		}
	}
	if status, answer := p.post(api.Bounds{}, "process.restart", `{"id":"$PIPED"}`); status != 200 {
		t.Errorf("without a sandbox: %d %s", status, answer)
	}
}

func TestVariablesOfAnAgentAreItsOwn(t *testing.T) {
	t.Parallel()
	p := newConfinedAgent(t)
	restarted := call(p.machine, api.ProcessStart, api.ProcessStartInput{Command: sh("echo GOT=$MINE/$BASH_ENV; exec sleep 1000")})
	free := api.Bounds{}
	for _, body := range []string{`{"name":"MINE","value":"leaked"}`, `{"name":"MINE","value":"leaked","client":false}`} {
		if status, answer := p.post(free, "env.set", body); status != 200 {
			t.Errorf("%s: %d %s", body, status, answer)
		}
	}
	p.refused(free, "env.set", `{"name":"BASH_ENV","value":"/tmp/x"}`, "only inside a sandbox")
	p.refused(free, "env.set", `{"name":"LD_PRELOAD","value":"/tmp/x"}`, "only inside a sandbox")
	if status, answer := p.post(p.bounds, "env.set", `{"name":"BASH_ENV","value":"leaked"}`); status != 200 {
		t.Errorf("inside a sandbox: %d %s", status, answer)
	}
	if _, answer := p.post(free, "exec", `{"command":["sh","-c","echo GOT=$MINE"]}`); !strings.Contains(answer, `GOT=leaked`) {
		t.Errorf("its own command: %s", answer)
	}
	if out := call(p.machine, api.Exec, api.ExecInput{Command: sh("echo GOT=$MINE")}); out.Stdout != "GOT=\n" {
		t.Errorf("the user's command has %q", out.Stdout)
	}
	call(p.machine, api.ProcessRestart, api.ProcessRestartInput{ID: restarted.ID})
	p.prints(restarted, "GOT=/")
	if log := p.logOf(restarted); strings.Contains(log, "leaked") {
		t.Errorf("the user's process has %q", log)
	}
	// It is the same with the next engine.
	p.restart()
	if _, answer := p.post(free, "exec", `{"command":["sh","-c","echo GOT=$MINE"]}`); !strings.Contains(answer, `GOT=leaked`) {
		t.Errorf("with the next engine: %s", answer)
	}
}

// restart replaces the engine by another one of the same kind.
func (m *machine) restart() {
	m.Helper()
	before := m.info().EnginePID
	call(m, api.EngineStop, api.EngineStopInput{Restart: true})
	m.eventually("another engine", func() bool {
		info, err := api.EngineInfo.Call(context.Background(), m.client, api.Empty{})
		return err == nil && info.EnginePID != before
	})
}

func TestNobodyElseAnswersForThePerson(t *testing.T) {
	t.Parallel()
	p := newConfinedAgent(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ask := fmt.Sprintf(`"%s" call request.list '{}'`, exe)
	for what, script := range map[string]string{
		"a command":                     ask,
		"a child of it":                 "sh -c 'exec " + strings.ReplaceAll(ask, "'", `'"'"'`) + "'; true",
		"one without a mark":            "env -u TANDEM_SESSION_ID " + ask,
		"one that has left its session": "setsid -w " + ask,
		"an orphan without a mark":      "(env -u TANDEM_SESSION_ID setsid " + ask + " > " + p.in("said") + " 2>&1 &); while ! [ -s " + p.in("said") + " ]; do sleep 0.01; done; cat " + p.in("said"),
	} {
		in, _ := json.Marshal(api.ExecInput{Command: sh(script), Environ: map[string]string{"PATH": os.Getenv("PATH")}})
		if _, answer := p.post(api.Bounds{}, "exec", string(in)); !strings.Contains(answer, "only the user may") {
			t.Errorf("%s: %s", what, answer)
		}
	}
	// The person's own command may, and their session until an agent types in it.
	if out := call(p.machine, api.Exec, api.ExecInput{Command: sh(ask)}); !strings.Contains(out.Stdout, `"requests":[]`) {
		t.Errorf("the user's command: %q %q", out.Stdout, out.Stderr)
	}
	p.tied = true // the command asks the engine that runs
	p.write(p.theirs, ask+"\r")
	p.shows(p.theirs, `"requests":[]`)
	in, _ := json.Marshal(api.SessionExecInput{ID: p.theirs, Command: ask})
	if _, answer := p.post(api.Bounds{}, "session.exec", string(in)); !strings.Contains(answer, "typed last") {
		t.Errorf("typed by an agent: %s", answer)
	}
}

// runCall calls an operation as a person's client does, and prints the answer.
func runCall(name, body string) int {
	conn, err := client.Connect(context.Background(), client.Options{Version: "1.2.3", Name: "cli"})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer conn.Close()
	answer, err := api.NewOperation[json.RawMessage, json.RawMessage](name, "", api.Write).Call(context.Background(), conn, json.RawMessage(body))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(string(answer))
	return 0
}

func TestTheNetworkOfASandboxHoldsForProbes(t *testing.T) {
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
	// What may be reached is probed.
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

// An agent does not speak for another machine, and what comes from one is the agent
// that it was led as, whatever its requests say.
func TestAnAgentFromElsewhereIsWhoItWasLedAs(t *testing.T) {
	t.Parallel()
	p := newConfinedAgent(t)
	o := p.options()
	o.Name, o.Owner, o.Bounds = agentsName, "confined-1", &p.bounds
	for _, to := range []api.OpenOptions{{Origin: "me@laptop"}, {Origin: "me@laptop", By: p.led(api.Bounds{})}} {
		if _, _, err := client.Open(t.Context(), o, to); !errors.Is(err, api.CodeForbidden) {
			t.Errorf("it speaks for another machine: %v", err)
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
	led := api.OpenOptions{Origin: "me@laptop", By: p.led(p.bounds)}
	wider := api.Bounds{Base: "/"}
	for _, header := range []map[string]string{
		nil, {"Tandem-Client": "dashboard"}, {"Tandem-Client": "agent:other/1", "Tandem-Owner": "other", api.BoundsHeader: wider.Header()},
	} {
		if status, answer := say(led, header, "files.read", fmt.Sprintf(`{"path":%q}`, p.in("secret/key"))); status == http.StatusOK {
			t.Errorf("with %v it reads the secret: %s", header, answer)
		}
		status, answer := say(led, header, "process.start", `{"command":["true"]}`)
		if status != http.StatusOK || !strings.Contains(answer, `"actor":"`+agentsName+`"`) || !strings.Contains(answer, `"client":"confined-1"`) {
			t.Errorf("with %v a process is of another: %d %s", header, status, answer)
		}
	}
	narrower := api.Bounds{ReadOnly: true}
	if status, answer := say(led, map[string]string{api.BoundsHeader: narrower.Header()}, "exec", `{"command":["true"]}`); status != http.StatusForbidden {
		t.Errorf("a request that may only read starts something: %d %s", status, answer)
	}
	// An engine that does not tell of its agents leads none.
	if status, answer := say(api.OpenOptions{Origin: "me@laptop"}, map[string]string{"Tandem-Owner": "x"}, "engine.info", ""); status != http.StatusForbidden ||
		!strings.Contains(answer, "did not send the agent") {
		t.Errorf("an agent that nobody has told of: %d %s", status, answer)
	}
}
