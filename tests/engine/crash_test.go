package engine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine"
	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/control/supervise"
	"tandem/engine/system/proctree"
	"tandem/persist/store"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

// wantNumbered fails unless text contains the lines prefix1, prefix2, … without a gap, at least n
// of them. It returns the last number.
func wantNumbered(t *testing.T, text, prefix string, n int) int {
	t.Helper()
	want := 1
	for line := range strings.SplitSeq(text, "\r\n") {
		number, ok := strings.CutPrefix(line, prefix)
		if !ok {
			continue
		}
		if i, err := strconv.Atoi(number); err != nil {
			break // cut off
		} else if i != want {
			t.Fatalf("%s%d follows %d", prefix, i, want-1)
		}
		want++
	}
	if want <= n {
		t.Fatalf("only %d numbers", want-1)
	}
	return want - 1
}

// lastTick returns the highest number on a screen of ticks, 0 without one.
func lastTick(screen string) int {
	all := regexp.MustCompile(`tick (\d+)`).FindAllStringSubmatch(screen, -1)
	if len(all) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(all[len(all)-1][1])
	return n
}

func TestEngineKilledDuringOutputLosesNoLine(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	p := m.start("sh", "-c", `i=0; while :; do i=$((i+1)); echo tick $i; sleep 0.005; done`)
	for range 8 {
		seen := wantNumbered(t, m.logOf(p), "tick ", 0)
		wait.Kill(m, m.info().EnginePID)
		m.eventually("more ticks on the screen", func() bool { return lastTick(m.screen(p.ID)) > seen+5 })
		if now := m.get(p.ID); now.PID != p.PID || now.State != api.StateRunning {
			t.Fatalf("became %+v", now)
		}
	}
	shown := lastTick(m.screen(p.ID))
	if n := wantNumbered(t, m.logOf(p), "tick ", shown-1); n < shown-1 {
		t.Errorf("%d on the screen, %d in the log", shown, n)
	}
}

func TestEngineKilledDuringAFloodLosesNothing(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	const lines = 1_500_000
	m := startMachine(t)
	p := m.start("sh", "-c", fmt.Sprintf(`seq 1 %d; echo done; read x`, lines))
	for range 6 {
		before := m.get(p.ID).Terminal.Bytes
		m.eventually("output", func() bool { return m.get(p.ID).Terminal.Bytes > before || strings.Contains(m.logOf(p), "done") })
		wait.Kill(m, m.info().EnginePID)
	}
	m.awaitScreen(p.ID, "done")
	if n := wantNumbered(t, m.logOf(p), "", lines); n != lines {
		t.Errorf("%d lines", n)
	}
	if !strings.Contains(m.screen(p.ID), "1499999\n1500000\ndone") {
		t.Errorf("the screen shows\n%s", m.screen(p.ID))
	}
}

