package engine

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/persist/store"
)

// restoreAll restores all interrupted sessions with a plain environment.
func (m *memoryMachine) restoreAll() api.SessionRestoreOutput {
	m.Helper()
	return call(m.machine, api.SessionRestore, api.SessionRestoreInput{All: true, Environ: map[string]string{
		"PATH": "/usr/bin:/bin", "HOME": m.dir, "TERM": "xterm-256color", "PS1": "$ ", "TERMINAL": "kitty",
	}})
}

func TestInterruptedSessionIsRestoredUnderItsID(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	p := m.start("cat")
	m.write(p.ID, "before\r")
	m.awaitScreen(p.ID, "before")
	m.reboot()
	lost := m.get(p.ID)
	if lost.State != api.StateExited || lost.Interrupted == nil || lost.Interrupted.By != api.ByReboot || lost.Interrupted.Program != "cat" || lost.Interrupted.At.IsZero() {
		t.Fatalf("after the reboot: %+v, interrupted by %+v", lost, lost.Interrupted)
	}
	_, err := api.SessionWrite.Call(t.Context(), m.client, api.SessionWriteInput{ID: p.ID, Text: "x"})
	if e := api.AsError(err); e.Code != api.CodeEnded || !strings.Contains(e.Hint, "tandem restore "+p.ID) {
		t.Errorf("a write to an interrupted session: %+v", e)
	}
	out := m.restoreAll()
	if len(out.Restored) != 1 || len(out.Failed) != 0 {
		t.Fatalf("restored %+v", out)
	}
	if now := out.Restored[0].Process; now.ID != p.ID || now.Name != p.Name || now.State != api.StateRunning || now.Interrupted != nil || now.Argv[0] == "cat" {
		t.Errorf("became %+v", now)
	}
	m.child(p).prompt()
	m.awaitScreen(p.ID, "$ cat")
	if screen := m.screen(p.ID); !strings.Contains(screen, "before") {
		t.Errorf("the old screen is lost:\n%s", screen)
	}
	if again := m.restoreAll(); len(again.Restored)+len(again.Failed) != 0 {
		t.Errorf("restored again: %+v", again)
	}
}

func TestRepeatedRestoreReturnsTheSameSessions(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	first, second := m.start("cat"), m.start("cat")
	m.reboot()
	in := api.SessionRestoreInput{IDs: []string{first.ID}, RestoreID: "0123456789ab"}
	call(m.machine, api.SessionRestore, in) // the engine is killed in the middle of a restore of all
	m.restart()
	in.IDs, in.All = nil, true
	var pids []int
	for range 2 {
		out := call(m.machine, api.SessionRestore, in)
		if len(out.Restored) != 2 || len(out.Failed) != 0 || out.Restored[0].Process.ID != first.ID || out.Restored[1].Process.ID != second.ID {
			t.Fatalf("restored %+v", out)
		}
		pids = append(pids, out.Restored[0].Process.PID, out.Restored[1].Process.PID)
	}
	if pids[0] != pids[2] || pids[1] != pids[3] || m.keeper.started != 2 {
		t.Errorf("the sessions have the processes %v; %d were started", pids, m.keeper.started)
	}
	in.RestoreID = "another"
	if out := call(m.machine, api.SessionRestore, in); len(out.Restored)+len(out.Failed) != 0 {
		t.Errorf("restored again: %+v", out)
	}
}

func TestDismissedSessionIsNotOfferedAgain(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	p := m.start("cat")
	m.reboot()
	call(m.machine, api.SessionDismiss, api.SessionDismissInput{IDs: []string{p.ID}})
	m.restart()
	if now := m.get(p.ID); now.State != api.StateExited || now.Interrupted != nil {
		t.Errorf("became %+v", now)
	}
	if out := call(m.machine, api.SessionRestore, api.SessionRestoreInput{All: true}); len(out.Restored) != 0 {
		t.Errorf("restored %+v", out)
	}
}

