package mcp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/profiles/plugin"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

// stepScript returns a script running commands one after the other, each once step is called.
func (r *rig) stepScript(words ...string) (script string, step func()) {
	script = fmt.Sprintf(`step() { until [ -e "%s/step$1" ]; do sleep 0.01; done; }; `, r.home)
	for i, word := range words {
		script += fmt.Sprintf("step %d; %s; ", i, word)
	}
	next := 0
	return script, func() {
		r.Helper()
		if err := os.WriteFile(filepath.Join(r.home, fmt.Sprint("step", next)), nil, 0o600); err != nil {
			r.Fatal(err)
		}
		next++
	}
}

// runPastTimeout runs a command past its timeout; it keeps running as a process.
func (r *rig) runPastTimeout(command string) (text string, state plugin.CommandState) {
	r.Helper()
	answer := r.call("exec", object{"command": command, "timeoutMs": 1000})
	state, ok := answer.Structured.(plugin.CommandState)
	if !ok || !state.TimedOut {
		r.Fatalf("exec gives %q, %+v", resultText(answer), answer.Structured)
	}
	return resultText(answer), state
}

func TestOutputAfterTimeoutIsReadFromBothStreams(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	script, step := r.stepScript("echo three >&2", "echo four", "exit 7")
	text, state := r.runPastTimeout("echo one; echo two >&2; " + script)
	want := "one\nstderr:\ntwo\nTimed out after 1000 ms; it continues as process " + state.ID + ". process_wait waits for it; process_log returns later output."
	if text != want || state.NextCursor == nil || *state.NextCursor != (toolkit.Cursor{At: 4, Stderr: 4, Split: true}) {
		t.Errorf("exec says %q, %+v; want %q", text, state.NextCursor, want)
	}
	log := func(args object) (string, object) {
		t.Helper()
		if args == nil {
			args = object{}
		}
		args["id"] = state.ID
		return r.callChecked("process_log", args)
	}
	if text, facts := log(nil); text != "[nothing new, running]" || facts["next_cursor"] != "4+4" {
		t.Errorf("what exec gave is given again: %q, %v", text, facts)
	}
	step()
	if text, facts := log(object{"wait_ms": 60_000}); text != "three\n[running]" || facts["next_cursor"] != "4+10" {
		t.Errorf("of standard error: %q, %v", text, facts)
	}
	step()
	if text, _ := log(object{"wait_ms": 60_000}); text != "four\n[running]" {
		t.Errorf("of standard output: %q", text)
	}
	step()
	r.waitForExit(state.ID)
	for _, c := range []struct {
		args object
		want string
	}{
		{nil, "[nothing new, exit code 7]"},
		{object{"since": state.NextCursor}, "three\nfour\n[exit code 7]"},
		{object{"since": "4+4"}, "three\nfour\n[exit code 7]"},
		{object{"since": 4}, "four\n[exit code 7]"},
		{object{"since": 0}, "one\ntwo\nthree\nfour\n[exit code 7]"},
		{object{"since": "0"}, "one\ntwo\nthree\nfour\n[exit code 7]"},
		{object{"since": -11}, "three\nfour\n[exit code 7]"},
		{object{"since": 0, "stream": "stderr"}, "two\nthree\n[exit code 7]"},
		{object{"since": 4, "stream": "stderr"}, "three\n[exit code 7]"},
		{object{"since": "4+4", "stream": "stdout"}, "four\n[exit code 7]"},
		{object{"tail": 2}, "three\nfour\n[exit code 7]"},
		{object{"tail": 1, "stream": "stderr"}, "three\n[exit code 7]"},
		{object{"grep": "^t"}, "stderr 0: two\nstderr 4: three"},
		{object{"grep": "o", "since": "4+0"}, "stderr 0: two\n4: four"},
		{object{"grep": "o", "stream": "stdout"}, "0: one\n4: four"},
	} {
		if text, _ := log(c.args); text != c.want {
			t.Errorf("%v gives %q, want %q", c.args, text, c.want)
		}
	}
}

