package mcp

import (
	"strings"
	"testing"

	"tandem/engine/agent/mcp/toolkit"
)

// callTextOnly calls a tool whose result must be just this text.
func (r *rig) callTextOnly(name string, args object, want string) {
	r.Helper()
	answer := r.call(name, args)
	if resultText(answer) != want || answer.Structured != nil || answer.Failed {
		r.Errorf("%s of %v gives %q, %v, failed %v; want %q alone", name, args, resultText(answer), answer.Structured, answer.Failed, want)
	}
}

func TestSuccessfulCommandReturnsOnlyItsOutput(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	r.callTextOnly("exec", object{"command": "echo out"}, "out\n")
	r.callTextOnly("exec", object{"command": "echo out; echo no >&2"}, "out\nstderr:\nno\n")
	r.callTextOnly("exec", object{"command": "true"}, "Exit code: 0")
	if failed := r.call("exec", object{"command": "echo out; exit 3"}); resultText(failed) != "out\nExit code: 3" || !failed.Failed {
		t.Errorf("exec gives %q", resultText(failed))
	}
	cut := r.call("exec", object{"command": "seq 100000"})
	if text := resultText(cut); !strings.HasSuffix(text, "\n100000\nExit code: 0\nAll of it: process_log id="+cut.Process+" since=0") {
		t.Errorf("exec gives %s", text[max(0, len(text)-200):])
	}
	if text := resultText(r.call("process_log", object{"id": cut.Process, "since": 0})); !strings.HasPrefix(text, "1\n2\n") {
		t.Errorf("process_log gives %.100s", text)
	}
	r.call("session_start", object{"name": "sh", "command": "sh"})
	r.callTextOnly("session_exec", object{"id": "sh", "command": "echo out"}, "out\n")
	r.callTextOnly("session_exec", object{"id": "sh", "command": "true"}, "[exit code 0]")
}

func TestSearchesCutLongLinesAroundTheMatch(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	r.createFile("min.js", strings.Repeat("a", 3000)+"NEEDLE"+strings.Repeat("b", 3000))
	want := "[2900 bytes left out]" + strings.Repeat("a", 100) + "NEEDLE" + strings.Repeat("b", 100) + "[2900 bytes left out]"
	r.callTextOnly("grep", object{"pattern": "needle", "ignoreCase": true}, "min.js:1:"+want)
	_, facts := r.callChecked("process_start", object{"command": "cat min.js", "wait": object{}})
	if text := resultText(r.call("process_log", object{"id": facts["id"], "grep": "NEEDLE"})); text != "0: "+want {
		t.Errorf("process_log gives %d bytes: %.300s", len(text), text)
	}
}

func TestEmptySearchesSayWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	r.createFile("found/text", "needle\n")
	r.createFile("binary/data", "\x00needle\n")
	r.createFile("none/text", "hay\n")
	for path, want := range map[string]string{
		"found":       "found/text:1:needle",
		"none":        "No matches found. Hidden and ignored files are left out; name one to search it.",
		"none/text":   "No matches found.",
		"binary":      "No matches found. Left out: hidden and ignored files, and 1 binary; name one to search it.",
		"binary/data": "binary/data: binary file matches",
	} {
		r.callTextOnly("grep", object{"pattern": "needle", "path": path}, want)
	}
	r.callTextOnly("grep", object{"pattern": "absent", "path": "binary/data"}, "No matches found.")
	r.callTextOnly("find", object{"pattern": "*.absent"}, "No files found. Ignored files are left out; name their folder to search it.")
}

func TestReadOfEmptyFileSaysSo(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	r.createFile("none", "")
	r.callTextOnly("read", object{"path": "none"}, "[empty file]")
}

// The model's service rejects a conversation with an empty block.
func TestResultsHaveNoEmptyText(t *testing.T) {
	t.Parallel()
	for _, actor := range []string{"agent:tester/1", "agent:claude-code/2", "agent:cursor/1"} {
		f := &toolkit.Agent{Actor: actor}
		r := toolkit.Text("")
		r.Content = append(r.Content, toolkit.Text("[exit code 1]").Content...)
		for _, r := range []toolkit.Result{r, r.AsFailure(), r.WithFacts(object{"code": 1}), toolkit.Text("").WithFacts(object{})} {
			got, err := toolkit.Encode(toolResult(f.FitToClient(r, withHandshake)))
			if err != nil || strings.Contains(string(got), `"text":""`) || strings.Contains(string(got), `"text":"\n`) {
				t.Errorf("%s gets %s, %v", actor, got, err)
			}
		}
	}
}

func TestModelGetsEveryFactOnce(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	for _, client := range []string{"agent:claude-code/2", "agent:cursor/1"} {
		model := &toolkit.Agent{Actor: client}
		check := func(name string, args object, want string) {
			t.Helper()
			got := model.FitToClient(r.call(name, args), withHandshake)
			if resultText(got) != want || got.Structured != nil {
				t.Errorf("%s: %s of %v gives %q and %s, want %q alone", client, name, args, resultText(got), toolkit.JSONText(got.Structured), want)
			}
		}
		sh, web := "sh-"+client[6:9], "web-"+client[6:9]
		r.callChecked("process_start", object{"name": web, "command": "echo up; exec sleep 1000"})
		check("process_wait", object{"id": web, "log": "up"}, "Met: log.\nup")
		check("process_log", object{"id": web}, "[nothing new, running]")
		r.callChecked("session_start", object{"name": sh, "command": "sh"})
		r.call("session_exec", object{"id": sh, "command": "false"})
		check("session_exec", object{"id": sh, "command": "false"}, "[exit code 1]")
		if moved := model.FitToClient(r.call("session_exec", object{"id": sh, "command": "cd / && false"}), withHandshake); !strings.Contains(toolkit.JSONText(toolResult(moved)), `"cwd`) {
			t.Errorf("session_exec in another folder gives %s", toolkit.JSONText(toolResult(moved)))
		}
		check("session_exec", object{"id": sh, "command": "read x"}, "[waits for input]")
		check("session_write", object{"id": sh, "keys": []string{"enter"}}, "\n[waits for the next command]")
		check("session_wait", object{"id": sh, "prompt": true}, "Met: prompt.")
		check("session_read", object{"id": sh}, "[nothing new, waits for the next command]")
	}
}

func TestResultsOmitDefaultFields(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	_, facts := r.callChecked("exec", object{"command": "sleep 1000", "timeoutMs": 100})
	duration, ok := facts["durationMs"].(float64)
	if !ok || duration != float64(int64(duration)) || facts["timedOut"] != true {
		t.Errorf("exec gives %v", facts)
	}
	id := facts["id"].(string)
	if text := resultText(r.call("process_list", nil)); !strings.HasPrefix(text, id+"  ") || strings.Contains(text, "keepAlive") || strings.Contains(text, "restarts") {
		t.Errorf("process_list gives %q", text)
	}
	r.call("session_start", object{"name": "sh", "command": "sh"})
	_, facts = r.callChecked("session_exec", object{"id": "sh", "command": "false"})
	if duration := facts["duration_ms"].(float64); duration != float64(int64(duration)) || facts["timed_out"] != nil || facts["dropped"] != nil {
		t.Errorf("session_exec gives %v", facts)
	}
	if _, facts = r.callChecked("session_exec", object{"id": "sh", "command": "read x"}); facts["waits"] != "input" || facts["method"] != nil {
		t.Errorf("session_exec of a question gives %v", facts)
	}
}
