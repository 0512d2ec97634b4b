package mcp

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

// writePolicy sets the policy of the rig's engine.
func (r *rig) writePolicy(text string) {
	r.Helper()
	if r.shared {
		r.Fatal("a test that sets the policy needs a machine of its own")
	}
	if err := os.WriteFile(filepath.Join(r.dir, policyName), []byte(text), 0o600); err != nil {
		r.Fatal(err)
	}
}

const careful = `
ask_timeout = "20s"
[[rule]]
decision = "deny"
command = ["rm -rf"]
reason = "nothing is lost here"
[[rule]]
decision = "ask"
command = ["git push"]
[[rule]]
decision = "deny"
path = ["/etc/**"]
[[rule]]
decision = "deny"
tool = ["session_kill", "session.kill"]
`

// serveClient runs a server with the rig's options and returns an SDK client of it.
func (r *rig) serveClient(client *sdk.ClientOptions) *sdk.ClientSession {
	return serveClient(r, *r.agent.Options, withHandshake, client)
}

// callAsClient calls a tool like an agent's program.
func (r *rig) callAsClient(session *sdk.ClientSession, tool string, args object) (text string, failed bool) {
	r.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wait.Timeout)
	defer cancel()
	answer, err := session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		r.Fatal(err)
	}
	return resultText(toolkit.Result{Content: answer.Content}), answer.IsError
}

// waitForRequest waits for a request and returns it.
func (r *rig) waitForRequest() api.Request {
	r.Helper()
	return r.waitForRequests(1)[0]
}

// waitForRequests waits until n requests are unanswered, and returns them.
func (r *rig) waitForRequests(n int) []api.Request {
	r.Helper()
	return wait.Watch(r, fmt.Sprintf("%d requests", n), r.userClient().Watch, func() ([]api.Request, bool) {
		open := r.openRequests()
		return open, len(open) == n
	})
}

// openRequests returns the unanswered requests.
func (r *rig) openRequests() []api.Request {
	r.Helper()
	out, err := api.RequestList.Call(context.Background(), r.userClient(), api.Empty{})
	if err != nil {
		r.Fatal(err)
	}
	return out.Requests
}

// answerRequest answers a request as the user.
func (r *rig) answerRequest(in api.RequestAnswerInput) {
	r.Helper()
	if _, err := api.RequestAnswer.Call(context.Background(), r.userClient(), in); err != nil {
		r.Error(err)
	}
}

// waitForAudit waits for n entries of the audit log. lines has the tool and outcome of each, oldest
// first.
func (r *rig) waitForAudit(n int) (lines []string, entries []api.AuditEntry) {
	r.Helper()
	entries = wait.Poll(r, "the audit log", func() ([]api.AuditEntry, bool) {
		out, err := api.AuditList.Call(context.Background(), r.userClient(), api.AuditListInput{Limit: 1000})
		return out.Entries, err == nil && len(out.Entries) >= n
	})
	for i := len(entries) - 1; i >= 0; i-- {
		lines = append(lines, entries[i].Tool+" "+entries[i].Outcome)
	}
	return lines, entries
}

