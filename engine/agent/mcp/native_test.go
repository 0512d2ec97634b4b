package mcp

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

// callChecked calls a tool that must succeed. It checks the structured content against the tool's
// output type and returns it with the text.
func (r *rig) callChecked(name string, args object) (text string, facts object) {
	r.Helper()
	answer := r.call(name, args)
	if answer.Failed {
		r.Fatalf("%s fails: %s", name, resultText(answer))
	}
	if answer.Structured == nil {
		return resultText(answer), nil
	}
	for _, one := range r.tools {
		if one.Name == name && one.Out != reflect.TypeOf(answer.Structured) {
			r.Errorf("%s gives a %T, and declares %v", name, answer.Structured, one.Out)
		}
	}
	b, err := json.Marshal(answer.Structured)
	if err != nil {
		r.Fatal(err)
	}
	if err := json.Unmarshal(b, &facts); err != nil || facts == nil {
		r.Fatalf("%s gives %s, %v", name, b, err)
	}
	if strings.Contains(string(b), "null") {
		r.Errorf("%s gives null: %s", name, b)
	}
	return resultText(answer), facts
}

func TestSessionToolsStartWriteReadAndKill(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	_, started := r.callChecked("session_start", object{"name": "cat", "command": "cat", "env": object{"A": "b"}, "lease": "session"})
	id := started["id"].(string)
	if p := r.getProcess(id); p.Actor != "agent:test/1" || p.CWD != r.home || p.Owner == nil {
		t.Errorf("started as %+v", p)
	}
	text, wrote := r.callChecked("session_write", object{"id": "cat", "text": "one", "keys": []string{"enter"}, "paste": "two", "enter": true})
	if !strings.Contains(text, "two") || !strings.HasSuffix(text, "[waits for input]") || wrote["waits"] != "input" {
		t.Errorf("session_write says %q, %v", text, wrote)
	}
	wait.Poll(r, "the echo and the cursor", func() (string, bool) {
		text, _ := r.callChecked("session_screen", object{"id": id[:6]})
		return text, strings.Count(text, "two") == 2 && strings.Contains(text, "[80x24, cursor at column 0 row ")
	})
	if again, _ := r.callChecked("session_read", object{"id": id}); !strings.HasPrefix(again, "[nothing new, ") {
		t.Errorf("what session_write gave is given again: %q", again)
	}
	text, read := r.callChecked("session_read", object{"id": "cat", "since": 0})
	if !strings.Contains(text, "one") || !strings.Contains(text, "two") || read["next_cursor"] != read["end"] {
		t.Errorf("session_read gives %q, %v", text, read)
	}
	if again, _ := r.callChecked("session_read", object{"id": id}); !strings.HasPrefix(again, "[nothing new, ") {
		t.Errorf("what was read is given again: %q", again)
	}
	if since, _ := r.callChecked("session_read", object{"id": id, "since": 0, "max_output": 8}); len(since) == 0 || len(since) > 8 {
		t.Errorf("from the start on it gives %q", since)
	}
	if text, _ := r.callChecked("session_list", nil); !strings.Contains(text, id+"  cat  running") {
		t.Errorf("session_list gives %q", text)
	}
	if text, _ := r.callChecked("session_resize", object{"id": id, "cols": 100, "rows": 30}); text != "Its size is 100x30 now." {
		t.Errorf("session_resize says %q", text)
	}
	for range 2 {
		if text, _ := r.callChecked("session_kill", object{"id": id}); !strings.Contains(text, "is stopped") {
			t.Errorf("session_kill says %q", text)
		}
	}
	if text, waited := r.callChecked("session_wait", object{"id": id, "exit": true}); waited["met"] != "exit" || !strings.HasPrefix(text, "Met: exit") {
		t.Errorf("session_wait gives %q, %v", text, waited)
	}
}

func TestSessionExecKeepsShellState(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	r.callChecked("session_start", object{"name": "sh", "command": "sh"})
	r.callChecked("session_exec", object{"id": "sh", "command": "cd /; WORD=kept"})
	text, facts := r.callChecked("session_exec", object{"id": "sh", "command": "echo $WORD; pwd; false"})
	if !strings.HasPrefix(text, "kept\n/\n") || facts["exit_code"] != 1.0 || !strings.Contains(text, "[exit code 1]") {
		t.Errorf("session_exec gives %q, %v", text, facts)
	}
	text, facts = r.callChecked("session_exec", object{"id": "sh", "command": "sleep 600", "timeout_ms": 300})
	if facts["timed_out"] != true || !strings.Contains(text, "still running") {
		t.Errorf("session_exec gives %q, %v", text, facts)
	}
	r.callChecked("session_write", object{"id": "sh", "keys": []string{"ctrl+c"}})
	if text, facts := r.callChecked("session_wait", object{"id": "sh", "prompt": true, "timeout_ms": 60_000}); facts["met"] != "prompt" {
		t.Errorf("session_wait gives %q, %v", text, facts)
	}
}