func TestProcessLogReturnsNewOutputUnlessSinceIsGiven(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	script, step := r.stepScript("echo two", "echo three")
	started := r.call("process_start", object{"command": "echo one; " + script + "exec sleep 600", "name": "web"})
	if started.Failed {
		t.Fatal(resultText(started))
	}
	for _, word := range []string{"one", "two", "three"} {
		if text, _ := r.callChecked("process_log", object{"id": "web", "wait_ms": 60_000}); text != word+"\n[running]" {
			t.Errorf("it gives %q, want %s", text, word)
		}
		if word != "three" {
			step()
		}
	}
	other := toolkit.Agent{Engine: r.agent.Engine}
	if out, err := other.ReadOutput(t.Context(), r.getProcess("web").ID, toolkit.OutputQuery{Max: 100}); err != nil || out.Text != "one\ntwo\nthree\n" {
		t.Errorf("another agent gets %q, %v", out.Text, err)
	}
	r.callChecked("process_log", object{"id": "web", "grep": "two"})
	if text, _ := r.callChecked("process_log", object{"id": "web"}); text != "[nothing new, running]" {
		t.Errorf("after a search: %q", text)
	}
	if text, _ := r.callChecked("process_log", object{"id": "web", "since": 0, "max_output": 4}); text != "one\n[running, 10 more bytes]" {
		t.Errorf("from the start: %q", text)
	}
	if text, _ := r.callChecked("process_log", object{"id": "web"}); text != "two\nthree\n[running]" {
		t.Errorf("it goes on with %q", text)
	}
}

func TestProcessLogReturnsEndOfMuchNewOutput(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	_, state := r.runPastTimeout("for i in $(seq 1000); do echo out $i; echo err $i >&2; done; exec sleep 600")
	in := api.ProcessWaitInput{ID: state.ID, Log: "err 1000", Stream: "stderr", TimeoutMS: int(wait.Timeout.Milliseconds())}
	if out, err := api.ProcessWait.Call(t.Context(), r.agent.Engine, in); err != nil || out.Met != "log" {
		t.Fatalf("%+v, %v", out, err)
	}
	r.callChecked("process_log", object{"id": state.ID, "since": 0, "max_output": 6})
	text, _ := r.callChecked("process_log", object{"id": state.ID, "max_output": 100})
	p := r.getProcess(state.ID)
	whole := 0
	for _, path := range []string{p.LogPath, p.ErrorLogPath} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		whole += int(info.Size())
	}
	note, given, _ := strings.Cut(text, "\n")
	given = strings.TrimSuffix(given, "[running]")
	want := fmt.Sprintf("[%d earlier bytes left out; since \"5+0\" returns them]", whole-5-len(given))
	if note != want || !strings.HasSuffix(given, " 1000\n") || toolkit.JSONSize(given) > 100 {
		t.Errorf("it gives %q, want %q", text, want)
	}
	if text, _ := r.callChecked("process_log", object{"id": state.ID}); text != "[nothing new, running]" {
		t.Errorf("and then %q", text)
	}
}

func TestProcessWaitReturnsNewOutputAfterExit(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	script, step := r.stepScript("echo two >&2", "echo end; exit 3")
	_, state := r.runPastTimeout("echo one; " + script)
	if text, facts := r.callChecked("process_wait", object{"id": state.ID, "log": "two", "since": "4+0", "timeout_ms": 1}); facts["met"] != "" || strings.Contains(text, "one") {
		t.Errorf("while it runs: %q, %v", text, facts)
	}
	step()
	if text, facts := r.callChecked("process_wait", object{"id": state.ID, "log": "^two$", "stream": "stderr", "since": 0}); facts["met"] != "log" || !strings.HasSuffix(text, "\ntwo") {
		t.Errorf("a line of standard error: %q, %v", text, facts)
	}
	step()
	if text, facts := r.callChecked("process_wait", object{"id": state.ID}); facts["met"] != "exit" || facts["exit_code"] != 3.0 || !strings.HasSuffix(text, "exit code 3.\nend") {
		t.Errorf("its end: %q, %v", text, facts)
	}
	if text, _ := r.callChecked("process_wait", object{"id": state.ID}); !strings.HasSuffix(text, "exit code 3.") {
		t.Errorf("its end once more: %q", text)
	}
}

func TestLogResourceHasBothStreams(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	script, step := r.stepScript("echo two >&2")
	session := r.serveClient(nil)
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "exec", Arguments: object{"command": "echo one; " + script + "exec sleep 600", "timeoutMs": 1000}})
	if err != nil {
		t.Fatal(err)
	}
	var facts struct{ ID string }
	b, err := json.Marshal(result.StructuredContent)
	if err == nil {
		err = json.Unmarshal(b, &facts)
	}
	if err != nil {
		t.Fatal(err)
	}
	step()
	in := api.ProcessWaitInput{ID: facts.ID, Log: "two", TimeoutMS: int(wait.Timeout.Milliseconds())}
	if out, err := api.ProcessWait.Call(t.Context(), r.agent.Engine, in); err != nil || out.Met != "log" {
		t.Fatalf("%+v, %v", out, err)
	}
	read, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "tandem://process/" + facts.ID + "/log"})
	if err != nil || len(read.Contents) != 1 || read.Contents[0].Text != "one\ntwo\n" {
		t.Errorf("the resource has %+v, %v", read, err)
	}
}
