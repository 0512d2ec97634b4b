package mcp

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"tandem/engine/mcp/toolkit"
)

func TestASessionGivesTheEndsOfLongOutput(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.write("lines", manyLines())
	r.write("one", "begin "+strings.Repeat("x", 5000)+" end\n")
	r.facts("session_start", object{"name": "sh", "command": "sh"})
	text := r.bounded("session_exec", object{"id": "sh", "command": "head -n 2000 lines"}, 4300, "line 0 x", " left out: session_read since=", "line 1999 x")
	_, how, _ := strings.Cut(text, "session_read since=")
	var since int64
	if _, err := fmt.Sscan(strings.Fields(how)[0], &since); err != nil {
		t.Fatal(err)
	}
	if again, _ := r.facts("session_read", object{"id": "sh", "since": since}); !strings.Contains(again, "line 100 x") {
		t.Errorf("session_read since %d gives %.200s", since, again)
	}
	if all, _ := r.facts("session_exec", object{"id": "sh", "command": "cat lines", "max_output": 1 << 20}); !strings.Contains(all, "line 4000 x") {
		t.Errorf("with max_output, session_exec gives %.200s", all)
	}
	if text, _ := r.facts("session_exec", object{"id": "sh", "command": "cat one"}); len(text) > 1100 || !strings.HasPrefix(text, "begin x") || !strings.HasSuffix(text, " end\n") || !strings.Contains(text, "x[4011 bytes left out]x") {
		t.Errorf("of a long line session_exec gives %q", text)
	}
	r.bounded("session_write", object{"id": "sh", "text": "cat lines lines", "enter": true}, 2000, " bytes before this: session_read since=", "line 7999 x")
}

func TestExecGivesTheEndsOfLongOutput(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	r.write("lines", manyLines())
	for _, command := range []string{"cat lines", "cat lines lines lines"} {
		answer := r.call("exec", object{"command": command})
		text := said(answer)
		if len(text) > 4300 || !strings.HasPrefix(text, "line 0 x") || !strings.Contains(text, "\n... (") || !strings.Contains(text, " chars truncated from stdout)\nline ") ||
			!strings.HasSuffix(text, "\nExit code: 0\nAll of it: process_log id="+answer.Process+" since=0") {
			t.Errorf("exec gives %d bytes: %.300s … %s", len(text), text, text[max(0, len(text)-300):])
		}
	}
	r.write("one", "begin "+strings.Repeat("x", 5000)+" end\n")
	answer := r.call("exec", object{"command": "cat one"})
	if text := said(answer); len(text) > 1200 || !strings.HasPrefix(text, "begin x") || !strings.Contains(text, "x[4011 bytes left out]x") || !strings.HasSuffix(text, "process_log id="+answer.Process+" since=0") {
		t.Errorf("of a long line exec gives %q", text)
	}
	r.plain("exec", object{"command": "cat one", "maxOutput": 10000}, "begin "+strings.Repeat("x", 5000)+" end\n")
}

func TestOfALineThatIsDrawnOverTheLastStateIsGiven(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	bar := `for i in 1 2 3; do printf 'step %s\r' $i; done; printf 'built\r\n'; printf 'err\rwarned\n' >&2`
	r.plain("exec", object{"command": bar}, "built\r\nstderr:\nwarned\n")
	r.call("process_start", object{"command": bar, "name": "bar"})
	r.ended("bar")
	if text, _ := r.facts("process_log", object{"id": "bar"}); text != "built\nwarned\n[exit code 0]" {
		t.Errorf("process_log gives %q", text)
	}
	p := r.process("bar")
	if b, err := os.ReadFile(p.LogPath); err != nil || !strings.Contains(string(b), "step 1\rstep 2\r") {
		t.Errorf("the log has %q, %v", b, err)
	}
}