func TestSessionScreenReturnsImage(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	r.callChecked("session_start", object{"name": "cat", "command": "cat"})
	answer := r.call("session_screen", object{"id": "cat", "format": "png"})
	picture, ok := answer.Content[0].(*sdk.ImageContent)
	if !ok || picture.MIMEType != "image/png" || !strings.HasPrefix(string(picture.Data), "\x89PNG") {
		t.Errorf("session_screen gives %+v", answer)
	}
	if answer := r.call("session_screen", object{"id": "cat", "format": "gif"}); !answer.Failed || !strings.Contains(resultText(answer), "text, ansi or png") {
		t.Errorf("session_screen gives %q", resultText(answer))
	}
}

func TestProcessToolsWaitReadSearchAndRestart(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	started := r.call("process_start", object{"command": "echo first; echo second line; exec sleep 600", "name": "web"})
	if started.Failed {
		t.Fatal(resultText(started))
	}
	if text, facts := r.callChecked("process_wait", object{"id": "web", "log": "^second"}); facts["met"] != "log" || text != "Met: log.\nfirst\nsecond line" {
		t.Errorf("process_wait gives %q, %v", text, facts)
	}
	if text, facts := r.callChecked("process_wait", object{"id": "web", "timeout_ms": 1}); facts["met"] != "" || !strings.HasPrefix(text, "Timed out") {
		t.Errorf("process_wait gives %q, %v", text, facts)
	}
	if text, _ := r.callChecked("process_log", object{"id": "web"}); text != "[nothing new, running]" {
		t.Errorf("what process_wait gave is given again: %q", text)
	}
	text, facts := r.callChecked("process_log", object{"id": "web", "since": 0})
	if text != "first\nsecond line\n[running]" || facts["next_cursor"] != 18.0 {
		t.Errorf("process_log gives %q, %v", text, facts)
	}
	if text, _ := r.callChecked("process_log", object{"id": "web", "since": 6}); text != "second line\n[running]" {
		t.Errorf("process_log gives %q", text)
	}
	if text, _ := r.callChecked("process_log", object{"id": "web", "grep": "LINE|line", "context": 1}); text != "  first\n6: second line" {
		t.Errorf("process_log finds %q", text)
	}
	if text, _ := r.callChecked("process_log", object{"id": "web", "grep": "nowhere"}); text != "No line matches." {
		t.Errorf("process_log finds %q", text)
	}
	before := r.getProcess("web").PID
	if text, _ := r.callChecked("process_restart", object{"id": "web"}); !strings.Contains(text, "is running") || r.getProcess("web").PID == before {
		t.Errorf("process_restart says %q", text)
	}
	for _, name := range []string{"process_log", "process_wait", "process_restart", "session_read", "session_kill"} {
		if answer := r.call(name, object{"id": "nobody"}); !answer.Failed || !strings.Contains(resultText(answer), "nobody") {
			t.Errorf("%s of nobody gives %q", name, resultText(answer))
		}
	}
}

func TestHistoryListsCommands(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	r.call("exec", object{"command": "exit 3"})
	wait.Watch(r, "the command in the history", r.userClient().Watch, func() (string, bool) {
		text, _ := r.callChecked("history", object{"failed": true, "actor": "agent"})
		return text, strings.Contains(text, "exit 3  ") && strings.HasSuffix(text, "  exit 3")
	})
	r.call("process_start", object{"command": "sleep 1000", "name": "nap"})
	r.call("process_stop", object{"id": "nap"})
	wait.Watch(r, "the end of what was stopped", r.userClient().Watch, func() (string, bool) {
		text, _ := r.callChecked("history", object{"query": "sleep"})
		return text, strings.Contains(text, "  stopped  ")
	})
	if text, _ := r.callChecked("history", object{"query": "'no-such-command"}); text != "Nothing found." {
		t.Errorf("history gives %q", text)
	}
}