// callsOfEveryTool returns a valid call of each tool, except of those for daemons. id is of a running
// process.
func callsOfEveryTool(home, id string) map[string]object {
	return map[string]object{
		"read": {"path": "there"}, "read_json": {"path": "there"}, "write": {"path": "made", "content": "x"},
		"edit":         {"path": "there", "edits": []object{{"search": "old", "replace": "new"}}},
		"write_output": {"name": "made", "content": "x"},
		"grep":         {"pattern": "old"}, "find": {"pattern": "*"}, "ls": {},
		"exec": {"command": "echo old > made"}, "process_start": {"command": "echo old > made"},
		"process_list": {}, "machine_list": {}, "process_get": {"id": id}, "process_stop": {"id": id}, "process_stop_all": {},
		"process_restart": {"id": id}, "process_log": {"id": id}, "process_wait": {"id": id, "timeout_ms": 1},
		"session_start": {"command": "echo old > made"}, "session_exec": {"id": id, "command": "echo old > made"},
		"session_write": {"id": id, "text": "x"}, "session_read": {"id": id}, "session_screen": {"id": id},
		"session_wait": {"id": id, "timeout_ms": 1}, "session_resize": {"id": id, "cols": 9, "rows": 9}, "session_kill": {"id": id}, "session_list": {},
		"agent_list": {}, "agent_wait": {"ids": []string{id}, "timeout_ms": 1}, "agent_prompt": {"id": id, "text": "x"}, "agent_transcript": {"id": id},
		"history": {}, "output_search": {"pattern": "old"}, "env_get": {"key": "A"}, "env_set": {"key": "A", "value": "x"}, "env_unset": {"key": "A"},
		"execute-command": {"command": []string{"touch", "made"}}, "start-command-async": {"command": []string{"touch", "made"}},
		"check-command-status": {"processId": id}, "stop-command": {"processId": id}, "list-background-processes": {},
		"get-command-history": {}, "clear-command-history": {}, "save-to-file": {"absolutePath": home + "/made"}, "load-from-file": {"absolutePath": home + "/there"},
		"shell_cmd": {"command": "echo old > made"}, "run_terminal_command": {"command": "echo old > made"},
		"format_terminal_output": {"content": "x"}, "start_interactive_shell": {"startup_commands": []string{"touch made", "true"}},
		"local_run_shell": {"command": "echo old > made"}, "termux_run_shell": {"command": "echo old > made"},
		"local_shell_session": {"action": "start"}, "termux_shell_session": {"action": "start"},
		"termux_fs": {"action": "write", "path": "made", "content": "x"}, "device_api": {"action": "termux.restart"},
	}
}

// The user is asked once about each call, however many operations it has. A call runs only the
// operations that its tool declares.
func TestEachCallAsksOnceAndRunsOnlyDeclaredOperations(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newRig(t, toolkit.All)
	uses := usesOf()
	asked := make(chan api.Request, 100)
	go func() {
		for e, err := range r.userClient().Watch(r.Context()) {
			if err == nil && e.Type == api.EventRequest && e.Request.Answer == "" {
				asked <- *e.Request
				_, _ = api.RequestAnswer.Call(context.Background(), r.userClient(), api.RequestAnswerInput{ID: e.Request.ID, Allow: true})
			}
		}
	}()
	session := r.serveClient(nil)
	for i, name := range slices.Sorted(maps.Keys(callsOfEveryTool(r.home, ""))) {
		if name == "device_api" { // it restarts the engine
			continue
		}
		r.writePolicy("")
		id := r.startAny(fmt.Sprint("p", i), strings.HasPrefix(name, "session_") || strings.HasPrefix(name, "agent_"))
		r.writePolicy("default = \"ask\"\nask_timeout = \"20s\"")
		args := callsOfEveryTool(r.home, id)[name]
		text, failed := r.callAsClient(session, name, args)
		var requests []api.Request
		for len(asked) > 0 {
			requests = append(requests, <-asked)
		}
		if len(requests) != 1 || requests[0].Tool != name {
			t.Errorf("%s %v: asked %+v; failed %v: %s", name, args, requests, failed, text)
		}
	}
	out, err := api.AuditList.Call(t.Context(), r.userClient(), api.AuditListInput{Limit: 1000, Operations: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range out.Entries {
		if known, ok := uses[e.Tool]; ok && e.Call != "" && e.Operation != api.PolicyCheck.Name && !slices.Contains(known, e.Operation) {
			t.Errorf("%s calls %s", e.Tool, e.Operation)
		}
	}
}

// startAny starts a process or, if terminal is set, a session for the user and returns its id.
func (r *rig) startAny(name string, terminal bool) string {
	r.Helper()
	var p api.Process
	var err error
	if terminal {
		p, err = api.SessionStart.Call(r.Context(), r.userClient(), api.SessionStartInput{Command: []string{"sh"}, Name: name, CWD: "/"})
	} else {
		p, err = api.ProcessStart.Call(r.Context(), r.userClient(), api.ProcessStartInput{Command: []string{"sleep", "1000"}, Name: name, CWD: "/"})
	}
	if err != nil {
		r.Fatal(err)
	}
	return p.ID
}

// The engine judges these calls with their effects, so a denial must precede any effect.
func TestDeniedCallHasNoEffect(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.All)
	r.createFile("there", "old")
	p, err := api.ProcessStart.Call(t.Context(), r.userClient(), api.ProcessStartInput{Command: []string{"sleep", "1000"}, CWD: "/"})
	if err != nil {
		t.Fatal(err)
	}
	started := p.ID
	calls := callsOfEveryTool(r.home, started)
	// These tools look for their process before the call. Without a process, there is nothing to
	// allow.
	lookUp := []string{"stop_daemon", "get_daemon_output"}
	session := r.serveClient(nil)
	for _, rules := range []string{`default = "deny"`, "default = \"ask\"\nask_timeout = \"1ms\""} {
		r.writePolicy(rules)
		for _, tool := range r.tools {
			args, known := calls[tool.Name]
			if known == slices.Contains(lookUp, tool.Name) {
				t.Errorf("%s is tried here: %v", tool.Name, known)
			}
			if text, failed := r.callAsClient(session, tool.Name, args); known && (!failed || !strings.Contains(text, "call "+tool.Name+": not allowed: ")) {
				t.Errorf("%s with %s: %q", tool.Name, rules, text)
			}
		}
	}
	if left, err := os.ReadDir(r.home); err != nil || len(left) != 1 {
		t.Errorf("the folder has %v, %v", left, err)
	}
	if got, err := os.ReadFile(filepath.Join(r.home, "there")); err != nil || string(got) != "old" {
		t.Errorf("the file says %q, %v", got, err)
	}
	out, err := api.ProcessList.Call(t.Context(), r.userClient(), api.ProcessListInput{})
	if err != nil || len(out.Processes) != 1 || out.Processes[0].State.Ended() {
		t.Errorf("there are %+v, %v", out.Processes, err)
	}
	lines, _ := r.waitForAudit(2 * len(calls))
	for _, line := range lines {
		if !strings.HasSuffix(line, " denied") {
			t.Errorf("the audit log has %q", line)
		}
	}
}

// Adding or removing a rule affects the next call.
func TestRuleChangeAppliesToNextCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	session := r.serveClient(nil)
	for i := range 6 {
		forbidden := i%2 == 1
		r.writePolicy(map[bool]string{true: "default = \"deny\"", false: "default = \"allow\""}[forbidden])
		if text, failed := r.callAsClient(session, "exec", object{"command": "true"}); failed != forbidden {
			t.Fatalf("call %d: %q", i, text)
		}
	}
}

