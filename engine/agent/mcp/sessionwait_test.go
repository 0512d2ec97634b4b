package mcp

import (
	"strings"
	"testing"

	"tandem/engine/agent/mcp/toolkit"
)

func TestSessionWaitReturnsUnseenOutput(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	script, step := r.stepScript("echo started", "echo finished")
	r.createFile("job", script+" echo last; read x")
	r.callChecked("session_start", object{"name": "sh", "command": "sh"})
	r.callChecked("session_write", object{"id": "sh", "text": "sh job", "enter": true, "wait_ms": 0})
	step()
	r.waitForScreen("sh", "^started$")
	text, facts := r.callChecked("session_wait", object{"id": "sh", "output": "^started$"})
	if facts["met"] != "output" || !strings.HasPrefix(text, "Met: output.\n") || strings.Count(text, "started") != 1 {
		t.Errorf("session_wait gives %q, %v", text, facts)
	}
	if text, facts := r.callChecked("session_wait", object{"id": "sh", "output": "started", "timeout_ms": 1}); facts["met"] != "" || text != "Timed out; it is running." {
		t.Errorf("what was given counts again: %q, %v", text, facts)
	}
	step()
	r.callExpecting("session_wait", object{"id": "sh"}, "Met: input.\nfinished\nlast\n")
	if text, _ := r.callChecked("session_read", object{"id": "sh"}); text != "[nothing new, waits for input]" {
		t.Errorf("what session_wait gave is given again: %q", text)
	}
}

func TestSessionWriteReportsRunningProgram(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	r.callChecked("session_start", object{"name": "pause", "command": "stty -echo; read x; sleep 1.2; printf 'Again: '; read x; exec sleep 1000"})
	text, facts := r.callChecked("session_write", object{"id": "pause", "text": "wrong", "enter": true, "wait_ms": 60_000})
	if facts["waits"] != "secret" || !strings.HasSuffix(text, "Again: \n[waits for secret]") {
		t.Errorf("after a pause: %q, %v", text, facts)
	}
	r.callExpecting("session_write", object{"id": "pause", "text": "word", "enter": true, "wait_ms": 100}, "[still running; session_wait waits for it]")
	r.callExpecting("session_write", object{"id": "pause", "text": "word", "enter": true, "wait_ms": 0}, "Typed.")
}
