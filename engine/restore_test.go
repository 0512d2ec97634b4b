package engine

import (
	"strings"
	"testing"

	"tandem/engine/api"
)

// restoreAll restores all interrupted sessions with a plain environment.
func (m *machine) restoreAll() api.SessionRestoreOutput {
	m.Helper()
	return call(m, api.SessionRestore, api.SessionRestoreInput{All: true, Environ: map[string]string{
		"PATH": "/usr/bin:/bin", "HOME": m.dir, "TERM": "xterm-256color", "PS1": "$ ",
	}})
}

func TestInterruptedSessionIsRestoredUnderItsID(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.start("cat")
	m.write(p.ID, "before\r")
	m.awaitScreen(p.ID, "before")
	m.reboot()
	lost := m.get(p.ID)
	if lost.State != api.StateExited || lost.Interrupted == nil || lost.Interrupted.By != api.ByReboot || lost.Interrupted.Program != "cat" || lost.Interrupted.At.IsZero() {
		t.Fatalf("after the reboot: %+v, interrupted by %+v", lost, lost.Interrupted)
	}
	out := m.restoreAll()
	if len(out.Restored) != 1 || len(out.Failed) != 0 {
		t.Fatalf("restored %+v", out)
	}
	if now := out.Restored[0].Process; now.ID != p.ID || now.Name != p.Name || now.State != api.StateRunning || now.Interrupted != nil || now.Argv[0] == "cat" {
		t.Errorf("became %+v", now)
	}
	m.awaitScreen(p.ID, "$ cat")
	if screen := m.screen(p.ID); !strings.Contains(screen, "before") {
		t.Errorf("the old screen is lost:\n%s", screen)
	}
	if again := m.restoreAll(); len(again.Restored)+len(again.Failed) != 0 {
		t.Errorf("restored again: %+v", again)
	}
}

func TestDismissedSessionIsNotOfferedAgain(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.start("cat")
	m.reboot()
	call(m, api.SessionDismiss, api.SessionDismissInput{IDs: []string{p.ID}})
	m.restart()
	if now := m.get(p.ID); now.State != api.StateExited || now.Interrupted != nil {
		t.Errorf("became %+v", now)
	}
	if out := call(m, api.SessionRestore, api.SessionRestoreInput{IDs: []string{p.ID}}); len(out.Failed) != 1 || out.Failed[0].Name != p.Name {
		t.Errorf("restored %+v", out)
	}
}
