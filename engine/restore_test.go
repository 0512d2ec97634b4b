package engine

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/launch"
	"tandem/persist/store"
)

// restoreAll restores all interrupted sessions with a plain environment.
func (m *machine) restoreAll() api.SessionRestoreOutput {
	m.Helper()
	m.pinned = true // the engine that starts a shell types its command
	return call(m, api.SessionRestore, api.SessionRestoreInput{All: true, Environ: map[string]string{
		"PATH": "/usr/bin:/bin", "HOME": m.dir, "TERM": "xterm-256color", "PS1": "$ ", "TERMINAL": "kitty",
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

func TestTypedCommandIsOfferedUntilTheShellRunsSomething(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.start("bash", "--norc", "--noprofile")
	call(m, api.SessionWait, api.SessionWaitInput{ID: p.ID, Prompt: true})
	m.write(p.ID, "echo ru''ns; sleep 1000\r")
	m.awaitScreen(p.ID, "runs\n")
	for range 2 {
		m.reboot()
		if now := m.get(p.ID); now.Interrupted == nil || now.Interrupted.Program != "echo ru''ns; sleep 1000" {
			t.Fatalf("became %+v, interrupted by %+v", now, now.Interrupted)
		}
		before := strings.Count(m.screen(p.ID), "sleep 1000")
		m.restoreAll()
		m.eventually("the command at the prompt", func() bool { return strings.Count(m.screen(p.ID), "sleep 1000") == before+1 })
	}
	m.write(p.ID, "\x15echo do''ne\r")
	m.awaitScreen(p.ID, "done\n")
	call(m, api.SessionWait, api.SessionWaitInput{ID: p.ID, Prompt: true})
	m.reboot()
	if now := m.get(p.ID); now.Interrupted == nil || now.Interrupted.Program != "" {
		t.Errorf("became %+v, interrupted by %+v", now, now.Interrupted)
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

// A rebootWorld is a user's sessions before a reboot. Each program that runs adds a line to a file
// of its name.
type rebootWorld struct {
	*machine
	shells                                               [3]api.Process
	folders                                              [3]string
	editor, talking, confined, plain, kept, killed, left api.Process
	server                                               api.Process
	project                                              string // folder of the agent
	open, closed                                         string // files that the confined session may and may not write
}

// counting returns a program that records its run and then runs command.
func (w *rebootWorld) counting(name, command string) []string {
	return sh("echo x >> '" + filepath.Join(w.dir, name+".runs") + "'; " + command)
}

func (w *rebootWorld) runs(name string) int {
	text, _ := os.ReadFile(filepath.Join(w.dir, name+".runs"))
	return strings.Count(string(text), "x")
}

func startRebootWorld(t *testing.T) *rebootWorld {
	w := &rebootWorld{machine: startMachine(t)}
	w.pinned = true // the next engine would not know when exit was typed
	for i := range w.shells {
		w.folders[i] = filepath.Join(w.dir, "folder "+strconv.Itoa(i))
		if err := os.Mkdir(w.folders[i], 0o700); err != nil {
			t.Fatal(err)
		}
		p := w.start("bash", "--norc", "--noprofile")
		call(w.machine, api.SessionWait, api.SessionWaitInput{ID: p.ID, Prompt: true})
		w.write(p.ID, "cd '"+w.folders[i]+"'; echo i''n\r")
		w.awaitScreen(p.ID, "in\n")
		call(w.machine, api.SessionWait, api.SessionWaitInput{ID: p.ID, Prompt: true})
		w.shells[i] = p
	}
	w.write(w.shells[2].ID, "echo x >> ../shell.runs; sleep 1000\r")
	w.editor = w.start(w.counting("editor", `printf 'old line\n\033[?1049h\033[?1003h\033[?25lFILE'; exec sleep 1000`)...)
	w.talking, w.project = w.startTalkingAgent("c-1")
	inside := t.TempDir()
	w.open, w.closed = filepath.Join(inside, "f"), filepath.Join(t.TempDir(), "f")
	w.confined = call(w.machine, api.SessionStart, api.SessionStartInput{Command: []string{"cat"}, Sandbox: &api.Sandbox{
		Filesystem: api.SandboxFilesystem{AllowWrite: []string{inside}},
	}})
	w.plain = w.start("cat")
	w.kept = w.startProcess(api.ProcessStartInput{Name: "kept", Command: w.counting("kept", "exec cat"), TTY: true, KeepAlive: true})
	w.server = w.startProcess(api.ProcessStartInput{Name: "server", Command: w.counting("server", "exec sleep 1000"), KeepAlive: true})
	w.killed, w.left = w.start("cat"), w.start("sh")
	call(w.machine, api.SessionKill, api.IDInput{ID: w.killed.ID})
	w.write(w.left.ID, "exit\r")
	w.awaitEnd(w.left.ID)
	w.eventually("all programs", func() bool {
		return w.runs("shell")+w.runs("editor")+w.runs("kept")+w.runs("server") == 4
	})
	w.awaitScreen(w.editor.ID, "FILE")
	return w
}

// tabs returns a layout with a tab for each group of sessions.
func tabsOf(groups ...[]api.Process) (l api.Layout) {
	for _, group := range groups {
		var tab api.LayoutTab
		for i, p := range group {
			if i < len(group)-1 {
				tab.Nodes = append(tab.Nodes, api.LayoutNode{Axis: api.AxisBeside, Share: 5000})
			}
			tab.Nodes = append(tab.Nodes, api.LayoutNode{ID: p.ID})
		}
		l.Tabs = append(l.Tabs, tab)
	}
	return l
}

func TestEverythingComesBackAfterAReboot(t *testing.T) {
	t.Parallel()
	w := startRebootWorld(t)
	full := tabsOf(w.shells[:], []api.Process{w.editor}, []api.Process{w.talking, w.confined}, []api.Process{w.plain, w.kept})
	full.Zoomed, full.Current = true, 2
	for _, l := range []api.Layout{full, {}} { // the second is that of a dashboard that saw all programs exit
		call(w.machine, api.LayoutPut, api.LayoutPutInput{Layout: l})
	}
	w.reboot()

	if got := call(w.machine, api.LayoutGet, api.Empty{}).Current; got == nil || !got.Zoomed || got.Current != 2 || !reflect.DeepEqual(got.Tabs, full.Tabs) {
		t.Errorf("the layout is now %+v", got)
	}
	folder := w.folders
	want := map[string]api.Process{
		w.shells[0].ID: {CWD: folder[0], Interrupted: &api.Interruption{}}, w.shells[1].ID: {CWD: folder[1], Interrupted: &api.Interruption{}},
		w.shells[2].ID: {CWD: folder[2], Interrupted: &api.Interruption{Program: "echo x >> ../shell.runs; sleep 1000"}},
		w.plain.ID:     {CWD: w.plain.CWD, Interrupted: &api.Interruption{Program: "cat"}},
		w.confined.ID:  {CWD: w.confined.CWD, Interrupted: &api.Interruption{Program: "cat"}},
	}
	w.eventually("the end of what was lost", func() bool { return w.get(w.talking.ID).State.Ended() })
	for id, p := range want {
		now := w.get(id)
		if now.Interrupted == nil || now.Interrupted.Program != p.Interrupted.Program || now.CWD != p.CWD {
			t.Errorf("%s became %+v, interrupted by %+v", id, now, now.Interrupted)
		}
	}
	for _, p := range []api.Process{w.killed, w.left, w.kept} {
		if now := w.get(p.ID); now.Interrupted != nil {
			t.Errorf("%s is offered: %+v", p.Name, now.Interrupted)
		}
	}
	if screen := w.screen(w.editor.ID); !strings.Contains(screen, "FILE") {
		t.Errorf("the editor's last screen is %q", screen)
	}

	commands := func() int { // the screen wraps them, depending on the folder in the prompt
		return strings.Count(strings.Join(strings.Fields(w.screen(w.shells[2].ID)), ""), "shell.runs;sleep1000")
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the shell that ran a command shows\n%s", w.screen(w.shells[2].ID))
		}
	})
	before := commands()
	out := w.restoreAll()
	if len(out.Restored) != 7 || len(out.Failed) != 0 {
		t.Fatalf("restored %+v, failed %+v", out.Restored, out.Failed)
	}
	w.eventually("the command at the prompt", func() bool { return commands() == before+1 })
	w.awaitScreen(w.editor.ID, "old line\n$ ")
	w.awaitScreen(w.talking.ID, "claude --resume c-1")
	w.awaitScreen(w.confined.ID, "$ cat")
	w.write(w.confined.ID, "\x15echo x > "+w.closed+" || echo den''ied; echo x > "+w.open+" && echo all''owed\n")
	w.awaitScreen(w.confined.ID, "denied")
	w.awaitScreen(w.confined.ID, "allowed")
	for name, runs := range map[string]int{"shell": 1, "editor": 1, "kept": 2, "server": 2} {
		if got := w.runs(name); got != runs {
			t.Errorf("%s ran %d times, want %d", name, got, runs)
		}
	}
	for i, p := range w.shells {
		if now := w.get(p.ID); now.State != api.StateRunning || now.CWD != folder[i] || now.Interrupted != nil {
			t.Errorf("a restored shell is %+v", now)
		}
	}
}

// TestSessionsAreOfferedAfterAnyShutdown ends programs, engine and keeper in several orders. One of
// the programs turns the hangup into exit 1, as some shells do, and one ignores it.
func TestSessionsAreOfferedAfterAnyShutdown(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{
		{}, // a power failure
		{"programs", "term engine"},
		{"term engine", "programs"},
		{"programs", "kill engine", "term engine"},
		{"kill keeper", "programs", "term engine"},
		{"term engine", "kill keeper", "programs", "kill engine"},
		{"programs", "end both"},
	} {
		t.Run(strings.Join(order, ", "), func(t *testing.T) {
			t.Parallel()
			m := startMachine(t)
			m.pinned = true
			sessions := []api.Process{
				m.start("sh", "-c", "trap 'exit 1' HUP; echo ready; while :; do sleep 0.01; done"),
				m.start("sh", "-c", "trap '' HUP; echo ready; exec sleep 1000"),
				m.start("bash", "--norc", "--noprofile"),
			}
			for _, p := range sessions[:2] {
				m.awaitScreen(p.ID, "ready")
			}
			full := tabsOf(sessions)
			call(m, api.LayoutPut, api.LayoutPutInput{Layout: full})
			for _, step := range order {
				m.shutDown(step, sessions)
			}
			m.reboot()
			for _, p := range sessions {
				m.eventually("the end of "+p.Name, func() bool { return m.get(p.ID).State.Ended() })
				if now := m.get(p.ID); now.Interrupted == nil {
					t.Errorf("%s became %+v, interrupted by %+v", p.Command, now, now.Interrupted)
				}
				if isRunning(p.PID) { // in this simulation it survives the reboot
					unix.Kill(p.PID, unix.SIGKILL)
				}
			}
			if got := call(m, api.LayoutGet, api.Empty{}).Current; got == nil || !reflect.DeepEqual(got.Tabs, full.Tabs) {
				t.Errorf("the layout is %+v", got)
			}
		})
	}
}

// shutDown does one step of a shutdown.
func (m *machine) shutDown(step string, sessions []api.Process) {
	m.Helper()
	before := m.info()
	switch step {
	case "programs":
		for _, p := range sessions {
			unix.Kill(p.PID, unix.SIGHUP)
		}
		m.eventually("exits", func() bool { return !isRunning(sessions[0].PID) && m.get(sessions[0].ID).State.Ended() })
		call(m, api.LayoutPut, api.LayoutPutInput{}) // by a dashboard that saw them
	case "term engine", "kill engine":
		signal := map[string]unix.Signal{"term engine": unix.SIGTERM, "kill engine": unix.SIGKILL}[step]
		unix.Kill(before.EnginePID, signal)
		m.eventually("another engine", func() bool { return m.info().EnginePID != before.EnginePID })
	case "end both":
		unix.Kill(before.KeeperPID, unix.SIGKILL)
		unix.Kill(before.EnginePID, unix.SIGTERM)
		m.eventually("the end of both", func() bool { return !isRunning(before.KeeperPID) && !isRunning(before.EnginePID) })
		m.activate()
	case "kill keeper":
		m.crash(before.KeeperPID)
		m.eventually("another keeper", func() bool { k := m.info().KeeperPID; return k != 0 && k != before.KeeperPID })
	}
}

func TestShutdownOnRequestOffersNothing(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.start("sh", "-c", "trap 'exit 1' HUP TERM; echo ready; while :; do sleep 0.01; done")
	m.awaitScreen(p.ID, "ready")
	failed := m.start("sh", "-c", "exit 1")
	m.awaitEnd(failed.ID)
	before := m.info()
	call(m, api.EngineStop, api.EngineStopInput{All: true})
	m.eventually("the end of engine and keeper", func() bool { return !isRunning(before.EnginePID) && !isRunning(before.KeeperPID) })
	m.activate()
	if now := m.get(p.ID); now.Interrupted != nil || now.State != api.StateStopped {
		t.Errorf("became %+v, interrupted by %+v", now, now.Interrupted)
	}
	if now := m.get(failed.ID); now.Interrupted != nil {
		t.Errorf("a session that exited just before is interrupted by %+v", now.Interrupted)
	}
}

func TestEngineWhoseKeeperDiedFirstNamesIt(t *testing.T) {
	t.Parallel()
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &host{store: data, log: slog.New(slog.DiscardHandler), link: &launch.Link{}}
	h.previous.next.Keeper = store.Identity{BootID: "boot", PID: 2}
	h.describeEngine(time.Now(), false)
	if last, err := data.LoadLastEngine(); err != nil || last.Keeper.PID != 2 || last.StoppedAt.IsZero() {
		t.Errorf("described as %+v, %v", last, err)
	}
}

func TestSessionOfAnAgentIsRestoredWithoutTheUsersVariables(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := call(m.agent("tester-1"), api.SessionStart, api.SessionStartInput{Command: []string{"sh"}})
	m.reboot()
	if out := m.restoreAll(); len(out.Restored) != 1 {
		t.Fatalf("restored %+v", out)
	}
	m.write(p.ID, "echo the term''inal is $TERMINAL.\r")
	m.awaitScreen(p.ID, "the terminal is .")
}

func TestRecordReadLaterIsJudgedByAllSignsOfLife(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	exited, running := m.start("sh", "-c", "exit 1"), m.start("cat")
	m.awaitEnd(exited.ID)
	before := time.Now().Add(-time.Hour)
	m.loseBoth(func(r *store.Record) {
		r.Identity.BootID = "another boot"
		if r.ID == exited.ID {
			r.StartedAt, r.Runs[0].EndedAt = before, before
		}
	})
	record := filepath.Join(m.dir, "processes", exited.ID, "record.json")
	err := errors.Join(os.Chtimes(exited.LogPath, before, before), os.Rename(record, record+".whole"), os.Symlink("record.json", record))
	if err != nil {
		t.Fatal(err)
	}
	m.activate()
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

func TestShellInPlaceOfAProgramHasNoneOfItsRules(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := call(m, api.ProcessStart, api.ProcessStartInput{
		TTY: true, Command: []string{"cat"}, Restart: &api.Restart{Policy: api.PolicyOnFailure},
		Project: &api.ProjectEntry{File: filepath.Join(m.dir, "tandem.yaml"), Name: "menu", Digest: "1"},
	})
	m.reboot()
	out := m.restoreAll()
	if len(out.Restored) != 1 || out.Restored[0].Process.Project != nil { // else tandem up would take it for the program
		t.Fatalf("restored %+v", out)
	}
	m.awaitScreen(p.ID, "$ cat")
	m.write(p.ID, "\x15exit 1\r")
	m.awaitEnd(p.ID)
	if now := m.get(p.ID); now.State != api.StateExited {
		t.Errorf("after an exit with 1 the shell is %s", now.State)
	}
}