// "Undo a kill": a session can be restored however it ended, but only by its id.
func TestKilledSessionIsRestoredWithItsCommand(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	busy, idle, program := m.startShell(), m.startShell(), m.start("cat")
	m.write(busy.ID, "sleep 1000\r")
	m.child(busy).run("sleep 1000", "runs\n")
	for _, p := range []api.Process{busy, idle, program} {
		call(m.machine, api.SessionKill, api.IDInput{ID: p.ID})
	}
	if out := call(m.machine, api.SessionRestore, api.SessionRestoreInput{All: true}); len(out.Restored)+len(out.Failed) != 0 {
		t.Fatalf("sessions that were killed count as interrupted: %+v", out)
	}
	out := call(m.machine, api.SessionRestore, api.SessionRestoreInput{IDs: []string{busy.ID, idle.ID, program.ID}, RestoreID: "0123456789ab"})
	if len(out.Restored) != 3 || len(out.Failed) != 0 {
		t.Fatalf("restored %+v", out)
	}
	data, err := store.Open(m.dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"sleep 1000", "", "cat"} {
		r, err := data.LoadRecord(out.Restored[i].Process.ID)
		if err != nil || r.Typed != want || r.Interrupted != nil {
			t.Errorf("session %d: %q is to be typed, want %q; %+v, %v", i, r.Typed, want, r.Interrupted, err)
		}
	}
	running := call(m.machine, api.SessionRestore, api.SessionRestoreInput{IDs: []string{busy.ID}})
	if len(running.Failed) != 1 || !strings.Contains(running.Failed[0].Error, "it runs") {
		t.Errorf("restored while it runs: %+v", running)
	}
}

func TestInterruptedShellIsDescribed(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	inside := filepath.Join(m.dir, "a folder")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	idle, busy, failing := m.startShell(), m.startShell(), m.startShell()
	for _, p := range []api.Process{idle, busy} {
		m.child(p).print(m.child(p).mark("D") + "\x1b]7;file://" + strings.ReplaceAll(inside, " ", "%20") + "\a")
		m.child(p).prompt()
	}
	m.write(busy.ID, "sleep 1000\r")
	m.child(busy).run("sleep 1000", "runs\n")
	m.awaitScreen(busy.ID, "runs\n")
	m.child(failing).exit(exitCode(1)) // as a hangup does in some shells
	m.awaitEnd(failing.ID)
	m.reboot()
	for p, program := range map[string]string{idle.ID: "", busy.ID: "sleep 1000"} {
		if now := m.get(p); now.Interrupted == nil || now.Interrupted.Program != program || now.CWD != inside {
			t.Errorf("became %+v, interrupted by %+v", now, now.Interrupted)
		}
	}
	if now := m.get(failing.ID); now.Interrupted == nil {
		t.Errorf("a shell that exits with 1 during the shutdown is not interrupted: %+v", now)
	}
}

func TestTypedCommandIsOfferedUntilTheShellRunsSomething(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	p := m.startShell()
	m.write(p.ID, "sleep 1000\r")
	m.child(p).run("sleep 1000", "runs\n")
	m.awaitScreen(p.ID, "runs\n")
	for range 2 {
		m.reboot()
		if now := m.get(p.ID); now.Interrupted == nil || now.Interrupted.Program != "sleep 1000" {
			t.Fatalf("became %+v, interrupted by %+v", now, now.Interrupted)
		}
		before := strings.Count(m.screen(p.ID), "sleep 1000")
		m.restoreAll()
		m.child(p).prompt()
		m.eventually("the command at the prompt", func() bool { return strings.Count(m.screen(p.ID), "sleep 1000") == before+1 })
	}
	m.child(p).run("echo done", "done\n")
	m.child(p).prompt()
	call(m.machine, api.SessionWait, api.SessionWaitInput{ID: p.ID, Prompt: true, Screen: "done"})
	m.reboot()
	if now := m.get(p.ID); now.Interrupted == nil || now.Interrupted.Program != "" {
		t.Errorf("became %+v, interrupted by %+v", now, now.Interrupted)
	}
}

