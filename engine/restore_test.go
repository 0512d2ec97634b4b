package engine

import (
	"os"
	"path/filepath"
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

func TestInterruptedShellIsDescribed(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	bash := func() api.Process { return m.start("bash", "--norc", "--noprofile") }
	idle, busy, failing := bash(), bash(), bash()
	prompt := func(p api.Process) {
		m.Helper()
		call(m, api.SessionWait, api.SessionWaitInput{ID: p.ID, Prompt: true})
	}
	inside := filepath.Join(m.dir, "a folder")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, p := range []api.Process{idle, busy} {
		prompt(p)
		m.write(p.ID, "cd '"+inside+"'; echo i''n\r")
		m.awaitScreen(p.ID, "in\n")
		prompt(p)
	}
	m.write(busy.ID, "echo ru''ns; sleep 1000\r")
	m.awaitScreen(busy.ID, "runs\n")
	prompt(failing)
	m.write(failing.ID, "exit 1\r") // as a hangup does in some shells
	m.awaitEnd(failing.ID)
	m.reboot()
	for p, want := range map[string]api.Interruption{idle.ID: {}, busy.ID: {Program: "echo ru''ns; sleep 1000"}} {
		if now := m.get(p); now.Interrupted == nil || now.Interrupted.Program != want.Program || now.CWD != inside {
			t.Errorf("became %+v, interrupted by %+v", now, now.Interrupted)
		}
	}
	if now := m.get(failing.ID); now.Interrupted == nil {
		t.Errorf("a shell that exits with 1 during the shutdown is not interrupted: %+v", now)
	}
}

func TestStoppedAndUpgradedSessionsAreNotInterrupted(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	killed, exited := m.start("cat"), m.start("sh", "-c", "exit 1")
	call(m, api.SessionKill, api.IDInput{ID: killed.ID})
	m.awaitEnd(exited.ID)
	m.restart() // with the same keeper, as an upgrade does
	if now := m.get(exited.ID); now.Interrupted != nil {
		t.Errorf("after an upgrade: %+v", now.Interrupted)
	}
	m.reboot()
	if now := m.get(killed.ID); now.Interrupted != nil {
		t.Errorf("a killed session: %+v", now.Interrupted)
	}
}

func TestCommandIsNotTypedIntoAQuestionOfTheStartupFiles(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	rc := filepath.Join(m.dir, "rc")
	asks := `PS1='$ '; if [ -e '` + rc + `.asks' ]; then read -t 1 -p 'start the agent? ' answer; echo "answer=[$answer]"; fi`
	if err := os.WriteFile(rc, []byte(asks), 0o600); err != nil {
		t.Fatal(err)
	}
	p := m.start("bash", "--noprofile", "--rcfile", rc)
	call(m, api.SessionWait, api.SessionWaitInput{ID: p.ID, Prompt: true})
	m.write(p.ID, "echo ru''ns; sleep 1000\r")
	m.awaitScreen(p.ID, "runs\n")
	m.reboot()
	if err := os.WriteFile(rc+".asks", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m.restoreAll()
	m.awaitScreen(p.ID, "answer=[]\n$ echo ru''ns; sleep 1000")
	if now := m.get(p.ID); now.Terminal.Waiting != "prompt" {
		t.Errorf("the command runs: %+v", now)
	}
}

func TestFolderThatIsGoneIsReported(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	inside := filepath.Join(m.dir, "a", "b")
	if err := os.MkdirAll(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	p := call(m, api.SessionStart, api.SessionStartInput{Command: []string{"cat"}, CWD: inside})
	m.reboot()
	if err := os.RemoveAll(filepath.Dir(inside)); err != nil {
		t.Fatal(err)
	}
	out := m.restoreAll()
	if len(out.Restored) != 1 || out.Restored[0].Folder != m.dir || out.Restored[0].Note != inside+" is gone; the shell starts in "+m.dir+"." {
		t.Fatalf("restored %+v", out)
	}
	m.eventually("the folder", func() bool { return m.get(p.ID).CWD == m.dir })
}
