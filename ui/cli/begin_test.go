package cli

import (
	"strings"
	"testing"

	"tandem/engine/api"
)

func TestStartIsRetriedWithSameIDAfterEngineLoss(t *testing.T) {
	r := newRig(t)
	r.loseNext, r.start = true, api.Process{ID: "0123456789ab", Name: "x", State: api.StateRunning}
	if stdout := r.succeeds("start", "x"); stdout != "0123456789ab\n" {
		t.Errorf("started: %q", stdout)
	}
	if len(r.starts) != 2 || r.starts[0].ID == "" || r.starts[0].ID != r.starts[1].ID {
		t.Errorf("asked for %+v", r.starts)
	}
	r.loseNext, r.execution = true, api.ExecOutput{Stdout: "out\n", Process: api.Process{Name: "x", State: api.StateExited, ExitCode: code(9)}}
	if stdout, stderr, status := r.run("exec", "x"); status != 9 || stdout != "out\n" {
		t.Errorf("after the loss: status %d, %q, %q", status, stdout, stderr)
	}
	if len(r.execs) != 2 || r.execs[0].ID == "" || r.execs[0].ID != r.execs[1].ID {
		t.Errorf("ran %+v", r.execs)
	}
}

func TestStartPassesTheStopSignal(t *testing.T) {
	r := newRig(t)
	r.succeeds("start", "--stop-signal", "INT", "x")
	if got := r.starts[0].StopSignal; got != "INT" {
		t.Errorf("stop signal is %q, want INT", got)
	}
	if out, _, _ := r.run("__complete", "start", "--stop-signal", ""); !strings.Contains(out, "USR1") {
		t.Errorf("completed with %q", out)
	}
}

func TestStartPassesTheStopTimeout(t *testing.T) {
	r := newRig(t)
	r.succeeds("start", "--stop-timeout", "30s", "--tty", "x")
	if got := r.starts[0]; got.StopTimeoutMS != 30_000 || !got.TTY {
		t.Errorf("asked for %+v", got)
	}
	if out, _, _ := r.run("__complete", "start", "--stop-timeout", ""); !strings.Contains(out, "30s") {
		t.Errorf("completed with %q", out)
	}
	if _, _, status := r.run("start", "--stop-timeout", "soon", "x"); status != 2 {
		t.Errorf("status %d", status)
	}
}
