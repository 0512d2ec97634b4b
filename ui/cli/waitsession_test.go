package cli

import (
	"strings"
	"testing"

	"tandem/engine/api"
)

func TestWaitSupportsSessionConditions(t *testing.T) {
	r := newRecRig(t)
	calls := 0
	r.seen = func(in api.SessionWaitInput) api.SessionWaitOutput {
		out := api.SessionWaitOutput{NextCursor: 40, Process: api.Process{Name: in.ID, State: api.StateRunning}}
		if calls++; calls == 1 && in.Output != "" {
			return out // not met by the first call
		}
		switch {
		case in.Output != "":
			out.Met, out.Text = "output", "do\x1bne"
		case in.Screen != "":
			out.Process.State = api.StateExited
		case in.Input:
			out.Met, out.Secret = "input", true
		case in.Prompt:
			out.Met = "prompt"
		}
		return out
	}
	if got := r.succeeds("wait", "build", "--output", "do.ne"); got != "do^[ne\n" {
		t.Errorf("--output prints %q", got)
	}
	if last := r.waits[1]; len(r.waits) != 2 || last.Since == nil || *last.Since != 40 {
		t.Errorf("the second call is %+v", last)
	}
	if got := r.succeeds("wait", "build", "--input"); got != "build: waits for a secret\n" {
		t.Errorf("--input prints %q", got)
	}
	if got := r.succeeds("wait", "build", "--prompt", "--exit", "--idle", "2s"); got != "build: is at its prompt\n" {
		t.Errorf("--prompt prints %q", got)
	}
	if last := r.waits[len(r.waits)-1]; !last.Exit || last.IdleMS != 2000 {
		t.Errorf("asked for %+v", last)
	}
	if _, stderr, status := r.run("wait", "build", "--screen", "x"); status != 1 || !strings.Contains(stderr, "it exited") {
		t.Errorf("of an exited session: status %d, %q", status, stderr)
	}
	for _, args := range [][]string{{"--screen", "("}, {"--output", "["}, {"--input", "--ready"}, {"--prompt", "--log", "x"}} {
		if _, _, status := r.run(append([]string{"wait", "build"}, args...)...); status != 2 {
			t.Errorf("%q: status %d, want 2", args, status)
		}
	}
}
