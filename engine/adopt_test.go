package engine

import (
	"strings"
	"testing"

	"tandem/engine/api"
)

func TestSessionIsAdoptedOnceItsTerminalIsReachable(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	p, ended, process := m.start("cat"), m.start("cat"), m.startProcess(api.ProcessStartInput{Command: []string{"cat"}})
	m.keeper.setFull(true)
	m.restart()
	if out := m.info().Unread; len(out) != 2 || !strings.Contains(out[0], "cat runs without a screen: too many open files") {
		t.Fatalf("unreachable: %q", out)
	}
	if now := m.getProcess(process.ID); now.State != api.StateRunning {
		t.Errorf("a process without a terminal is %s", now.State)
	}
	m.child(ended).exit(exitCode(3))
	m.keeper.setFull(false)
	m.eventually("the terminals", func() bool { return len(m.info().Unread) == 0 })
	if now := m.get(p.ID); now.State != api.StateRunning || now.PID != p.PID {
		t.Errorf("the session is %+v", now)
	}
	m.child(p).print("still here")
	m.awaitScreen(p.ID, "still here")
	if now := m.awaitEnd(ended.ID); now.ExitCode == nil || *now.ExitCode != 3 {
		t.Errorf("the other exited as %+v", now)
	}
}
