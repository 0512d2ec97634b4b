package cli

import (
	"strings"
	"testing"

	"tandem/engine/api"
)

func TestStartTellsWhatCameOfItWhenTheEngineWasLost(t *testing.T) {
	r := newRig(t)
	r.lost = true
	stdout, stderr, status := r.run("start", "x")
	if status != 1 || stdout != "" || !strings.Contains(stderr, "start x: it was not started") {
		t.Errorf("not started: status %d, %q, %q", status, stdout, stderr)
	}
	r.now = &api.Process{ID: "0123456789ab", Name: "x", State: api.StateRunning}
	if stdout := r.succeeds("start", "x"); stdout != "0123456789ab\n" {
		t.Errorf("started: %q", stdout)
	}
}

func TestExecWhoseEngineWasLostGoesOnOrHasAStatusOfItsOwn(t *testing.T) {
	r := newRig(t)
	r.lost = true
	_, stderr, status := r.run("exec", "x")
	if status != 125 || !strings.Contains(stderr, "start x: it was not started") {
		t.Errorf("not started: status %d, %q", status, stderr)
	}
	r.now = &api.Process{ID: "0123456789ab", Name: "x", State: api.StateExited, ExitCode: code(9)}
	r.log = logOf("out\n", api.StateExited)
	if stdout, stderr, status := r.run("exec", "x"); status != 9 || stdout != "out\n" {
		t.Errorf("it went on: status %d, %q, %q", status, stdout, stderr)
	}
	if _, stderr, status := r.run("exec", "--json", "x"); status != 125 || !strings.Contains(stderr, "tandem logs") {
		t.Errorf("as JSON: status %d, %q", status, stderr)
	}
}

func TestStartTakesAStopTimeout(t *testing.T) {
	r := newRig(t)
	r.succeeds("start", "--stop-timeout", "30s", "--tty", "x")
	if got := r.begun[0]; got.StopTimeoutMS != 30_000 || !got.TTY {
		t.Errorf("asked for %+v", got)
	}
	if out, _, _ := r.run("__complete", "start", "--stop-timeout", ""); !strings.Contains(out, "30s") {
		t.Errorf("completed with %q", out)
	}
	if _, _, status := r.run("start", "--stop-timeout", "soon", "x"); status != 2 {
		t.Errorf("status %d", status)
	}
}
