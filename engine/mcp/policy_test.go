package mcp

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
	"tandem/engine/mcp/toolkit"
	"tandem/tests/needs"
)

// policy is what the rig's engine follows from now on.
func (r *rig) policy(text string) {
	r.Helper()
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

// served runs a server with the rig's options, and a client of the SDK on it.
func (r *rig) served(client *sdk.ClientOptions) *sdk.ClientSession {
	return served(r, *r.agent.Options, withHandshake, client)
}

// calls calls a tool as an agent's program does.
func (r *rig) calls(session *sdk.ClientSession, tool string, args object) (text string, failed bool) {
	r.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	answer, err := session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		r.Fatal(err)
	}
	return said(toolkit.Result{Content: answer.Content}), answer.IsError
}

// asked waits for the one request that waits for an answer.
func (r *rig) asked() api.Request {
	r.Helper()
	var open []api.Request
	r.eventually("a request", func() bool {
		out, err := api.RequestList.Call(context.Background(), r.person(), api.Empty{})
		open = out.Requests
		return err == nil && len(open) == 1
	})
	return open[0]
}

// open are the requests that wait for an answer.
func (r *rig) open() []api.Request {
	r.Helper()
	out, err := api.RequestList.Call(context.Background(), r.person(), api.Empty{})
	if err != nil {
		r.Fatal(err)
	}
	return out.Requests
}

// answers answers a request as a person does.
func (r *rig) answers(in api.RequestAnswerInput) {
	r.Helper()
	if _, err := api.RequestAnswer.Call(context.Background(), r.person(), in); err != nil {
		r.Error(err)
	}
}

// audited waits for so many lines of the audit log, oldest first: tool and outcome.
func (r *rig) audited(n int) (lines []string, entries []api.AuditEntry) {
	r.Helper()
	r.eventually("the audit log", func() bool {
		out, err := api.AuditList.Call(context.Background(), r.person(), api.AuditListInput{})
		entries = out.Entries
		return err == nil && len(entries) >= n
	})
	for i := len(entries) - 1; i >= 0; i-- {
		lines = append(lines, entries[i].Tool+" "+entries[i].Outcome)
	}
	return lines, entries
}

