package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/system/keeper"
)

func TestStoppedKeepAliveStaysStoppedUntilARestart(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	p := m.startProcess(api.ProcessStartInput{Command: []string{"cat"}, KeepAlive: true, Restart: &api.Restart{DelayMS: 1}})
	m.child(p).exit(keeper.Exit{Signal: "SIGKILL"})
	m.awaitRun(p, p.PID)
	m.stopProcess(p, "SIGTERM")
	m.restart()
	if now := m.getProcess(p.ID); now.State != api.StateStopped || !now.KeepAlive {
		t.Errorf("became %+v", now)
	}
}

func TestFailingServiceShowsReasonAndLastLines(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	m.keeper.program = func(c *memoryChild) {
		c.print("no database\n")
		c.exit(exitCode(1))
	}
	p := m.startProcess(api.ProcessStartInput{Command: []string{"cat"}, Restart: &api.Restart{Policy: api.PolicyOnFailure, Max: 2, DelayMS: 1}})
	end := m.awaitState(p.ID, api.StateFailed)
	if !strings.Contains(end.Error, "exited with 1") || end.ExitCode == nil || *end.ExitCode != 1 || end.Supervision.Restarts != 2 {
		t.Errorf("failed as %+v", end)
	}
	if lines := end.Supervision.LastLines; len(lines) != 3 || lines[2] != "no database" {
		t.Errorf("last lines %q", lines)
	}
	other := m.startProcess(api.ProcessStartInput{Command: []string{"cat"}, KeepAlive: true, Restart: &api.Restart{DelayMS: 100_000}})
	waiting := m.awaitState(other.ID, api.StateBackoff)
	if s := waiting.Supervision; s.NextStart == nil || len(s.LastLines) != 1 || waiting.Error == "" {
		t.Errorf("in backoff as %+v", waiting)
	}
	if end := call(m.machine, api.ProcessStop, api.ProcessStopInput{ID: other.ID}); end.State != api.StateStopped {
		t.Errorf("stopped as %+v", end)
	}
}

func TestReadinessOutlivesTheEngine(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	p := m.startProcess(api.ProcessStartInput{Command: []string{"cat"}, Ready: &api.Readiness{Log: "^now ready$"}})
	m.child(p).print("starting\n")
	m.restart()
	m.child(p).print("now ready\n")
	if out := call(m.machine, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Ready: true}); out.Met != "ready" || !*out.Process.Supervision.Ready || out.Process.PID != p.PID {
		t.Errorf("waited: %+v", out)
	}
	m.restart()
	if now := m.getProcess(p.ID); !*now.Supervision.Ready {
		t.Error("forgot that it is ready")
	}
}

func TestRestartedTerminalContinuesItsLog(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	m.keeper.program = func(c *memoryChild) { c.print("run " + strconv.Itoa(c.PID) + ".\n") }
	p := m.startProcess(api.ProcessStartInput{Command: []string{"cat"}, TTY: true, KeepAlive: true, Restart: &api.Restart{DelayMS: 1}})
	m.awaitScreen(p.ID, "run ")
	m.child(p).exit(keeper.Exit{Signal: "SIGKILL"})
	c := m.awaitRun(p, p.PID)
	m.awaitScreen(p.ID, "run "+strconv.Itoa(c.PID))
	if log := m.logOf(p); strings.Count(log, "run ") != 2 {
		t.Errorf("the log of both runs is %q", log)
	}
	m.write(p.ID, "hello\r")
	m.awaitScreen(p.ID, "hello")
	if now := m.getProcess(p.ID); now.Kind != api.KindSession || !now.KeepAlive {
		t.Errorf("became %+v", now)
	}
}

func TestSharedVariablesReachStartsAndSurviveTheEngine(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	call(m.machine, api.EnvSet, api.EnvSetInput{Name: "COLOUR", Value: "blue"})
	call(m.machine, api.EnvSet, api.EnvSetInput{Name: "API_TOKEN", Value: "hidden"})
	m.restart()
	p := m.startProcess(api.ProcessStartInput{Command: []string{"cat"}})
	if c := m.child(p); c.variable("COLOUR") != "blue" || c.variable("API_TOKEN") != "hidden" {
		t.Errorf("its environment is %q", c.spec.Env)
	}
	all := call(m.machine, api.EnvList, api.EnvListInput{}).Variables
	if len(all) != 2 || all[0] != (api.EnvVar{Name: "API_TOKEN", Redacted: true}) || all[1].Value != "blue" {
		t.Errorf("%+v", all)
	}
	if v := call(m.machine, api.EnvGet, api.EnvInput{Name: "API_TOKEN", Reveal: true}); v.Value != "hidden" {
		t.Errorf("%+v", v)
	}
	call(m.machine, api.EnvUnset, api.EnvInput{Name: "COLOUR"})
	if _, err := api.EnvGet.Call(t.Context(), m.client, api.EnvInput{Name: "COLOUR"}); !errors.Is(err, api.CodeNotFound) {
		t.Errorf("after unset: %v", err)
	}
	info, err := os.Stat(filepath.Join(m.dir, "env.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestRebootRestartsOnlyProcessesWithAPolicy(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	start := func(name string, in api.ProcessStartInput) api.Process {
		in.Name, in.Command = name, []string{"cat"}
		return m.startProcess(in)
	}
	all := []api.Process{
		start("kept", api.ProcessStartInput{KeepAlive: true}),
		start("always", api.ProcessStartInput{Restart: &api.Restart{Policy: api.PolicyAlways}}),
		start("once", api.ProcessStartInput{}),
	}
	m.stopProcess(start("stopped", api.ProcessStartInput{KeepAlive: true}), "SIGTERM")
	m.reboot()
	for name, want := range map[string]api.State{
		"kept": api.StateRunning, "always": api.StateRunning, "stopped": api.StateStopped, "once": api.StateExited,
	} {
		p := m.awaitState(name, want)
		if want == api.StateExited && !p.ExitUnknown {
			t.Errorf("%s became %+v", name, p)
		}
	}
	for _, old := range all {
		if now := m.getProcess(old.ID); now.PID == old.PID && now.State == api.StateRunning && m.keeper.child(old.ID) == nil {
			t.Errorf("%s has the pid of another boot", old.Name)
		}
	}
}

func TestRestartDelayPassesWithoutAnEngine(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	m.keeper.program = func(c *memoryChild) { c.exit(exitCode(1)) }
	p := m.startProcess(api.ProcessStartInput{Command: []string{"cat"}, KeepAlive: true, Restart: &api.Restart{DelayMS: 300}})
	before := m.awaitState(p.ID, api.StateBackoff)
	m.restart()
	now := m.awaitProcess(p.ID, "restarted", func(p api.Process) bool { return p.Supervision.Restarts > before.Supervision.Restarts })
	if now.Supervision.Restarts > before.Supervision.Restarts+1 {
		t.Errorf("became %+v", now)
	}
}