func TestLockedKeyboardErrorNamesItsCodeOnce(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	_, started := r.callChecked("session_start", object{"name": "cat", "command": "cat"})
	person, err := r.connect(t.Context(), "dashboard", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer person.Close()
	for _, take := range []bool{true, false} {
		if _, err := api.SessionKeyboard.Call(t.Context(), person, api.SessionKeyboardInput{ID: started["id"].(string), Take: take}); err != nil {
			t.Fatal(err)
		}
		answer := r.call("session_write", object{"id": "cat", "text": "x"})
		if answer.Failed != take || take && (!strings.HasPrefix(resultText(answer), "locked_by_user: ") || strings.Count(resultText(answer), "locked_by_user") != 1) {
			t.Errorf("taken %v: %q", take, resultText(answer))
		}
	}
}

func TestSessionExecReportsSessionExit(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	for command, want := range map[string]string{"exit 3": "[exit code 3; ", "exit 0": "[exit code 0; "} {
		name := strings.ReplaceAll(command, " ", "-")
		r.callChecked("session_start", object{"name": name, "command": "bash --norc"})
		text := resultText(r.call("session_exec", object{"id": name, "command": command}))
		if !strings.Contains(text, want) || !strings.HasSuffix(text, "the session exited]") {
			t.Errorf("%s: session_exec returned %q", command, text)
		}
	}
}

func TestStartInDeletedFolderSuggestsCwd(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	if err := os.RemoveAll(r.home); err != nil {
		t.Fatal(err)
	}
	for tool, args := range map[string]object{"exec": {"command": "pwd"}, "session_start": {"command": "sh"}, "process_start": {"command": "sleep 1000"}} {
		if text := resultText(r.call(tool, args)); !strings.Contains(text, "no such file or directory") || !strings.Contains(text, "cwd") {
			t.Errorf("%s returned %q", tool, text)
		}
		args["cwd"] = "/"
		if result := r.call(tool, args); result.Failed {
			t.Errorf("%s in / returned %q", tool, resultText(result))
		}
	}
}

func TestOutputSearchFindsLinesOfAllThatTheAgentMayRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.call("process_start", object{"command": "echo needle 1; sleep 1000", "name": "web"})
	r.waitForLog("web", "needle 1")
	r.call("session_start", object{"command": "echo a; echo needle 2; echo b; sleep 1000", "name": "shell"})
	r.waitForScreen("shell", "needle 2")
	for _, c := range []struct {
		rules string
		args  object
		want  []string // in this order
	}{
		{"", object{"pattern": "needle [0-9]$"}, []string{"shell (", "agent:", "running", ": needle 2\n", "web (", ": needle 1"}},
		{"", object{"pattern": "needle", "limit": 1}, []string{": needle 2\n", "[older lines not searched; narrow pattern or name]"}},
		{"", object{"pattern": "needle", "name": "w*"}, []string{"web (", ": needle 1"}},
		{"", object{"pattern": "needle", "name": "shell", "context": 1}, []string{"  a\n", ": needle 2\n", "  b"}},
		{"", object{"pattern": "NEEDLE"}, []string{"Nothing found."}},
		{"[[rule]]\ntool = [\"session_read\"]\ndecision = \"deny\"\n", object{"pattern": "needle"}, []string{"web (", ": needle 1\n", "[1 sessions and processes left out"}},
		{"[[rule]]\ntool = [\"process.log\"]\ndecision = \"ask\"\n", object{"pattern": "needle"}, []string{"shell (", ": needle 2\n", "[1 sessions and processes left out"}},
	} {
		r.writePolicy("default = \"allow\"\n" + c.rules)
		text, _ := r.callChecked("output_search", c.args)
		rest := text
		for _, want := range c.want {
			_, after, ok := strings.Cut(rest, want)
			if !ok {
				t.Errorf("with %v and rules %q: %q is missing in\n%s", c.args, c.rules, want, text)
			}
			rest = after
		}
		if n := strings.Count(text, "needle "); n > 2 || strings.Contains(text, "left out") && n != 1 {
			t.Errorf("with %v and rules %q:\n%s", c.args, c.rules, text)
		}
	}
	if answer := r.call("output_search", object{"pattern": "a("}); !answer.Failed || !strings.Contains(resultText(answer), "missing closing )") {
		t.Errorf("an invalid pattern gives %q", resultText(answer))
	}
}
