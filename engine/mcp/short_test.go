package mcp

import (
	"fmt"
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
