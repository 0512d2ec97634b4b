package requests

import (
	"os"
	"regexp"
	"strings"
	"tandem/engine/api"
	"tandem/ui/cli/output"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestNotesEscapeControlCharacters(t *testing.T) {
	var said strings.Builder
	out := output.Printer{Stderr: &said, Stdout: os.Stdout}
	out.Tell("%s and %s", "a\x1b[2J", "b\u009b")
	if want := "a^[[2J and b\\u009b\n"; said.String() != want {
		t.Errorf("%q, want %q", said.String(), want)
	}
	hostile := api.AuditEntry{Outcome: "\x1b[2J", Tool: "\x1b[2J", Operation: "\x1b[2J", Actor: "\x1b[2J", Arguments: map[string]any{"command": "\x1b[2J"}}
	table := auditTable(out, []api.AuditEntry{hostile}, true)
	if strings.Contains(table, "\x1b") {
		t.Errorf("%q", table)
	}
}

func TestAuditTableShowsUnfinishedCallsAndOperations(t *testing.T) {
	out := output.Printer{Stdout: os.Stdout}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	list := []api.AuditEntry{
		{Time: at, Actor: "agent:a", Tool: "exec", Operation: "process.start", Outcome: "started", Arguments: map[string]any{"command": []any{"make", "all"}}},
		{Time: at, Actor: "agent:a", Tool: "ls", Operation: "files.list", Outcome: "ok", DurationMS: 12.4, Arguments: map[string]any{"path": "src"}},
	}
	for operations, want := range map[bool]string{
		false: "WHEN WHO TOOL OUTCOME TOOK WITH\n2026-01-02 03:04:05 a exec unfinished make all\n2026-01-02 03:04:05 a ls ok 12ms src\n",
		true: "WHEN WHO TOOL OPERATION OUTCOME TOOK WITH\n2026-01-02 03:04:05 a exec process.start unfinished make all\n" +
			"2026-01-02 03:04:05 a ls files.list ok 12ms src\n",
	} {
		got := regexp.MustCompile(` +`).ReplaceAllString(auditTable(out, list, operations), " ")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("operations %v: %s", operations, diff)
		}
	}
}