// The engine judges these calls with what they do, so a refusal has to come
// before anything is done.
func TestNothingOfARefusedCallIsDone(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.All)
	r.file("there", "old")
	p, err := api.ProcessStart.Call(t.Context(), r.agent.Engine, api.ProcessStartInput{Command: []string{"sleep", "1000"}, CWD: "/"})
	if err != nil {
		t.Fatal(err)
	}
	started := p.ID
	calls := map[string]object{
		"read": {"path": "there"}, "read_json": {"path": "there"}, "write": {"path": "made", "content": "x"},
		"edit":         {"path": "there", "edits": []object{{"search": "old", "replace": "new"}}},
		"write_output": {"name": "made", "content": "x"},
		"grep":         {"pattern": "old"}, "find": {"pattern": "*"}, "ls": {},
		"exec": {"command": "echo old > made"}, "process_start": {"command": "echo old > made"},
		"process_list": {}, "machine_list": {}, "process_get": {"id": started}, "process_stop": {"id": started}, "process_stop_all": {},
	}
	session := r.served(nil)
	for _, rules := range []string{`default = "deny"`, "default = \"ask\"\nask_timeout = \"1ms\""} {
		r.policy(rules)
		for _, tool := range r.tools {
			args, known := calls[tool.Name]
			if tool.Judged != known {
				t.Errorf("%s is judged: %v, tried here: %v", tool.Name, tool.Judged, known)
			}
			if !known {
				continue
			}
			if text, failed := r.calls(session, tool.Name, args); !failed || !strings.HasPrefix(text, "call "+tool.Name+": not allowed: ") {
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
	out, err := api.ProcessList.Call(t.Context(), r.agent.Engine, api.ProcessListInput{})
	if err != nil || len(out.Processes) != 1 || out.Processes[0].State.Ended() {
		t.Errorf("there are %+v, %v", out.Processes, err)
	}
	lines, _ := r.audited(2 * len(calls))
	for _, line := range lines {
		if !strings.HasSuffix(line, " denied") {
			t.Errorf("the audit log has %q", line)
		}
	}
}

// A rule counts from the next call on, and so does its end.
func TestARuleCountsFromTheNextCallOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	session := r.served(nil)
	for i := range 6 {
		forbidden := i%2 == 1
		r.policy(map[bool]string{true: "default = \"deny\"", false: "default = \"allow\""}[forbidden])
		if text, failed := r.calls(session, "exec", object{"command": "true"}); failed != forbidden {
			t.Fatalf("call %d: %q", i, text)
		}
	}
}

func TestACallIsRefusedByItsCommandItsPathOrItsName(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.All)
	r.policy(careful)
	session := r.served(nil)
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
		{"read", object{"path": "/etc/passwd"}, "rule 3"},
		{"exec", object{"command": "cat < /etc/passwd"}, "rule 3"},
		{"save-to-file", object{"absolutePath": "/etc/history"}, "rule 3"},
		{"session_kill", object{"id": "any"}, "rule 4"},
	} {
		text, failed := r.calls(session, c.tool, c.args)
		if !failed || !strings.HasPrefix(text, "call "+strings.ReplaceAll(c.tool, "execute_command", "execute-command")+": not allowed: ") ||
			!strings.Contains(text, c.want) {
			t.Errorf("%s %v: %q", c.tool, c.args, text)
		}
	}
	if text, failed := r.calls(session, "exec", object{"command": "echo 'rm -rf x'"}); failed || !strings.HasPrefix(text, "rm -rf x\n") {
		t.Errorf("a word that is no command: %q", text)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}

func TestACommandInASessionIsJudgedInItsFolder(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.All)
	r.policy(careful)
	session := r.served(nil)
	started, err := api.SessionStart.Call(t.Context(), r.agent.Engine, api.SessionStartInput{Command: []string{"sh"}, CWD: "/etc"})
	if err != nil {
		t.Fatal(err)
	}
	text, failed := r.calls(session, "session_exec", object{"id": started.ID, "command": "cat ./passwd"})
	if !failed || !strings.Contains(text, "/etc/passwd") {
		t.Errorf("failed %v: %s", failed, text)
	}
}

func TestWhatThePersonIsAskedHappensOnceTheyAllowIt(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.policy(careful)
	session := r.served(nil)
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
			text, _ := r.calls(session, "exec", push)
			told <- text
		}()
		request := r.asked()
		if request.Actor != "agent:tester/7" || request.Tool != "exec" || request.Command != push["command"] || request.CWD != r.home {
			t.Errorf("the user is asked %+v", request)
		}
		c.answer.ID = request.ID[:6]
		r.answers(c.answer)
		if text := <-told; !strings.Contains(text, c.want) {
			t.Errorf("%+v: %q, want %q", c.answer, text, c.want)
		}
	}
	if text, failed := r.calls(session, "exec", push); failed || !strings.Contains(text, "pushed\n") {
		t.Errorf("what is always allowed: %q", text)
	}
	if lines, _ := r.audited(4); !cmp.Equal(lines, []string{"exec denied", "exec ok", "exec ok", "exec ok"}) {
		t.Errorf("the audit log has %v", lines)
	}
}

func TestAnAgentCannotAnswerItsOwnRequest(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.policy(careful)
	session := r.served(nil)
	told := make(chan bool, 1)
	go func() {
		_, failed := r.calls(session, "exec", object{"command": "git push"})
		told <- failed
	}()
	request := r.asked()
	_, err := api.RequestAnswer.Call(t.Context(), r.agent.Engine, api.RequestAnswerInput{ID: request.ID, Allow: true})
	if api.AsError(err).Code != api.CodeForbidden {
		t.Errorf("an agent answers: %v", err)
	}
	r.answers(api.RequestAnswerInput{ID: request.ID})
	if !<-told {
		t.Error("it was allowed")
	}
}

