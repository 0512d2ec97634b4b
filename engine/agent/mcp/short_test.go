package mcp

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/tests/needs"
)

func TestSessionExecReturnsBothEndsOfLongOutput(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	r.writeText("lines", longText())
	r.writeText("one", "begin "+strings.Repeat("x", 5000)+" end\n")
	r.callChecked("session_start", object{"name": "sh", "command": "sh"})
	text := r.callWithin("session_exec", object{"id": "sh", "command": "head -n 2000 lines"}, 4300, "line 0 x", " left out: session_read since=", "line 1999 x")
	_, how, _ := strings.Cut(text, "session_read since=")
	var since int64
	if _, err := fmt.Sscan(strings.Fields(how)[0], &since); err != nil {
		t.Fatal(err)
	}
	if again, _ := r.callChecked("session_read", object{"id": "sh", "since": since}); !strings.Contains(again, "line 100 x") {
		t.Errorf("session_read since %d gives %.200s", since, again)
	}
	if all, _ := r.callChecked("session_exec", object{"id": "sh", "command": "cat lines", "max_output": 1 << 20}); !strings.Contains(all, "line 4000 x") {
		t.Errorf("with max_output, session_exec gives %.200s", all)
	}
	if text, _ := r.callChecked("session_exec", object{"id": "sh", "command": "cat one"}); len(text) > 1100 || !strings.HasPrefix(text, "begin x") || !strings.HasSuffix(text, " end\n") || !strings.Contains(text, "x[4011 bytes left out]x") {
		t.Errorf("of a long line session_exec gives %q", text)
	}
	r.callWithin("session_write", object{"id": "sh", "text": "cat lines lines", "enter": true}, 2000, " bytes before this: session_read since=", "line 7999 x")
}

func TestExecReturnsBothEndsOfLongOutput(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	r.writeText("lines", longText())
	for _, command := range []string{"cat lines", "cat lines lines lines"} {
		answer := r.call("exec", object{"command": command})
		text := resultText(answer)
		if len(text) > 4300 || !strings.HasPrefix(text, "line 0 x") || !strings.Contains(text, "\n... (") || !strings.Contains(text, " chars truncated from stdout)\nline ") ||
			!strings.HasSuffix(text, "\nExit code: 0\nAll of it: process_log id="+answer.Process+" since=0") {
			t.Errorf("exec gives %d bytes: %.300s … %s", len(text), text, text[max(0, len(text)-300):])
		}
	}
	r.writeText("one", "begin "+strings.Repeat("x", 5000)+" end\n")
	answer := r.call("exec", object{"command": "cat one"})
	if text := resultText(answer); len(text) > 1200 || !strings.HasPrefix(text, "begin x") || !strings.Contains(text, "x[4011 bytes left out]x") || !strings.HasSuffix(text, "process_log id="+answer.Process+" since=0") {
		t.Errorf("of a long line exec gives %q", text)
	}
	r.callTextOnly("exec", object{"command": "cat one", "max_output": 10000}, "begin "+strings.Repeat("x", 5000)+" end\n")
}

func TestRedrawnLineIsReturnedInItsLastState(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	bar := `for i in 1 2 3; do printf 'step %s\r' $i; done; printf 'built\r\n'; printf 'err\rwarned\n' >&2`
	r.callTextOnly("exec", object{"command": bar}, "built\r\nstderr:\nwarned\n")
	r.call("process_start", object{"command": bar, "name": "bar"})
	r.waitForExit("bar")
	if text, _ := r.callChecked("process_log", object{"id": "bar"}); text != "built\nwarned\n[exit code 0]" {
		t.Errorf("process_log gives %q", text)
	}
	p := r.getProcess("bar")
	if b, err := os.ReadFile(p.LogPath); err != nil || !strings.Contains(string(b), "step 1\rstep 2\r") {
		t.Errorf("the log has %q, %v", b, err)
	}
}