func TestCommandOfRestoredSessionIsTypedOnceByTheNextEngine(t *testing.T) {
	t.Parallel()
	for name, recorded := range map[string]bool{"after the start was recorded": true, "before": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := startInMemory(t)
			p := m.startShell()
			m.write(p.ID, "sleep 1000\r")
			m.child(p).run("sleep 1000", "runs\n")
			m.awaitScreen(p.ID, "runs\n")
			m.reboot()
			data, err := store.Open(m.dir)
			if err != nil {
				t.Fatal(err)
			}
			lost, err := data.LoadRecord(p.ID)
			if err != nil {
				t.Fatal(err)
			}
			m.restoreAll()
			m.stop()
			if !recorded {
				lost.State, lost.Desired, lost.Former, lost.Identity = string(api.StateStarting), "running", lost.Identity, nil
				if err := data.Save(*lost); err != nil {
					t.Fatal(err)
				}
			}
			m.startEngine()
			before := strings.Count(m.screen(p.ID), "sleep 1000")
			m.child(p).prompt()
			for range 2 {
				call(m.machine, api.SessionWait, api.SessionWaitInput{ID: p.ID, Prompt: true})
				m.eventually("the command at the prompt", func() bool { return strings.Count(m.screen(p.ID), "sleep 1000") == before+1 })
				m.restart()
			}
			if now := strings.Count(m.screen(p.ID), "sleep 1000"); now != before+1 {
				t.Errorf("the command is on the screen %d times, want %d:\n%s", now, before+1, m.screen(p.ID))
			}
			if r, err := data.LoadRecord(p.ID); err != nil || r.Typed != "sleep 1000" || r.Typing != "" {
				t.Errorf("the next engine types it again: %+v, %v", r, err)
			}
		})
	}
}

// startShell starts a shell and shows its prompt.
func (m *memoryMachine) startShell() api.Process {
	m.Helper()
	p := m.start("bash")
	m.child(p).prompt()
	call(m.machine, api.SessionWait, api.SessionWaitInput{ID: p.ID, Prompt: true})
	return p
}

