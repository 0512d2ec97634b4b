package mcp

import (
	"strings"
	"testing"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

func TestRulesMatchTheNameGivenByTheUser(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.writePolicy("default = \"deny\"\n[[rule]]\ndecision = \"allow\"\nagent = [\"ci\", \"tester*\"]")
	if text, failed := r.callAsClient(r.serveClient(nil), "exec", object{"command": "true"}); !failed {
		t.Errorf("it has said who it is, and may: %s", text)
	}
	r.agent.Options.Name = "ci"
	session := r.serveClient(nil)
	if text, failed := r.callAsClient(session, "exec", object{"command": "true"}); failed {
		t.Errorf("the user has named it, and it may not: %s", text)
	}
	_, entries := r.waitForAudit(2)
	if e := entries[0]; e.Actor != "agent:tester/7" || e.Agent != "ci" {
		t.Errorf("the audit log has %+v", e)
	}
	r.writePolicy("default = \"ask\"\nask_timeout = \"20s\"")
	done := make(chan bool)
	go func() {
		_, failed := r.callAsClient(session, "exec", object{"command": "true"})
		done <- failed
	}()
	request := r.waitForRequest()
	if request.Actor != "agent:tester/7" || request.Agent != "ci" {
		t.Errorf("the user is asked %+v", request)
	}
	r.answerRequest(api.RequestAnswerInput{ID: request.ID, Allow: true, Always: true})
	if <-done {
		t.Error("it was refused")
	}
	r.agent.Options.Name = "other"
	r.writePolicy("default = \"ask\"\nask_timeout = \"1ms\"")
	if text, failed := r.callAsClient(r.serveClient(nil), "exec", object{"command": "true"}); !failed {
		t.Errorf("what one agent may always, another may that has another name: %s", text)
	}
}

// Such a variable could run a different program than the one seen by the rules and the user.
func TestProgramChoosingVariablesAreJudged(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.All)
	r.writePolicy("[[rule]]\ndecision = \"deny\"\ncommand = [\"env PATH=*\", \"env LD_PRELOAD=*\", \"env BASH_ENV=*\"]\nreason = \"no detours\"")
	session := r.serveClient(nil)
	for name, env := range map[string]object{"PATH": {"PATH": "/tmp"}, "LD_PRELOAD": {"HOME": "/", "LD_PRELOAD": "x.so"}, "BASH_ENV": {"BASH_ENV": "/tmp/rc"}} {
		for tool, args := range map[string]object{
			"exec": {"command": "git status | cat"}, "process_start": {"command": "git status"},
			"session_start": {}, "local_run_shell": {"command": "git status"}, "termux_run_shell": {"command": "git status"},
			"local_shell_session": {"action": "start"}, "termux_shell_session": {"action": "start", "session_id": "x"},
		} {
			args["env"] = env
			if text, failed := r.callAsClient(session, tool, args); !failed || !strings.Contains(text, "env "+name+"=") || !strings.Contains(text, "no detours") {
				t.Errorf("%s with %s: %s", tool, name, text)
			}
		}
	}
	if text, failed := r.callAsClient(session, "exec", object{"command": "true", "env": object{"GREETING": "hi"}}); failed {
		t.Errorf("a variable that chooses nothing: %s", text)
	}
	s := r.newHTTPSite(nil)
	for name, body := range map[string]string{
		"exec": `{"command":["git","status"],"env":{"PATH":"/tmp"}}`, "session.start": `{"environ":{"PATH":"/tmp"}}`,
		"process.start": `{"command":["git"],"env":{"LD_PRELOAD":"x"},"ready":{"command":["true"]}}`,
	} {
		if status, answer := s.callOperation(name, body); status != 403 || !strings.Contains(answer, "no detours") {
			t.Errorf("%s: status %d: %s", name, status, answer)
		}
	}
}

func TestAgentSetsOwnVariablesButNotProgramChoosingOnes(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.All)
	if got := r.call("env_set", object{"key": "GREETING", "value": "hi", "client": false}); got.Failed {
		t.Fatal(resultText(got))
	}
	if out, err := api.EnvList.Call(t.Context(), r.userClient(), api.EnvListInput{}); err != nil || len(out.Variables) != 0 {
		t.Errorf("the user has %+v, %v", out.Variables, err)
	}
	if got := resultText(r.call("exec", object{"command": "echo $GREETING"})); !strings.HasPrefix(got, "hi\n") {
		t.Errorf("what it starts: %s", got)
	}
	want := "status: error\nerror_code: FORBIDDEN\nmessage: \"set PATH: it decides which programs run, so agents may set it only inside a sandbox; " +
		"put it before the command that needs it: PATH=… command\"\n"
	if got := resultText(r.call("env_set", object{"key": "PATH", "value": "/tmp"})); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, tool := range r.tools {
		if strings.HasPrefix(tool.Name, "env_") && strings.Contains(string(toolkit.InputSchema(tool.In)), "client") {
			t.Errorf("%s: %s", tool.Name, toolkit.InputSchema(tool.In))
		}
	}
	if got := r.call("env_unset", object{"key": "GREETING", "client": true}); got.Failed {
		t.Error(resultText(got))
	}
}