func TestNobodyAnsweringIsARefusal(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.policy("default = \"ask\"\nask_timeout = \"1s\"")
	text, failed := r.calls(r.served(nil), "exec", object{"command": "true"})
	if !failed || !strings.Contains(text, "nobody has answered the request within 1s") {
		t.Errorf("%q", text)
	}
}

func TestARequestIsAboutOneProcess(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.policy("[[rule]]\ndecision = \"ask\"\ntool = [\"process?stop\"]")
	session := r.served(nil)
	for i, name := range []string{"one", "two"} {
		p, err := api.ProcessStart.Call(t.Context(), r.person(), api.ProcessStartInput{Command: []string{"sleep", "1000"}, Name: name, CWD: "/"})
		if err != nil {
			t.Fatal(err)
		}
		stopped := make(chan bool, 1)
		go func() {
			_, failed := r.calls(session, "process_stop", object{"id": name})
			stopped <- !failed
		}()
		request := r.asked()
		if want := name + " (" + p.ID + ")"; request.Session != want {
			t.Errorf("the user is asked about %q, want %q", request.Session, want)
		}
		r.answers(api.RequestAnswerInput{ID: request.ID, Allow: i == 0, Always: true})
		if got := <-stopped; got != (i == 0) {
			t.Errorf("%s was stopped: %v", name, got)
		}
	}
}

func TestACallThatIsCancelledWithdrawsItsRequest(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.policy(careful)
	session := r.served(nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "exec", Arguments: object{"command": "git push"}})
		done <- err
	}()
	r.asked()
	cancel()
	if <-done == nil {
		t.Error("the call has an answer")
	}
	r.eventually("the end of the request", func() bool {
		out, err := api.RequestList.Call(context.Background(), r.person(), api.Empty{})
		return err == nil && len(out.Requests) == 0
	})
}

func TestAnAgentsProgramAsksItsPerson(t *testing.T) {
	t.Parallel()
	for _, version := range []string{withHandshake, toolkit.WithoutSessions} {
		t.Run(version, func(t *testing.T) { testProgramAsks(t, version) })
	}
}

func testProgramAsks(t *testing.T, version string) {
	r := newRig(t, toolkit.Native)
	r.policy(careful)
	var asked string
	answer := &sdk.ElicitResult{Action: "accept", Content: object{"allow": true}}
	session := served(t, *r.agent.Options, version, &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		asked = req.Params.Message
		return answer, nil
	}})
	push := object{"command": "echo pushed; : || git push"}
	if text, failed := r.calls(session, "exec", push); failed || !strings.HasPrefix(text, "pushed\n") {
		t.Errorf("allowed: %q", text)
	}
	if !strings.HasPrefix(asked, `tester/7 wants to call exec: "echo pushed; : || git push" in `+r.home) || !strings.Contains(asked, "rule 2 of policy.toml") {
		t.Errorf("the user is asked %q", asked)
	}
	for _, no := range []*sdk.ElicitResult{{Action: "decline"}, {Action: "accept", Content: object{"allow": false}}} {
		answer = no
		if text, failed := r.calls(session, "exec", push); !failed || !strings.Contains(text, "the user denied it") {
			t.Errorf("%+v: %q", no, text)
		}
	}
	r.eventually("the end of the requests", func() bool {
		out, err := api.RequestList.Call(context.Background(), r.person(), api.Empty{})
		return err == nil && len(out.Requests) == 0
	})
}