func TestStoppedAndUpgradedSessionsAreNotInterrupted(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	killed, exited := m.start("cat"), m.start("cat")
	m.kill(killed)
	m.child(exited).exit(exitCode(1))
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

func TestRestoreReportsAMissingFolder(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	inside := filepath.Join(m.dir, "a", "b")
	if err := os.MkdirAll(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	p := call(m.machine, api.SessionStart, api.SessionStartInput{Command: []string{"cat"}, CWD: inside})
	m.reboot()
	if err := os.RemoveAll(filepath.Dir(inside)); err != nil {
		t.Fatal(err)
	}
	out := m.restoreAll()
	if len(out.Restored) != 1 || out.Restored[0].Folder != m.dir || out.Restored[0].Note != inside+" is gone; the shell starts in "+m.dir+"." {
		t.Fatalf("restored %+v", out)
	}
	if got := m.child(p).spec.CWD; got != m.dir {
		t.Errorf("the shell starts in %s", got)
	}
}

func TestEverythingComesBackAfterAReboot(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	shell, plain := m.startShell(), m.start("cat")
	m.write(shell.ID, "sleep 1000\r")
	m.child(shell).run("sleep 1000", "")
	editor := m.start("vi")
	m.child(editor).print("old line\n\x1b[?1049h\x1b[?1003h\x1b[?25lFILE")
	m.awaitScreen(editor.ID, "FILE")
	inside := t.TempDir()
	confined := call(m.machine, api.SessionStart, api.SessionStartInput{Command: []string{"cat"}, Sandbox: &api.Sandbox{
		Filesystem: api.SandboxFilesystem{AllowWrite: []string{inside}},
	}})
	kept := m.startProcess(api.ProcessStartInput{Name: "kept", Command: []string{"cat"}, TTY: true, KeepAlive: true})
	server := m.startProcess(api.ProcessStartInput{Name: "server", Command: []string{"cat"}, KeepAlive: true})
	killed, left := m.start("cat"), m.startShell()
	m.kill(killed)
	m.write(left.ID, "exit\r")
	m.child(left).exit(exitCode(0))
	m.awaitEnd(left.ID)
	full := tabsOf([]api.Process{shell, editor}, []api.Process{confined}, []api.Process{plain, kept})
	in := arrangeTabs(full)
	in.Changes = append(in.Changes, api.LayoutChange{Do: api.LayoutFocus, ID: plain.ID, Zoomed: true})
	call(m.machine, api.LayoutChanges, in)
	m.reboot()

	if got := call(m.machine, api.LayoutGet, api.Empty{}).Current; got == nil || !got.Zoomed || got.Current != 2 || !reflect.DeepEqual(got.Tabs, full.Tabs) {
		t.Errorf("the layout is now %+v", got)
	}
	for p, program := range map[string]string{shell.ID: "sleep 1000", plain.ID: "cat", confined.ID: "cat", editor.ID: "vi"} {
		if now := m.get(p); now.Interrupted == nil || now.Interrupted.Program != program || now.CWD != shell.CWD {
			t.Errorf("%s became %+v, interrupted by %+v", p, now, now.Interrupted)
		}
	}
	for _, p := range []api.Process{killed, left, kept} {
		if now := m.get(p.ID); now.Interrupted != nil {
			t.Errorf("%s is offered: %+v", p.Name, now.Interrupted)
		}
	}
	if screen := m.screen(editor.ID); !strings.Contains(screen, "FILE") {
		t.Errorf("the editor's last screen is %q", screen)
	}
	for _, p := range []api.Process{kept, server} {
		if c := m.awaitRun(p, p.PID); c.spec.Argv[0] != "cat" {
			t.Errorf("%s runs %q", p.Name, c.spec.Argv)
		}
	}

	out := m.restoreAll()
	if len(out.Restored) != 4 || len(out.Failed) != 0 {
		t.Fatalf("restored %+v, failed %+v", out.Restored, out.Failed)
	}
	for p, shows := range map[string]string{shell.ID: "$ sleep 1000", editor.ID: "old line\n$ vi", plain.ID: "$ cat"} {
		now := m.get(p)
		m.child(now).prompt()
		m.awaitScreen(p, shows)
		if now.State != api.StateRunning || now.Interrupted != nil {
			t.Errorf("it is restored as %+v", now)
		}
	}
	if argv := strings.Join(m.child(confined).spec.Argv, " "); !strings.Contains(argv, " launch ") || !strings.Contains(argv, m.dir) {
		t.Errorf("the shell in a sandbox runs as %s", argv)
	}
}

// tabsOf returns a layout with a tab for each group of sessions.
func tabsOf(groups ...[]api.Process) (l api.Layout) {
	for _, group := range groups {
		var tab api.LayoutTab
		for i, p := range group {
			if i < len(group)-1 {
				tab.Nodes = append(tab.Nodes, api.LayoutNode{Axis: api.AxisBeside, Share: 5000})
			}
			tab.Nodes = append(tab.Nodes, api.LayoutNode{ID: p.ID})
		}
		tab.Focus = min(1, len(tab.Nodes)-1)
		l.Tabs = append(l.Tabs, tab)
	}
	return l
}

// arrangeTabs returns the input that makes the tabs of a layout.
func arrangeTabs(l api.Layout) (in api.LayoutChangeInput) {
	for _, t := range l.Tabs {
		in.Changes = append(in.Changes, api.LayoutChange{Do: api.LayoutArrange, Nodes: t.Nodes, Own: api.OwnEnd})
	}
	return in
}

func TestSessionsStoppedWithTheEngineAreNotOfferedForRestore(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	p, failed := m.start("cat"), m.start("cat")
	m.child(failed).exit(exitCode(1))
	m.awaitEnd(failed.ID)
	m.child(p).exitAtStop(t, exitCode(1))
	call(m.machine, api.EngineStop, api.EngineStopInput{All: true})
	m.stop()
	m.keeper = newMemoryKeeper()
	m.startEngine()
	if now := m.get(p.ID); now.Interrupted != nil || now.State != api.StateStopped {
		t.Errorf("became %+v, interrupted by %+v", now, now.Interrupted)
	}
	if now := m.get(failed.ID); now.Interrupted != nil {
		t.Errorf("a session that exited just before is interrupted by %+v", now.Interrupted)
	}
}

func TestSessionOfAnAgentIsRestoredWithoutTheUsersVariables(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	p := call(m.agent("tester-1"), api.SessionStart, api.SessionStartInput{Command: []string{"sh"}})
	m.reboot()
	if out := m.restoreAll(); len(out.Restored) != 1 {
		t.Fatalf("restored %+v", out)
	}
	if got := m.child(p).variable("TERMINAL"); got != "" {
		t.Errorf("its terminal is %q", got)
	}
}

func TestExitedSessionReadLateIsNotCalledInterrupted(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	exited, running := m.start("cat"), m.start("cat")
	m.child(exited).exit(exitCode(1))
	m.awaitEnd(exited.ID)
	before := time.Now().Add(-time.Hour)
	m.loseBoth(func(r *store.Record) {
		if r.ID == exited.ID {
			r.StartedAt, r.Runs[0].EndedAt = before, before
		}
	})
	record := filepath.Join(m.dir, "processes", exited.ID, "record.json")
	err := errors.Join(os.Chtimes(exited.LogPath, before, before), os.Rename(record, record+".whole"), os.Symlink("record.json", record))
	if err != nil {
		t.Fatal(err)
	}
	m.startEngine()
	if m.get(running.ID).Interrupted == nil || len(m.info().Unread) != 1 {
		t.Fatalf("unread records: %q", m.info().Unread)
	}
	if err := os.Rename(record+".whole", record); err != nil {
		t.Fatal(err)
	}
	m.eventually("the record", func() bool { return len(m.info().Unread) == 0 })
	if now := m.get(exited.ID); now.Interrupted != nil {
		t.Errorf("a session that exited long before is interrupted by %+v", now.Interrupted)
	}
}

func TestRestoredShellDropsRestartPolicyAndProject(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	p := call(m.machine, api.ProcessStart, api.ProcessStartInput{
		TTY: true, Command: []string{"cat"}, Restart: &api.Restart{Policy: api.PolicyOnFailure},
		Project: &api.ProjectEntry{File: filepath.Join(m.dir, "tandem.yaml"), Name: "menu", Digest: "1"},
	})
	m.reboot()
	out := m.restoreAll()
	if len(out.Restored) != 1 || out.Restored[0].Process.Project != nil { // else tandem up would take it for the program
		t.Fatalf("restored %+v", out)
	}
	m.child(p).exit(exitCode(1))
	m.awaitEnd(p.ID)
	if now := m.get(p.ID); now.State != api.StateExited {
		t.Errorf("after an exit with 1 the shell is %s", now.State)
	}
}

func TestInvalidNamesInRecordsAreEscaped(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	slash, blank := m.start("cat"), m.start("cat")
	m.loseBoth(func(r *store.Record) { r.Name = map[string]string{slash.ID: "box/one", blank.ID: "\u3164"}[r.ID] })
	m.startEngine()
	if a, b := m.get(slash.ID).Name, m.get(blank.ID).Name; a != `box\x2fone` || b != `\u3164` {
		t.Errorf("shown as %q and %q", a, b)
	}
	call(m.machine, api.SessionRename, api.SessionRenameInput{ID: slash.ID, Name: "one"})
	if now := m.get("one"); now.ID != slash.ID {
		t.Errorf("one is %+v", now)
	}
}
