package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/tests/wait"
)

// The list keeps the last 200 one-shot commands or a few more. Output of the first ones is found after
// they have left it, also by the next engine, until it is deleted.
func TestOutputOutlivesItsRecord(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	first := call(m, api.Exec, api.ExecInput{Command: sh("echo needle-out; echo needle-err >&2; exit 3")}).Process.ID
	large := call(m, api.Exec, api.ExecInput{Command: sh("seq -f needle-%.0f 100000")}).Process.ID
	for range 230 {
		call(m, api.Exec, api.ExecInput{Command: []string{"true"}})
	}
	m.eventually("output of trimmed records", func() bool {
		list := call(m, api.ProcessList, api.ProcessListInput{}).Processes
		return list[0].ID != first && list[0].ID != large && m.info().KeptOutput.Runs >= 2
	})
	find := func(text string) (hits []api.OutputHit) {
		in := api.OutputSearchInput{Pattern: api.Pattern{Text: text, Exact: true}}
		for {
			out := call(m, api.OutputSearch, in)
			hits = append(hits, out.Hits...)
			if in.Cursor = out.Cursor; in.Cursor == nil {
				return hits
			}
		}
	}
	check := func() {
		t.Helper()
		p := m.getProcess(first)
		if p.State != api.StateExited || p.ExitCode == nil || *p.ExitCode != 3 || p.LogPath != "" {
			t.Errorf("process %+v", p)
		}
		for stream, want := range map[string]string{"": "needle-out\n", "stderr": "needle-err\n"} {
			out := call(m, api.ProcessLog, api.ProcessLogInput{ID: first, Stream: stream})
			if out.Data != want || out.Process == nil || out.Process.ID != first {
				t.Errorf("%q read %q, %+v", stream, out.Data, out.Process)
			}
		}
		both := call(m, api.ProcessLogs, api.ProcessLogsInput{IDs: []string{first}})
		if both.Data != "needle-out\nneedle-err\n" && both.Data != "needle-err\nneedle-out\n" {
			t.Errorf("logs read %+v", both)
		}
		tail := call(m, api.ProcessLog, api.ProcessLogInput{ID: large, Tail: 1})
		if tail.Data != "needle-100000\n" {
			t.Errorf("the last line is %q", tail.Data)
		}
		if hits := find("needle-err"); len(hits) != 1 || hits[0].ID != first || *hits[0].ExitCode != 3 {
			t.Errorf("found %+v", hits)
		}
		if hits := find("needle-99999"); len(hits) != 1 || hits[0].ID != large {
			t.Errorf("found %+v", hits)
		}
	}
	check()
	before := m.info()
	wait.Kill(t, before.EnginePID)
	m.awaitNextEngine(before)
	check()
	for _, id := range []string{first, large} {
		call(m, api.ProcessRemove, api.IDInput{ID: id})
		if _, err := api.ProcessLog.Call(context.Background(), m.client, api.ProcessLogInput{ID: id}); !errors.Is(err, api.CodeNotFound) {
			t.Errorf("read after the removal: %v", err)
		}
	}
	if hits := find("needle-"); len(hits) > 0 {
		t.Errorf("found after the removal: %s", strings.TrimSpace(hits[0].Text))
	}
}