func TestAnAgentsProgramIsNotAskedWhereThePersonDoesNotTrustIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.policy(strings.Replace(careful, "20s", "10ms", 1))
	r.agent.Options.NoElicit = true
	for _, version := range []string{withHandshake, toolkit.WithoutSessions} {
		session := served(t, *r.agent.Options, version, &sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			t.Errorf("%s: the program was asked", version)
			return &sdk.ElicitResult{Action: "accept", Content: object{"allow": true}}, nil
		}})
		if text, failed := r.calls(session, "exec", object{"command": ": || git push"}); !failed || !strings.Contains(text, "nobody has answered") {
			t.Errorf("%s: %q", version, text)
		}
	}
}

func TestTheAuditLogSaysWhoDidWhatWithoutSecrets(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.policy(careful)
	session := r.served(nil)
	r.calls(session, "exec", object{"command": "API_TOKEN=abc123 true"})
	r.calls(session, "env_set", object{"key": "MY_SECRET", "value": "abc123"})
	r.calls(session, "exec", object{"command": "rm -rf /"})
	r.calls(session, "exec", object{"command": "exit 3"})
	r.calls(session, "exec", object{"cmd": "true"})
	lines, entries := r.audited(5)
	if want := []string{"exec ok", "env_set ok", "exec denied", "exec error", "exec error"}; !cmp.Equal(lines, want) {
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

// site is the rig's engine served over HTTP to agents.
func (r *rig) site(change func(*toolkit.Options)) *site {
	r.Helper()
	o := *r.agent.Options
	if change != nil {
		change(&o)
	}
	tokens, err := parseTokens(masterToken + " name=master\n")
	if err != nil {
		r.Fatal(err)
	}
	return siteWith(r, o, keyringOf(tokens), r.dir)
}

// operation calls one of the engine's operations over HTTP.
func (s *site) operation(name, body string) (status int, answer string) {
	s.Helper()
	status, answer, _ = s.send(http.MethodPost, "/v1/"+name, body, "Authorization", "Bearer "+masterToken)
	return status, answer
}

func TestThePolicyHoldsForOperationsOverHTTP(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.policy(careful)
	s := r.site(nil)
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
		if got, answer := s.operation(c.name, c.body); got != c.want || !strings.Contains(answer, c.says) {
			t.Errorf("%s %s: status %d: %s", c.name, c.body, got, answer)
		}
	}
	lines, entries := r.audited(22)
	if lines[0] != "exec denied" || lines[18] != "exec ok" || lines[19] != "exec error" {
		t.Errorf("the audit log has %v", lines)
	}
	if e := entries[len(entries)-1]; e.Actor != "agent:http-master" || !cmp.Equal(e.Arguments["command"], []any{"rm", "-rf", "x"}) {
		t.Errorf("%+v", e)
	}
}

func TestAPersonIsAskedAboutAnOperation(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.policy(careful)
	s := r.site(nil)
	told := make(chan string, 1)
	go func() {
		_, answer := s.operation("exec", `{"command":["git","push","--help"],"actor":"person"}`)
		told <- answer
	}()
	request := r.asked()
	if request.Actor != "agent:http-master" || request.Tool != "exec" || request.Command != "git push --help" {
		t.Errorf("the user is asked %+v", request)
	}
	r.answers(api.RequestAnswerInput{ID: request.ID, Allow: true})
	if answer := <-told; !strings.Contains(answer, `"actor":"agent:http-master"`) {
		t.Errorf("%s", answer)
	}
}

func TestThePersonsSandboxHoldsForOperationsOverHTTP(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	out := filepath.Join(t.TempDir(), "out")
	s := r.site(func(o *toolkit.Options) { o.Sandbox = &api.Sandbox{} })
	for _, body := range []string{
		`{"command":["sh","-c","echo x > ` + out + `"]}`,
		`{"command":["sh","-c","echo x > ` + out + `"],"sandbox":{"filesystem":{"allowWrite":["/"]}}}`,
	} {
		if got, answer := s.operation("exec", body); got == 200 && strings.Contains(answer, `"exit_code":0`) {
			t.Errorf("%s: %s", body, answer)
		}
		if _, err := os.Stat(out); err == nil {
			t.Fatalf("%s has written", body)
		}
	}
}
