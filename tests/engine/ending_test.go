package engine

import (
	"errors"
	"testing"

	"tandem/engine/api"
)

// startLeaving starts a command that exits and leaves a child running, and returns the child's PID.
func (m *machine) startLeaving(in api.ProcessStartInput, state api.State) (p api.Process, child int) {
	m.Helper()
	in.Command, in.CWD = []string{"bash", "-c", `(setsid sh -c 'echo child $$; exec sleep 1000' &) ; sleep 0.1; exit 1`}, m.TempDir()
	p = m.startProcess(in)
	m.awaitOutput(p, "child ")
	child = m.printedNumbers(p, "child")[0]
	m.awaitState(p.ID, state)
	if !isRunning(child) {
		m.Fatal("the process that was left has ended")
	}
	return p, child
}

func TestStopInBackoffKillsRemainsOfTheLastRun(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p, child := m.startLeaving(api.ProcessStartInput{Restart: &api.Restart{Policy: api.PolicyAlways, DelayMS: 100_000}}, api.StateBackoff)
	end := call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID})
	if end.State != api.StateStopped || end.ExitCode == nil || *end.ExitCode != 1 || isRunning(child) {
		t.Errorf("answered %+v; what was left lives: %v", end, isRunning(child))
	}
}

func TestStopOfAnEndedProcessKillsItsRemains(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p, child := m.startLeaving(api.ProcessStartInput{}, api.StateExited)
	if _, err := api.ProcessStop.Call(t.Context(), m.client, api.ProcessStopInput{ID: p.ID}); err != nil || isRunning(child) {
		t.Errorf("error %v; what was left lives: %v", err, isRunning(child))
	}
	if _, err := api.ProcessStop.Call(t.Context(), m.client, api.ProcessStopInput{ID: p.ID}); !errors.Is(err, api.CodeEnded) {
		t.Errorf("stopped when nothing is left: %v", err)
	}
}

func TestProcessListMeasuresOrphansOfExitedProcess(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	exited, _ := m.startLeaving(api.ProcessStartInput{}, api.StateExited)
	waiting, _ := m.startLeaving(api.ProcessStartInput{Restart: &api.Restart{Policy: api.PolicyAlways, DelayMS: 100_000}}, api.StateBackoff)
	clean := m.awaitState(m.startProcess(api.ProcessStartInput{Command: []string{"true"}}).ID, api.StateExited)
	got := map[string]*api.Metrics{}
	for _, p := range call(m, api.ProcessList, api.ProcessListInput{Metrics: true}).Processes {
		got[p.ID] = p.Metrics
	}
	for _, id := range []string{exited.ID, waiting.ID} {
		if use := got[id]; use == nil || use.Processes != 1 || use.RSSBytes == 0 {
			t.Errorf("usage of the process with orphans: %+v", use)
		}
	}
	if use := got[clean.ID]; use != nil {
		t.Errorf("usage of the process without orphans: %+v", use)
	}
}

func TestStoppingEverythingKillsRemains(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	_, child := m.startLeaving(api.ProcessStartInput{}, api.StateExited)
	_, waiting := m.startLeaving(api.ProcessStartInput{Restart: &api.Restart{Policy: api.PolicyAlways, DelayMS: 100_000}}, api.StateBackoff)
	call(m, api.EngineStop, api.EngineStopInput{All: true})
	m.activate() // for the cleanup to stop
	if isRunning(child) || isRunning(waiting) {
		t.Errorf("of what has ended: %v, of what waits for its next start: %v", isRunning(child), isRunning(waiting))
	}
}

func TestStopAllStopsRemainsOfEndedProcesses(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	left, child := m.startLeaving(api.ProcessStartInput{}, api.StateExited)
	m.awaitState(m.startProcess(api.ProcessStartInput{Command: []string{"true"}}).ID, api.StateExited)
	out := call(m, api.ProcessStopAll, api.ProcessStopAllInput{})
	if len(out.Stopped) != 1 || out.Stopped[0].ID != left.ID || isRunning(child) {
		t.Errorf("stopped %+v; what was left lives: %v", out.Stopped, isRunning(child))
	}
	if out := call(m, api.ProcessStopAll, api.ProcessStopAllInput{}); len(out.Stopped) != 0 {
		t.Errorf("the second call stopped %+v", out.Stopped)
	}
}

func TestProcessIsNotRemovedWhileItsRemainsRun(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p, child := m.startLeaving(api.ProcessStartInput{}, api.StateExited)
	if _, err := api.ProcessRemove.Call(t.Context(), m.client, api.IDInput{ID: p.ID}); !errors.Is(err, api.CodeConflict) || !isRunning(child) {
		t.Errorf("removed: %v; what was left lives: %v", err, isRunning(child))
	}
	call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID})
	call(m, api.ProcessRemove, api.IDInput{ID: p.ID})
}

// A daemon started by typing may be meant to stay; one left by a command is not.
func TestKillingASessionKillsItsCommandsDescendants(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p := m.start("bash", "-c", `setsid -f sh -c 'echo child $$; exec sleep 1000'; sleep 1000`)
	m.awaitScreen(p.ID, "child ")
	child := m.printedNumbers(p, "child")[0]
	call(m, api.SessionKill, api.IDInput{ID: p.ID})
	if isRunning(child) {
		t.Error("what the command started goes on")
	}
}

func TestEndedByIsReportedUntilTheNextStart(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p := m.startProcess(api.ProcessStartInput{Command: []string{"sleep", "1000"}})
	ended := call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID})
	if ended.State != api.StateStopped || ended.EndedBy != "person" {
		t.Errorf("%s, ended by %q", ended.State, ended.EndedBy)
	}
	if again := call(m, api.ProcessRestart, api.ProcessRestartInput{ID: p.ID}); again.EndedBy != "" {
		t.Errorf("what runs was ended by %q", again.EndedBy)
	}
}
