package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
)

// hit returns a line of a session or process found by a search.
func hit(id string, offset int64, text string) api.OutputHit {
	zero := 0
	return api.OutputHit{ID: id, Name: "name-" + id, Kind: "process", Actor: "person", State: api.StateExited, ExitCode: &zero,
		Time: time.Now().Add(-time.Hour), LogMatch: api.LogMatch{Offset: offset, Text: text}}
}

func TestSearchPrintsHitsByWhatPrintedThem(t *testing.T) {
	r := newRig(t)
	status := 2
	made := hit("a", 90, "\x1b[31mno\x1b[0m\x1b]0;title\a rule\x07")
	made.State, made.ExitCode, made.Kind, made.Rough = api.StateRunning, nil, "session", true
	made.Run = &api.Command{ID: 7, Command: "make\nall", Actor: "agent:claude/1", ExitCode: &status}
	made.Before, made.After = []string{"before"}, []string{"after\x1b[2J"}
	failed := hit("b", 5, "no 1")
	failed.Stream = "stderr"
	cursor := &api.OutputCursor{ID: "a"}
	r.found = []api.OutputSearchOutput{{Hits: []api.OutputHit{made}, Cursor: cursor}, {Hits: []api.OutputHit{failed, hit("b", 3, "no 2")}}}
	want := "name-a  make all, agent:claude/1, ~1h ago, exited 2\n  before\n  no rule^G\n  after\n\n" +
		"name-b (stderr)  person, 1h ago, exited 0\n  no 1\n\nname-b  person, 1h ago, exited 0\n  no 2\n"
	if diff := cmp.Diff(want, r.succeeds("search", "no", "--name", "x", "--failed", "-C", "1")); diff != "" {
		t.Error(diff)
	}
	first, second := r.searches[0], r.searches[1]
	if first.Text != "no" || !first.Regexp || first.Exact || first.Name != "x" || !first.Failed || first.Context != 1 || first.Limit != 100 || first.Cursor != nil {
		t.Errorf("asked for %+v", first)
	}
	if second.Limit != 99 || second.Cursor == nil || second.Cursor.ID != "a" {
		t.Errorf("then for %+v", second)
	}
}

func TestSearchPrintsRepeatedHitsOnce(t *testing.T) {
	r := newRig(t)
	cursor := &api.OutputCursor{}
	var answer api.OutputSearchOutput
	for _, offset := range []int64{20, 10, 40, 30, 20, 10, 5, 50, 40, 5} {
		answer.Hits = append(answer.Hits, hit("a", offset, fmt.Sprint("at ", offset)))
	}
	answer.Cursor = cursor
	r.found = []api.OutputSearchOutput{answer, {}}
	var printed []string
	for line := range strings.Lines(r.succeeds("search", "at", "--json")) {
		var h api.OutputHit
		if err := json.Unmarshal([]byte(line), &h); err != nil {
			t.Fatal(err)
		}
		printed = append(printed, h.Text)
	}
	if diff := cmp.Diff([]string{"at 20", "at 10", "at 40", "at 30", "at 5", "at 50"}, printed); diff != "" {
		t.Error(diff)
	}
}

func TestSearchExitStatusTellsWhetherAnythingIsFound(t *testing.T) {
	one := api.OutputSearchOutput{Hits: []api.OutputHit{hit("a", 0, "x")}, Cursor: &api.OutputCursor{}}
	for line, c := range map[string]struct {
		found  api.OutputSearchOutput
		status int
		stderr string
	}{
		"x":             {found: api.OutputSearchOutput{Skipped: 2}, status: 1, stderr: "2 logs could not be read"},
		"x -n 1":        {found: one, stderr: "stopped after the newest 1"},
		"(":             {status: 2, stderr: "missing closing )"},
		"( -F":          {status: 1},
		"x --kind y":    {status: 2, stderr: "must be session, process or exec"},
		"x -C -1":       {status: 2, stderr: "must be 0 or more lines"},
		"x -n -1":       {status: 2, stderr: "must be 0 or more lines"},
		"x --since now": {status: 2, stderr: "must be a time"},
		"":              {status: 2, stderr: "search for what?"},
	} {
		r := newRig(t)
		r.found = []api.OutputSearchOutput{c.found}
		if _, stderr, status := r.run(append([]string{"search"}, strings.Fields(line)...)...); status != c.status || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%q: status %d, %s", line, status, stderr)
		}
	}
}
