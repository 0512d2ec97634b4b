package cli

import (
	"strings"
	"testing"

	"tandem/engine/api"
)

func TestAStartWhoseEngineWasLostIsAskedForAgainUnderItsID(t *testing.T) {
	r := newRig(t)
	r.lost, r.start = true, api.Process{ID: "0123456789ab", Name: "x", State: api.StateRunning}
	if stdout := r.succeeds("start", "x"); stdout != "0123456789ab\n" {
		t.Errorf("started: %q", stdout)
	}
	if len(r.begun) != 2 || r.begun[0].ID == "" || r.begun[0].ID != r.begun[1].ID {
		t.Errorf("asked for %+v", r.begun)
	}
	r.lost, r.execution = true, api.ExecOutput{Stdout: "out\n", Process: api.Process{Name: "x", State: api.StateExited, ExitCode: code(9)}}
	if stdout, stderr, status := r.run("exec", "x"); status != 9 || stdout != "out\n" {
		t.Errorf("it went on: status %d, %q, %q", status, stdout, stderr)
	}
	if len(r.ran) != 2 || r.ran[0].ID == "" || r.ran[0].ID != r.ran[1].ID {
		t.Errorf("ran %+v", r.ran)
	}
}

func TestStartPassesTheStopSignal(t *testing.T) {
	r := newRig(t)
	r.succeeds("start", "--stop-signal", "INT", "x")
	if got := r.begun[0].StopSignal; got != "INT" {
		t.Errorf("stop signal is %q, want INT", got)
	}
	if out, _, _ := r.run("__complete", "start", "--stop-signal", ""); !strings.Contains(out, "USR1") {
		t.Errorf("completed with %q", out)
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