func TestRulesMatchCommandPathAndToolName(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.All)
	r.writePolicy(careful)
	session := r.serveClient(nil)
	kept := filepath.Join(r.home, "kept")
	if err := os.Mkdir(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool string
		args object
		want string
	}{
		{"exec", object{"command": "true && sh -c 'sudo rm -rf " + kept + "'"}, "nothing is lost here"},
		{"execute-command", object{"command": []string{"/bin/rm", "-rf", kept}}, "nothing is lost here"},
		{"execute_command", object{"command": []string{"rm", "-rf", kept}}, "nothing is lost here"},
		{"shell_cmd", object{"command": "r\\m -rf " + kept}, "nothing is lost here"},
		{"run_terminal_command", object{"command": "echo $(rm -rf " + kept + ")"}, "nothing is lost here"},
		{"termux_run_shell", object{"command": "rm -rf " + kept}, "nothing is lost here"},
		{"process_start", object{"command": "rm -rf " + kept}, "nothing is lost here"},
		{"start_interactive_shell", object{"startup_commands": []string{"true", "rm -rf " + kept}}, "nothing is lost here"},
		{"session_start", object{"command": "rm -rf " + kept}, "nothing is lost here"},
		{"session_write", object{"id": "any", "text": "r", "keys": []string{"m", "space", "-", "r", "f", "enter"}}, "nothing is lost here"},
		{"read", object{"path": "/etc/passwd"}, "rule 3"},
		{"exec", object{"command": "cat < /etc/passwd"}, "rule 3"},
		{"save-to-file", object{"absolutePath": "/etc/history"}, "rule 3"},
		{"session_kill", object{"id": "any"}, "rule 4"},
	} {
		text, failed := r.callAsClient(session, c.tool, c.args)
		if !failed || !strings.HasPrefix(text, "call "+strings.ReplaceAll(c.tool, "execute_command", "execute-command")+": not allowed: ") ||
			!strings.Contains(text, c.want) {
			t.Errorf("%s %v: %q", c.tool, c.args, text)
		}
	}
	if text, failed := r.callAsClient(session, "exec", object{"command": "echo 'rm -rf x'"}); failed || !strings.HasPrefix(text, "rm -rf x\n") {
		t.Errorf("a word that is no command: %q", text)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}