func TestStartRepliesAreShort(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	text, facts := r.callChecked("process_start", object{"command": "exec sleep 1000", "name": "dev"})
	p := r.getProcess("dev")
	if diff := cmp.Diff(object{"id": p.ID, "name": "dev", "pid": float64(p.PID)}, facts); diff != "" || text != "Started dev ("+p.ID+")." {
		t.Errorf("process_start gives %q, %v", text, facts)
	}
	text, facts = r.callChecked("session_start", object{"name": "sh"})
	if diff := cmp.Diff(object{"id": r.getProcess("sh").ID, "name": "sh"}, facts); diff != "" || text != "Started sh ("+r.getProcess("sh").ID+")." {
		t.Errorf("session_start gives %q, %v", text, facts)
	}
	text, facts = r.callChecked("session_start", object{"name": "ask", "command": `echo Hello; printf 'Name? '; read x; echo "got $x"; exit 3`})
	if text != "Started ask ("+r.getProcess("ask").ID+").\nHello\nName? \n[waits for input]" || facts["waits"] != "input" {
		t.Errorf("session_start gives %q, %v", text, facts)
	}
	if text, _ := r.callChecked("session_write", object{"id": "ask", "text": "me", "enter": true}); !strings.HasSuffix(text, "got me\n[exit code 3]") || strings.Contains(text, "Hello") {
		t.Errorf("session_write gives %q", text)
	}
}

func TestSessionWriteOmitsThePrompt(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	r.callChecked("session_start", object{"name": "sh", "command": "sh"})
	r.callChecked("session_exec", object{"id": "sh", "command": "read x"})
	if text, _ := r.callChecked("session_write", object{"id": "sh", "enter": true}); strings.ContainsAny(text, "$#") || !strings.HasSuffix(text, "[waits for the next command]") {
		t.Errorf("session_write gives %q", text)
	}
	text, _ := r.callChecked("session_write", object{"id": "sh", "text": "printf end", "enter": true})
	if strings.ContainsAny(text, "$#") || !strings.HasSuffix(text, "end\n[waits for the next command]") {
		t.Errorf("session_write gives %q", text)
	}
	if text, _ := r.callChecked("session_write", object{"id": "sh", "text": "half"}); !strings.Contains(text, "half") {
		t.Errorf("of a line that is not sent session_write gives %q", text)
	}
}

func TestRepeatedScreenRowsAreCollapsed(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	r.createFile("draw", `stty -icanon -echo; printf '\033[?1049h\033[2J\033[1;1Htop'; for i in 2 3 4 5; do printf '\033[%s;1H~' $i; done; read x; printf '\033[1;1Hnew'; read x`)
	text, _ := r.callChecked("session_start", object{"name": "draw", "command": "sh draw"})
	if !strings.Contains(text, ").\ntop\n~  ×4\n[80x24, ") || !strings.HasSuffix(text, "[waits for input]") {
		t.Errorf("session_start gives %q", text)
	}
	text, _ = r.callChecked("session_write", object{"id": "draw", "enter": true})
	if text != "0: new\n[cursor at column 3 row 0]\n[waits for input]" {
		t.Errorf("session_write gives %q", text)
	}
}

func TestProcessWaitReturnsOnlyNewOutput(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	script, step := r.stepScript("echo two; echo three", "echo four; exit 3")
	r.call("process_start", object{"command": "echo one; " + script, "name": "job"})
	r.callExpecting("process_wait", object{"id": "job", "log": "one"}, "Met: log.\none")
	r.callExpecting("process_wait", object{"id": "job", "log": "one", "since": 0}, "Met: log.\none")
	step()
	r.callExpecting("process_wait", object{"id": "job", "log": "three"}, "Met: log.\ntwo\nthree")
	r.callExpecting("process_log", object{"id": "job"}, "[nothing new, running]")
	r.callExpecting("process_wait", object{"id": "job", "log": "never", "timeout_ms": 1}, "Timed out; it is running.")
	step()
	r.callExpecting("process_wait", object{"id": "job", "log": "never"}, "It exited before that; exit code 3.\nfour")
	r.callExpecting("process_wait", object{"id": "job"}, "Met: exit, exit code 3.")
	r.callChecked("session_start", object{"name": "ask", "command": "sleep 0.1; read x"})
	r.callExpecting("session_wait", object{"id": "ask"}, "Met: input.")
}

// callExpecting calls a tool whose text must be want.
func (r *rig) callExpecting(name string, args object, want string) {
	r.Helper()
	if text, _ := r.callChecked(name, args); text != want {
		r.Errorf("%s of %v gives %q, want %q", name, args, text, want)
	}
}
