package engine

import (
	"errors"
	"testing"

	"tandem/engine/api"
	"tandem/tests/wait"
)

func TestStandardInputSurvivesEngineAndKeeper(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := call(m, api.ProcessStart, api.ProcessStartInput{Command: []string{"/bin/sh"}, Stdin: true})
	if !p.Supervision.Stdin {
		t.Error("nothing says that it reads standard input")
	}
	call(m, api.ProcessWrite, api.ProcessWriteInput{ID: p.ID, Text: "x=remembered; echo first\n"})
	m.eventually("the first line", func() bool { return m.logOf(p) == "first\n" })
	keeper := m.info().KeeperPID
	wait.Kill(m, keeper)
	m.awaitNextKeeper(keeper)
	wait.Kill(m, m.info().EnginePID)
	call(m, api.ProcessWrite, api.ProcessWriteInput{ID: p.ID, Text: "echo $x\n"})
	m.eventually("the second line", func() bool { return m.logOf(p) == "first\nremembered\n" })
	call(m, api.ProcessWrite, api.ProcessWriteInput{ID: p.ID, Text: "exit 3\n"})
	ended := m.awaitEnd(p.ID)
	if ended.ExitCode == nil || *ended.ExitCode != 3 || ended.LastPID != p.PID {
		t.Errorf("it ended with %v, and had the pid %d, not %d", ended.ExitCode, ended.LastPID, p.PID)
	}
	_, err := api.ProcessWrite.Call(t.Context(), m.client, api.ProcessWriteInput{ID: p.ID, Text: "x"})
	if !errors.Is(err, api.CodeEnded) {
		t.Errorf("writing to what has ended: %v", err)
	}
}

func TestInputOfBackgroundProcessIsOpenAndSilent(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	// A program that watches files exits at the end of its input.
	watcher := m.startProcess(api.ProcessStartInput{Command: sh("cat; echo ended"), Name: "watcher"})
	waits := func() bool {
		p := call(m, api.ProcessGet, api.IDInput{ID: watcher.ID})
		return p.WaitsForInput()
	}
	m.eventually("it waits for input", waits)
	keeper := m.info().KeeperPID
	wait.Kill(m, keeper)
	m.awaitNextKeeper(keeper)
	wait.Kill(m, m.info().EnginePID)
	m.eventually("it waits for input after the next engine and keeper started", waits)
	if _, err := api.ProcessWrite.Call(t.Context(), m.client, api.ProcessWriteInput{ID: watcher.ID, Text: "x"}); !errors.Is(err, api.CodeConflict) {
		t.Errorf("writing to it: %v", err)
	}
	call(m, api.ProcessRestart, api.ProcessRestartInput{ID: watcher.ID})
	m.eventually("it waits for input after a restart", waits)
	if log := m.logOf(watcher); log != "" {
		t.Errorf("it printed %q", log)
	}

	for name, in := range map[string]api.ProcessStartInput{"no_stdin": {NoStdin: true}, "transient": {Transient: true}} {
		in.Command = []string{"cat"}
		p := call(m, api.ProcessStart, in)
		if p = m.awaitEnd(p.ID); p.ExitCode == nil || *p.ExitCode != 0 || !p.Supervision.NoStdin {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if out := call(m, api.Exec, api.ExecInput{Command: []string{"cat"}}); out.TimedOut || *out.Process.ExitCode != 0 {
		t.Errorf("exec: %+v", out)
	}
	for _, in := range []api.ProcessStartInput{{Stdin: true}, {TTY: true}} {
		in.NoStdin, in.Command = true, []string{"cat"}
		if _, err := api.ProcessStart.Call(t.Context(), m.client, in); !errors.Is(err, api.CodeInvalid) {
			t.Errorf("%+v: %v", in, err)
		}
	}
}

func TestCommandKeptAsADaemonIsNotForgotten(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	out := call(m, api.Exec, api.ExecInput{Command: []string{"sleep", "1000"}, TimeoutMS: 1, Daemon: &api.Daemon{Lines: 7}})
	if !out.TimedOut || out.Process.Supervision.Transient || out.Process.Supervision.Daemon == nil {
		t.Fatalf("after the time-out it is %+v", out.Process.Supervision)
	}
	wait.Kill(m, m.info().EnginePID)
	p := call(m, api.ProcessGet, api.IDInput{ID: out.Process.ID})
	if p.State != api.StateRunning || p.PID != out.Process.PID || p.Supervision.Daemon.Lines != 7 {
		t.Errorf("after a crash it is %s with pid %d, not %d: %+v", p.State, p.PID, out.Process.PID, p.Supervision)
	}
}

func TestStopUsesTheCallersTimeout(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p := call(m, api.ProcessStart, api.ProcessStartInput{Command: []string{"sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 1000; done"},
		StopTimeoutMS: 3_600_000, Ready: &api.Readiness{Log: "deaf"}})
	call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Ready: true})
	p = call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID, TimeoutMS: 1})
	if p.State != api.StateStopped || p.ExitSignal != "SIGKILL" {
		t.Errorf("it is %s, ended by %q", p.State, p.ExitSignal)
	}
}