func TestSessionCommandIsJudgedInSessionFolder(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.All)
	r.writePolicy(careful)
	session := r.serveClient(nil)
	started, err := api.SessionStart.Call(t.Context(), r.agent.Engine, api.SessionStartInput{Command: []string{"sh"}, CWD: "/etc"})
	if err != nil {
		t.Fatal(err)
	}
	text, failed := r.callAsClient(session, "session_exec", object{"id": started.ID, "command": "cat ./passwd"})
	if !failed || !strings.Contains(text, "/etc/passwd") {
		t.Errorf("failed %v: %s", failed, text)
	}
}

func TestAllowedRequestRunsTheCall(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.writePolicy(careful)
	session := r.serveClient(nil)
	push := object{"command": "echo pushed; true git push; git push --help >/dev/null || true"}
	for _, c := range []struct {
		answer api.RequestAnswerInput
		want   string
	}{
		{api.RequestAnswerInput{Reason: "not on main"}, "the user denied it: not on main"},
		{api.RequestAnswerInput{Allow: true}, "pushed\n"},
		{api.RequestAnswerInput{Allow: true, Always: true}, "pushed\n"},
	} {
		told := make(chan string, 1)
		go func() {
			text, _ := r.callAsClient(session, "exec", push)
			told <- text
		}()
		request := r.waitForRequest()
		if request.Actor != "agent:tester/7" || request.Tool != "exec" || request.Command != push["command"] || request.CWD != r.home {
			t.Errorf("the user is asked %+v", request)
		}
		c.answer.ID = request.ID[:6]
		r.answerRequest(c.answer)
		if text := <-told; !strings.Contains(text, c.want) {
			t.Errorf("%+v: %q, want %q", c.answer, text, c.want)
		}
	}
	if text, failed := r.callAsClient(session, "exec", push); failed || !strings.Contains(text, "pushed\n") {
		t.Errorf("what is always allowed: %q", text)
	}
	if lines, _ := r.waitForAudit(4); !cmp.Equal(lines, []string{"exec denied", "exec ok", "exec ok", "exec ok"}) {
		t.Errorf("the audit log has %v", lines)
	}
}

func TestAgentCannotAnswerItsOwnRequest(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.writePolicy(careful)
	session := r.serveClient(nil)
	told := make(chan bool, 1)
	go func() {
		_, failed := r.callAsClient(session, "exec", object{"command": "git push"})
		told <- failed
	}()
	request := r.waitForRequest()
	_, err := api.RequestAnswer.Call(t.Context(), r.agent.Engine, api.RequestAnswerInput{ID: request.ID, Allow: true})
	if api.AsError(err).Code != api.CodeForbidden {
		t.Errorf("an agent answers: %v", err)
	}
	r.answerRequest(api.RequestAnswerInput{ID: request.ID})
	if !<-told {
		t.Error("it was allowed")
	}
}

func TestUnansweredRequestIsDenied(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.writePolicy("default = \"ask\"\nask_timeout = \"1s\"")
	text, failed := r.callAsClient(r.serveClient(nil), "exec", object{"command": "true"})
	if !failed || !strings.Contains(text, "nobody answered the request within 1s") {
		t.Errorf("%q", text)
	}
}

func TestAllowingARequestCoversOneProcess(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.writePolicy("[[rule]]\ndecision = \"ask\"\ntool = [\"process?stop\"]")
	session := r.serveClient(nil)
	for i, name := range []string{"one", "two"} {
		p, err := api.ProcessStart.Call(t.Context(), r.userClient(), api.ProcessStartInput{Command: []string{"sleep", "1000"}, Name: name, CWD: "/"})
		if err != nil {
			t.Fatal(err)
		}
		stopped := make(chan bool, 1)
		go func() {
			_, failed := r.callAsClient(session, "process_stop", object{"id": name})
			stopped <- !failed
		}()
		request := r.waitForRequest()
		if want := name + " (" + p.ID + ")"; request.Session != want {
			t.Errorf("the user is asked about %q, want %q", request.Session, want)
		}
		r.answerRequest(api.RequestAnswerInput{ID: request.ID, Allow: i == 0, Always: true})
		if got := <-stopped; got != (i == 0) {
			t.Errorf("%s was stopped: %v", name, got)
		}
	}
}

func TestCancelledCallWithdrawsItsRequest(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.writePolicy(careful)
	session := r.serveClient(nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "exec", Arguments: object{"command": "git push"}})
		done <- err
	}()
	r.waitForRequest()
	cancel()
	if <-done == nil {
		t.Error("the call has an answer")
	}
	r.waitForRequests(0)
}