func TestExitWithoutAnEngineIsReported(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	flag := filepath.Join(m.dir, "flag")
	p := m.start("sh", "-c", `while [ ! -e "$0" ]; do sleep 0.01; done; echo last words; exit 9`, flag)
	engine := m.info().EnginePID
	if err := unix.Kill(engine, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(flag, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wait.File(m, filepath.Join(filepath.Dir(p.LogPath), "exit.json"))
	wait.Kill(m, engine)
	end := m.awaitEnd(p.ID)
	if end.ExitCode == nil || *end.ExitCode != 9 || end.State != api.StateExited {
		t.Errorf("ended as %+v", end)
	}
	m.awaitScreen(p.ID, "last words")
	wait.Kill(m, m.info().EnginePID)
	if again := m.get(p.ID); again.ExitCode == nil || *again.ExitCode != 9 || !again.ExitedAt.Equal(*end.ExitedAt) {
		t.Errorf("later known as %+v, before as %+v", again, end)
	}
	m.awaitScreen(p.ID, "last words")
}

func TestKillingTheKeeperEndsNoSession(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	p := m.start("sh", "-c", `while read line; do echo got $line; [ $line = end ] && exit 5; done`)
	for i := range 3 {
		before := m.info()
		wait.Kill(m, before.KeeperPID)
		m.eventually("another keeper", func() bool {
			after := m.info()
			if after.EnginePID != before.EnginePID {
				t.Fatal("the engine ended too")
			}
			return after.KeeperPID != 0 && after.KeeperPID != before.KeeperPID
		})
		m.write(p.ID, fmt.Sprintf("word%d\r", i))
		m.awaitScreen(p.ID, fmt.Sprintf("got word%d", i))
	}
	wait.Kill(m, m.info().EnginePID)
	m.write(p.ID, "more\r")
	m.awaitScreen(p.ID, "got more")
	other := m.start("sh", "-c", "exit 3")
	if end := m.awaitEnd(other.ID); end.ExitCode == nil || *end.ExitCode != 3 {
		t.Errorf("ended as %+v", end)
	}
	m.write(p.ID, "end\r")
	if end := m.awaitEnd(p.ID); end.ExitUnknown == (end.ExitCode != nil) || (end.ExitCode != nil && *end.ExitCode != 5) {
		t.Errorf("ended as %+v", end)
	}
}

func TestKillLeavesNoGrandchildThatIgnoresSignals(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := sharedMachine(t)
	p := m.start("sh", "-c", `sh -c 'trap "" HUP TERM; echo child $$.; while :; do sleep 0.1; done' & wait`)
	m.awaitScreen(p.ID, "child ")
	var child int
	m.eventually("the grandchild's pid", func() bool {
		found := regexp.MustCompile(`child (\d+)\.`).FindStringSubmatch(m.screen(p.ID))
		if found != nil {
			child, _ = strconv.Atoi(found[1])
		}
		return found != nil
	})
	end := call(m, api.SessionKill, api.IDInput{ID: p.ID})
	if end.State != api.StateStopped || isRunning(child) || isRunning(p.PID) {
		t.Errorf("answered %+v; grandchild lives: %v", end, isRunning(child))
	}
}

func TestKillContinuesAfterAnEngineDeath(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	p := m.start("sh", "-c", `trap "" HUP TERM; echo ready; while :; do sleep 0.1; done`)
	m.awaitScreen(p.ID, "ready")
	engine := m.info().EnginePID
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		api.SessionKill.Call(context.Background(), m.client, api.IDInput{ID: p.ID})
	}()
	m.eventually("the wish on disk", func() bool {
		text, _ := os.ReadFile(filepath.Join(filepath.Dir(p.LogPath), "record.json"))
		return strings.Contains(string(text), `"stopping"`)
	})
	wait.Kill(m, engine)
	<-gone
	if end := m.awaitEnd(p.ID); end.State != api.StateStopped || isRunning(p.PID) {
		t.Errorf("ended as %+v", end)
	}
}

func TestReplayUsesRecordedSizes(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.start("sh", "-c", `printf '\033[2J\033[H'; i=0; while [ $i -lt 60 ]; do printf x; i=$((i+1)); done; echo; read x; stty size; printf '\033[1;90Hend'; read x`)
	m.awaitScreen(p.ID, "xxx")
	call(m, api.SessionResize, api.SessionResizeInput{ID: p.ID, Cols: 100, Rows: 30})
	m.write(p.ID, "\r")
	m.awaitScreen(p.ID, "30 100")
	m.awaitScreen(p.ID, "end")
	before := m.screen(p.ID)
	wait.Kill(m, m.info().EnginePID)
	if after := m.screen(p.ID); after != before {
		t.Errorf("the screen was\n%s\nand is\n%s", before, after)
	}
	if got := m.get(p.ID).Terminal; got.Cols != 100 || got.Rows != 30 {
		t.Errorf("size %dx%d", got.Cols, got.Rows)
	}
}

func TestDamagedRecordAffectsNoOtherSession(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p, other := m.start("cat"), m.start("cat")
	engine := m.info().EnginePID
	unix.Kill(engine, unix.SIGSTOP)
	record := filepath.Join(filepath.Dir(p.LogPath), "record.json")
	if err := os.WriteFile(record, []byte("not a record"), 0o600); err != nil {
		t.Fatal(err)
	}
	wait.Kill(m, engine)
	for _, s := range []api.Process{p, other} {
		m.write(s.ID, "alive\r")
		m.awaitScreen(s.ID, "alive")
		if now := m.get(s.ID); now.PID != s.PID || now.Command != "cat" {
			t.Errorf("became %+v", now)
		}
	}
	if _, err := os.Stat(record + ".bad"); err != nil {
		t.Error(err)
	}
}

func TestRecordFromEarlierBootCountsAsExitedAndItsPIDIsNotSignalled(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.start("cat")
	call(m, api.EngineStop, api.EngineStopInput{})
	m.eventually("the engine's end", func() bool {
		_, err := os.Stat(filepath.Join(m.dir, "tandem.sock"))
		return err != nil
	})
	data, err := store.Open(m.dir)
	if err != nil {
		t.Fatal(err)
	}
	who, err := store.Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	who.BootID = "another boot"
	old := supervise.NewRecord(api.NewID(), api.KindSession)
	old.Name, old.Argv, old.TTY, old.State, old.Identity = "old", []string{"sh"}, true, "running", &who
	if err := data.Save(old); err != nil {
		t.Fatal(err)
	}
	conn, err := client.Activate(t.Context(), m.options())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := m.get(old.ID); got.State != api.StateExited || !got.ExitUnknown || got.PID != 0 {
		t.Errorf("became %+v", got)
	}
	if now := m.get(p.ID); now.PID != p.PID || now.State != api.StateRunning {
		t.Errorf("the other session became %+v", now)
	}
}

func TestSessionsOfAKilledEngineAndKeeperAreReportedAsLost(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	p := m.start("sh", "-c", `trap "" HUP; echo ready; while :; do sleep 0.1; done`)
	m.awaitScreen(p.ID, "ready")
	i := m.info()
	unix.Kill(i.EnginePID, unix.SIGSTOP)
	wait.Kill(m, i.KeeperPID)
	wait.Kill(m, i.EnginePID)
	conn, err := client.Activate(t.Context(), m.options())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	end := m.awaitEnd(p.ID)
	if end.State != api.StateExited || end.Error == "" && !end.ExitUnknown && end.ExitSignal == "" {
		t.Errorf("ended as %+v", end)
	}
	if isRunning(p.PID) {
		t.Error("its program lives on without a terminal")
	}
	m.awaitScreen(p.ID, "ready")
}

func TestReplacedEngineKeepsItsSessions(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.start("cat")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	before := m.info()
	call(m, api.EngineStop, api.EngineStopInput{Replace: exe, InPlace: true})
	m.awaitNextEngine(before)
	m.write(p.ID, "still here\r")
	m.awaitScreen(p.ID, "still here")
	if after := m.info(); after.KeeperPID != before.KeeperPID {
		t.Error("the keeper was replaced too")
	}
}

func TestEngineExitsWithoutItsFolderAndKeeper(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.start("sleep", "1000")
	before := m.info()
	if err := os.Rename(m.dir, m.dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	wait.Kill(m, before.KeeperPID)
	wait.Exit(m, before.EnginePID)
	wait.Exit(m, p.PID)
	if _, err := os.Stat(m.dir); err == nil {
		t.Error("the folder is back")
	}
	if err := os.Rename(m.dir+"-moved", m.dir); err != nil {
		t.Fatal(err)
	}
	conn, err := client.Activate(t.Context(), m.options())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if got := m.get(p.ID); !got.State.Ended() || !got.ExitUnknown {
		t.Errorf("became %+v", got)
	}
}

func TestSecondEngineOnAFolderIsRejected(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	pid := m.info().EnginePID
	ctx, cancel := context.WithTimeout(context.Background(), wait.Timeout)
	defer cancel()
	err := engine.Run(ctx, engine.Options{DataDir: m.dir})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("another engine (pid %d)", pid)) {
		t.Errorf("Run: %v", err)
	}
}

func TestReusedPIDIsNotKilled(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.startProcess(api.ProcessStartInput{Command: sh("exec sleep 1000"), KeepAlive: true})
	i := m.info()
	unix.Kill(i.EnginePID, unix.SIGSTOP)
	wait.Kill(m, i.KeeperPID)
	wait.Kill(m, i.EnginePID)
	wait.Kill(m, p.PID)
	other := exec.Command("sleep", "1000")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		other.Process.Kill()
		other.Wait()
	}()
	data, err := store.Open(m.dir)
	if err != nil {
		t.Fatal(err)
	}
	records, problems := data.Load()
	if len(records) != 1 || len(problems) > 0 {
		t.Fatal(records, problems)
	}
	records[0].Identity.PID = other.Process.Pid // as if the PID had been reused
	if err := data.Save(records[0]); err != nil {
		t.Fatal(err)
	}
	m.activate()
	if now := m.getProcess(p.ID); now.PID == other.Process.Pid || now.State == api.StateRunning {
		t.Errorf("taken for %+v", now)
	}
	call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID})
	call(m, api.ProcessRestart, api.ProcessRestartInput{ID: p.ID})
	call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID})
	if stat, ok := proctree.Read(other.Process.Pid); !ok || stat.IsZombie() {
		t.Error("a process that is none of ours was ended")
	}
}