func TestAgentsProgramAsksItsUser(t *testing.T) {
	t.Parallel()
	for _, version := range []string{withHandshake, toolkit.WithoutSessions} {
		t.Run(version, func(t *testing.T) { testProgramAsks(t, version) })
	}
}

func testProgramAsks(t *testing.T, version string) {
	r := newRig(t, toolkit.Native)
	r.writePolicy(careful)
	var asked string
	answer := &sdk.ElicitResult{Action: "accept", Content: object{"allow": true}}
	session := serveClient(t, *r.agent.Options, version, &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		asked = req.Params.Message
		return answer, nil
	}})
	push := object{"command": "echo pushed; : || git push"}
	if text, failed := r.callAsClient(session, "exec", push); failed || !strings.HasPrefix(text, "pushed\n") {
		t.Errorf("allowed: %q", text)
	}
	if !strings.HasPrefix(asked, `tester/7 wants to call exec: "echo pushed; : || git push" in "`+r.home) || !strings.Contains(asked, "rule 2 of policy.toml") {
		t.Errorf("the user is asked %q", asked)
	}
	for _, no := range []*sdk.ElicitResult{{Action: "decline"}, {Action: "accept", Content: object{"allow": false}}} {
		answer = no
		if text, failed := r.callAsClient(session, "exec", push); !failed || !strings.Contains(text, "the user denied it") {
			t.Errorf("%+v: %q", no, text)
		}
	}
	r.waitForRequests(0)
}

func TestNoElicitKeepsQuestionsInDashboard(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.writePolicy(strings.Replace(careful, "20s", "10ms", 1))
	r.agent.Options.NoElicit = true
	for _, version := range []string{withHandshake, toolkit.WithoutSessions} {
		session := serveClient(t, *r.agent.Options, version, &sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			t.Errorf("%s: the program was asked", version)
			return &sdk.ElicitResult{Action: "accept", Content: object{"allow": true}}, nil
		}})
		if text, failed := r.callAsClient(session, "exec", object{"command": ": || git push"}); !failed || !strings.Contains(text, "nobody answered") {
			t.Errorf("%s: %q", version, text)
		}
	}
}

func TestAuditLogNamesActorsAndHidesSecrets(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.writePolicy(careful)
	session := r.serveClient(nil)
	r.callAsClient(session, "exec", object{"command": "API_TOKEN=abc123 true"})
	r.callAsClient(session, "env_set", object{"key": "MY_SECRET", "value": "abc123"})
	r.callAsClient(session, "exec", object{"command": "rm -rf /"})
	r.callAsClient(session, "exec", object{"command": "exit 3"})
	lines, entries := r.waitForAudit(4)
	if want := []string{"exec ok", "env_set ok", "exec denied", "exec error"}; !cmp.Equal(lines, want) {
		t.Errorf("the audit log has %v, want %v", lines, want)
	}
	for _, e := range entries {
		if e.Actor != "agent:tester/7" || e.Client == "" || e.Time.IsZero() {
			t.Errorf("who did it: %+v", e)
		}
	}
	text, err := os.ReadFile(filepath.Join(r.dir, "audit.jsonl"))
	if err != nil || strings.Contains(string(text), "abc123") {
		t.Errorf("%v in %s", err, text)
	}
}

// newHTTPSite serves the rig's engine to agents over HTTP.
func (r *rig) newHTTPSite(change func(*toolkit.Options)) *site {
	r.Helper()
	o := *r.agent.Options
	if change != nil {
		change(&o)
	}
	tokens, err := parseTokens(masterToken + " name=master\n")
	if err != nil {
		r.Fatal(err)
	}
	return newSiteWith(r, o, fixedKeyring(tokens), r.dir)
}

// callOperation calls an engine operation over HTTP.
func (s *site) callOperation(name, body string) (status int, answer string) {
	s.Helper()
	status, answer, _ = s.sendRequest(http.MethodPost, "/v1/"+name, body, "Authorization", "Bearer "+masterToken)
	return status, answer
}

func TestPolicyAppliesToOperationsOverHTTP(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.writePolicy(careful)
	s := r.newHTTPSite(nil)
	for _, c := range []struct {
		name, body string
		want       int
		says       string
	}{
		{"exec", `{"command":["rm","-rf","x"]}`, 403, "not allowed: rm -rf x: nothing is lost here"},
		{"exec", `{"Command":["rm","-rf","x"]}`, 403, "nothing is lost here"},
		{"exec", `{"command":["true"],"command":["rm","-rf","x"]}`, 403, "nothing is lost here"},
		{"exec", `{"command":["sh","-c","rm -rf x"]}`, 403, "nothing is lost here"},
		{"session.start", `{"command":["rm","-rf","x"]}`, 403, "nothing is lost here"},
		{"process.start", `{"command":["true"],"ready":{"command":["rm","-rf","x"]}}`, 403, "nothing is lost here"},
		{"session.exec", `{"id":"a","command":"rm -rf x"}`, 403, "nothing is lost here"},
		{"session.write", `{"id":"a","text":"rm -rf x\n"}`, 403, "nothing is lost here"},
		{"process.write", `{"id":"a","text":"rm -rf x\n"}`, 403, "nothing is lost here"},
		{"files.read", `{"path":"/etc/passwd"}`, 403, "rule 3"},
		{"files.read", `{"path":"%2Fetc/passwd","escaped":true,"base":"/"}`, 403, "rule 3"},
		{"files.list", `{"base":"/etc/ssl"}`, 403, "rule 3"},
		{"files.transfer", `{"kind":"copy","items":[{"path":"a","to":"../../etc/b"}],"base":"/tmp/c"}`, 403, "rule 3"},
		{"history.save", `{"path":"/etc/history"}`, 403, "rule 3"},
		{"session.kill", `{"id":"a"}`, 403, "rule 4"},
		{"engine.stop", `{"replace":"/bin/true"}`, 403, "only the user can"},
		{"files.read", `{"path":"/proc/version"}`, 403, "outside the allowed folders"},
		{"files.read", `{"path":"/proc/version","roots":["/"]}`, 403, "outside the allowed folders"},
		{"exec", `{"command":["echo","ok"]}`, 200, `"stdout":"ok\n"`},
		{"exec", `{"commands":["echo"]}`, 400, `unknown field \"commands\"`},
		{"exec", `{`, 400, "not JSON"},
		{"no.such", ``, 404, "no such operation"},
	} {
		if got, answer := s.callOperation(c.name, c.body); got != c.want || !strings.Contains(answer, c.says) {
			t.Errorf("%s %s: status %d: %s", c.name, c.body, got, answer)
		}
	}
	lines, entries := r.waitForAudit(19)
	if lines[0] != "exec denied" || lines[17] != "files.read denied" || lines[18] != "exec ok" {
		t.Errorf("the audit log has %v", lines)
	}
	if e := entries[len(entries)-1]; e.Actor != "agent:http-master" || !cmp.Equal(e.Arguments["command"], []any{"rm", "-rf", "x"}) {
		t.Errorf("%+v", e)
	}
}

func TestUserIsAskedAboutAnOperation(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.writePolicy(careful)
	s := r.newHTTPSite(nil)
	told := make(chan string, 1)
	go func() {
		_, answer := s.callOperation("exec", `{"command":["git","push","--help"],"actor":"person"}`)
		told <- answer
	}()
	request := r.waitForRequest()
	if request.Actor != "agent:http-master" || request.Tool != "exec" || request.Command != "git push --help" {
		t.Errorf("the user is asked %+v", request)
	}
	r.answerRequest(api.RequestAnswerInput{ID: request.ID, Allow: true})
	if answer := <-told; !strings.Contains(answer, `"actor":"agent:http-master"`) {
		t.Errorf("%s", answer)
	}
}

func TestUsersSandboxAppliesToOperationsOverHTTP(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	out := filepath.Join(t.TempDir(), "out")
	s := r.newHTTPSite(func(o *toolkit.Options) { o.Sandbox = &api.Sandbox{} })
	for _, body := range []string{
		`{"command":["sh","-c","echo x > ` + out + `"]}`,
		`{"command":["sh","-c","echo x > ` + out + `"],"sandbox":{"filesystem":{"allowWrite":["/"]}}}`,
	} {
		if got, answer := s.callOperation("exec", body); got == 200 && strings.Contains(answer, `"exit_code":0`) {
			t.Errorf("%s: %s", body, answer)
		}
		if _, err := os.Stat(out); err == nil {
			t.Fatalf("%s has written", body)
		}
	}
}
