package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/persist/store"
	"tandem/tests/needs"
)

func (m *machine) startProcess(in api.ProcessStartInput) api.Process {
	m.Helper()
	return call(m, api.ProcessStart, in)
}

func (m *machine) getProcess(id string) api.Process {
	m.Helper()
	return call(m, api.ProcessGet, api.IDInput{ID: id})
}

// awaitState waits until a process is in a state.
func (m *machine) awaitState(id string, state api.State) api.Process {
	m.Helper()
	m.mayHandOver()
	var p api.Process
	m.eventually(id+" "+string(state), func() bool { p = m.getProcess(id); return p.State == state })
	return p
}

// awaitOutput waits until the log of a process contains text, and returns the log.
func (m *machine) awaitOutput(p api.Process, text string) string {
	m.Helper()
	m.eventually("output "+text, func() bool {
		_, err := os.Stat(p.LogPath)
		return err == nil && strings.Contains(m.logOf(p), text)
	})
	return m.logOf(p)
}

// printedNumbers returns the numbers after a word in the log of a process.
func (m *machine) printedNumbers(p api.Process, word string) (all []int) {
	m.Helper()
	for _, found := range regexp.MustCompile(word+` (\d+)`).FindAllStringSubmatch(m.logOf(p), -1) {
		n, _ := strconv.Atoi(found[1])
		all = append(all, n)
	}
	return all
}

func sh(script string) []string { return []string{"sh", "-c", script} }

func TestProcessWritesItsLogAndReportsItsExitStatus(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.startProcess(api.ProcessStartInput{Command: sh("echo out; echo err >&2; exit 7"), Name: "job"})
	end := m.awaitState(p.ID, api.StateExited)
	if end.ExitCode == nil || *end.ExitCode != 7 || end.Kind != api.KindProcess || end.Name != "job" {
		t.Errorf("ended as %+v", end)
	}
	if got := m.logOf(end); got != "out\nerr\n" {
		t.Errorf("log %q", got)
	}
}

func TestSplitLogSeparatesStandardError(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.startProcess(api.ProcessStartInput{Command: sh("echo out; echo err >&2"), SplitLog: true})
	end := m.awaitState(p.ID, api.StateExited)
	errors, _ := os.ReadFile(filepath.Join(filepath.Dir(end.LogPath), store.StderrName))
	if m.logOf(end) != "out\n" || string(errors) != "err\n" {
		t.Errorf("logs %q and %q", m.logOf(end), errors)
	}
}

func TestStopKillsTheWholeTree(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	scripts := map[string]string{
		"children in other sessions":         `setsid sh -c 'echo child $$; exec sleep 1000' & sleep 1000`,
		"orphans in other sessions":          `(setsid sh -c 'echo child $$; exec sleep 1000' &); sleep 1000`,
		"a grandchild that ignores TERM":     `trap 'exit 0' TERM; sh -c 'trap "" TERM; echo child $$; while :; do sleep 0.1; done' & wait`,
		"an orphan daemon that ignores TERM": `(setsid sh -c 'trap "" TERM; echo child $$; while :; do sleep 0.1; done' &); while :; do sleep 0.1; done`,
	}
	m := startMachine(t)
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			p := m.startProcess(api.ProcessStartInput{Command: []string{"bash", "-c", script}, StopTimeoutMS: 300})
			m.awaitOutput(p, "child ")
			child := m.printedNumbers(p, "child")[0]
			end := call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID})
			if end.State != api.StateStopped || isRunning(p.PID) || isRunning(child) {
				t.Errorf("answered %+v; child lives: %v", end, isRunning(child))
			}
		})
	}
}

func TestStopSendsTheSignalOfTheProcessOrTheCaller(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	script := sh(`trap 'exit 3' INT; trap 'exit 4' USR1; trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done`)
	for _, test := range []struct {
		own, asked string
		code       int
	}{{"", "", 5}, {"int", "", 3}, {"SIGINT", "SIGUSR1", 4}, {"", "10", 4}} {
		p := m.startProcess(api.ProcessStartInput{Command: script, StopSignal: test.own})
		m.awaitOutput(p, "ready")
		end := call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID, Signal: test.asked})
		if end.ExitCode == nil || *end.ExitCode != test.code {
			t.Errorf("%+v: %+v", test, end)
		}
	}
}

func TestProcessWithATerminalGetsItsStopSignalAndTimeout(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	script := func(signal string) []string {
		return sh(`trap 'sleep 1; exit 5' ` + signal + `; echo ready; while :; do sleep 0.01; done`)
	}
	for own, trapped := range map[string]string{"": "TERM", "INT": "INT", "HUP": "HUP"} {
		p := m.startProcess(api.ProcessStartInput{Command: script(trapped), TTY: true, StopSignal: own})
		m.awaitOutput(p, "ready")
		if end := call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID}); end.ExitCode == nil || *end.ExitCode != 5 {
			t.Errorf("stop signal %q: %+v", own, end)
		}
	}
}

func TestSessionWithoutAStopSignalGetsSIGHUP(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.start("sh", "-c", `trap 'exit 6' HUP; trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done`)
	m.awaitOutput(p, "ready")
	if end := call(m, api.SessionKill, api.IDInput{ID: p.ID}); end.ExitCode == nil || *end.ExitCode != 6 {
		t.Errorf("killed: %+v", end)
	}
}

func TestSignalReachesTheGroupAndMustBeKnown(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.startProcess(api.ProcessStartInput{Command: sh(`trap 'echo leader' USR1; sh -c 'trap "echo child" USR1; echo ready; while :; do sleep 0.01; done' & while :; do sleep 0.01; done`)})
	m.awaitOutput(p, "ready")
	call(m, api.ProcessSignal, api.ProcessSignalInput{ID: p.ID, Signal: "usr1"})
	m.awaitOutput(p, "leader")
	m.awaitOutput(p, "child")
	for _, wrong := range []string{"", "0", "65", "-9", "SIGNOTHING"} {
		_, err := api.ProcessSignal.Call(t.Context(), m.client, api.ProcessSignalInput{ID: p.ID, Signal: wrong})
		if !errors.Is(err, api.CodeInvalid) {
			t.Errorf("signal %q: %v", wrong, err)
		}
	}
	call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID, Signal: "KILL"})
	_, err := api.ProcessSignal.Call(t.Context(), m.client, api.ProcessSignalInput{ID: p.ID, Signal: "HUP"})
	if !errors.Is(err, api.CodeEnded) {
		t.Errorf("signal to an ended process: %v", err)
	}
}

func TestRestartReplacesTheWholeTree(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.startProcess(api.ProcessStartInput{Command: sh(`setsid sh -c 'echo child $$; exec sleep 1000' & sleep 1000`), Name: "web"})
	// A child that leaves its group while the group gets its signal is killed only after the stop
	// timeout.
	m.awaitOutput(p, "child ")
	again := call(m, api.ProcessRestart, api.ProcessRestartInput{ID: "web"})
	if again.State != api.StateRunning || again.PID == p.PID || again.ID != p.ID || isRunning(p.PID) || again.Supervision.Restarts != 1 {
		t.Errorf("became %+v", again)
	}
	if child := m.printedNumbers(p, "child")[0]; isRunning(child) {
		t.Errorf("the old tree's child %d is still there", child)
	}
	m.eventually("the new tree's child", func() bool { return len(m.printedNumbers(p, "child")) == 2 })
	call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID})
	again = call(m, api.ProcessRestart, api.ProcessRestartInput{ID: p.ID})
	if again.State != api.StateRunning || again.Supervision.Restarts != 2 {
		t.Errorf("became %+v", again)
	}
}

func TestStoppedKeepAliveStaysStoppedUntilARestart(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.startProcess(api.ProcessStartInput{Command: sh("echo run; exec sleep 1000"), KeepAlive: true, Restart: &api.Restart{DelayMS: 1}})
	unix.Kill(p.PID, unix.SIGKILL)
	m.eventually("another run", func() bool {
		now := m.getProcess(p.ID)
		return now.State == api.StateRunning && now.PID != p.PID
	})
	call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID})
	m.crash(m.info().EnginePID)
	if now := m.getProcess(p.ID); now.State != api.StateStopped || !now.KeepAlive {
		t.Errorf("became %+v", now)
	}
}

func TestFailingServiceShowsReasonAndLastLines(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.startProcess(api.ProcessStartInput{Command: sh("echo no database; exit 1"), Restart: &api.Restart{Policy: api.PolicyOnFailure, Max: 2, DelayMS: 1}})
	end := m.awaitState(p.ID, api.StateFailed)
	if !strings.Contains(end.Error, "exited with 1") || end.ExitCode == nil || *end.ExitCode != 1 || end.Supervision.Restarts != 2 {
		t.Errorf("failed as %+v", end)
	}
	if lines := end.Supervision.LastLines; len(lines) != 3 || lines[2] != "no database" {
		t.Errorf("last lines %q", lines)
	}
	other := m.startProcess(api.ProcessStartInput{Command: sh("echo again; exit 1"), KeepAlive: true})
	waiting := m.awaitState(other.ID, api.StateBackoff)
	if s := waiting.Supervision; s.NextStart == nil || len(s.LastLines) != 1 || waiting.Error == "" {
		t.Errorf("in backoff as %+v", waiting)
	}
	if end := call(m, api.ProcessStop, api.ProcessStopInput{ID: other.ID}); end.State != api.StateStopped {
		t.Errorf("stopped as %+v", end)
	}
}

func TestReadinessIsAwaitedAndItsTimeoutFails(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.startProcess(api.ProcessStartInput{Command: sh("echo starting; sleep 0.2; echo now ready; exec sleep 1000"), Ready: &api.Readiness{Log: "^now ready$", Command: []string{"true"}}})
	if p.Supervision.Ready == nil || *p.Supervision.Ready {
		t.Errorf("started as %+v", p.Supervision)
	}
	out := call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Ready: true})
	if out.Met != "ready" || !*out.Process.Supervision.Ready {
		t.Errorf("waited: %+v", out)
	}
	m.crash(m.info().EnginePID)
	if now := m.getProcess(p.ID); !*now.Supervision.Ready {
		t.Error("forgot that it is ready")
	}
	never := m.startProcess(api.ProcessStartInput{Command: []string{"sleep", "1000"}, Ready: &api.Readiness{Command: []string{"false"}, TimeoutMS: 100}})
	end := m.awaitState(never.ID, api.StateFailed)
	if !strings.Contains(end.Error, "not ready") || isRunning(never.PID) {
		t.Errorf("failed as %+v", end)
	}
}

func TestWaitForInputIsMetWhileAChildReads(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.startProcess(api.ProcessStartInput{Command: sh("read x; sleep 1000"), Stdin: true})
	if out := call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Input: true}); out.Met != "input" {
		t.Errorf("input: %+v", out)
	}
	call(m, api.ProcessWrite, api.ProcessWriteInput{ID: p.ID, Text: "x\n"})
	m.eventually("it no longer waits", func() bool {
		return call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Input: true, TimeoutMS: 1}).Met == ""
	})
	without := m.startProcess(api.ProcessStartInput{Command: sh("sleep 1000")})
	if _, err := api.ProcessWait.Call(t.Context(), m.client, api.ProcessWaitInput{ID: without.ID, Input: true}); !errors.Is(err, api.CodeConflict) {
		t.Errorf("without stdin: %v", err)
	}
}

func TestRestartedTerminalContinuesItsLog(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.startProcess(api.ProcessStartInput{Command: sh("echo run $$.; exec cat"), TTY: true, KeepAlive: true, Restart: &api.Restart{DelayMS: 1}})
	m.awaitScreen(p.ID, "run ")
	unix.Kill(p.PID, unix.SIGKILL)
	m.eventually("another run", func() bool {
		now := m.getProcess(p.ID)
		return now.State == api.StateRunning && now.PID != p.PID
	})
	m.eventually("both runs in the log", func() bool { return strings.Count(m.logOf(p), "run ") == 2 })
	m.write(p.ID, "hello\r")
	m.awaitScreen(p.ID, "hello")
	if now := m.getProcess(p.ID); now.Kind != api.KindSession || !now.KeepAlive {
		t.Errorf("became %+v", now)
	}
}

func TestExecReturnsOutputAndStatus(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	out := call(m, api.Exec, api.ExecInput{Command: sh(`echo "$X $TERM"; echo err >&2; exit 3`), Env: map[string]string{"X": "x"}})
	if out.Stdout != "x dumb\n" || out.Stderr != "err\n" || *out.Process.ExitCode != 3 || out.TimedOut || out.DurationMS <= 0 {
		t.Errorf("%+v", out)
	}
	out = call(m, api.Exec, api.ExecInput{Command: sh(`echo $TERM; seq 1 1000`), Env: map[string]string{"TERM": "vt100"}, MaxOutput: 5})
	if out.Stdout != "1000\n" || out.StdoutDropped != 6+3893-5 {
		t.Errorf("%+v", out)
	}
	out = call(m, api.Exec, api.ExecInput{Command: sh(`sleep 1000 & echo $!`)})
	child, err := strconv.Atoi(strings.TrimSpace(out.Stdout))
	if err != nil || out.TimedOut {
		t.Fatalf("with a child that holds its output: %+v", out)
	}
	syscall.Kill(child, syscall.SIGKILL)
}

// execTooLong runs a command that prints a line and then takes too long. The timeout is long
// enough for the line: doubled until there is one.
func (m *machine) execTooLong(in api.ExecInput) (out api.ExecOutput) {
	m.Helper()
	for in.TimeoutMS = 500; out.Stdout == "" && in.TimeoutMS < int(testTimeout.Milliseconds()); in.TimeoutMS *= 2 {
		if out.Process.State == api.StateRunning { // it began too late
			call(m, api.ProcessStop, api.ProcessStopInput{ID: out.Process.ID})
		}
		out = call(m, api.Exec, in)
	}
	return out
}

func TestTimedOutExecContinuesAsAProcess(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	goOn := filepath.Join(t.TempDir(), "go-on")
	out := m.execTooLong(api.ExecInput{Command: sh("echo a; until [ -e " + goOn + " ]; do sleep 0.02; done; echo b")})
	if !out.TimedOut || out.Stdout != "a\n" || out.Process.State != api.StateRunning {
		t.Errorf("%+v", out)
	}
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	end := m.awaitState(out.Process.ID, api.StateExited)
	if got := m.logOf(end); got != "a\nb\n" {
		t.Errorf("log %q", got)
	}
	out = m.execTooLong(api.ExecInput{Command: sh("trap '' TERM; echo deaf; sleep 1000"), Kill: true})
	if !out.TimedOut || out.Process.State != api.StateStopped || out.Process.ExitSignal != "SIGKILL" {
		t.Errorf("killed: %+v", out)
	}
	out = m.execTooLong(api.ExecInput{Command: sh("sleep 1000 & trap 'echo bye; exit 0' TERM; echo listens; wait"), Kill: true})
	if !out.TimedOut || out.Stdout != "listens\nbye\n" || out.Process.State != api.StateStopped || out.Process.ExitCode == nil {
		t.Errorf("what ends on SIGTERM gave %+v", out)
	}
}

func TestSharedVariablesReachStartsAndSurviveTheEngine(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	call(m, api.EnvSet, api.EnvSetInput{Name: "COLOUR", Value: "blue"})
	call(m, api.EnvSet, api.EnvSetInput{Name: "API_TOKEN", Value: "hidden"})
	m.crash(m.info().EnginePID)
	out := call(m, api.Exec, api.ExecInput{Command: sh("echo $COLOUR $API_TOKEN")})
	if out.Stdout != "blue hidden\n" {
		t.Errorf("%+v", out)
	}
	all := call(m, api.EnvList, api.EnvListInput{}).Variables
	if len(all) != 2 || all[0] != (api.EnvVar{Name: "API_TOKEN", Redacted: true}) || all[1].Value != "blue" {
		t.Errorf("%+v", all)
	}
	if v := call(m, api.EnvGet, api.EnvInput{Name: "API_TOKEN", Reveal: true}); v.Value != "hidden" {
		t.Errorf("%+v", v)
	}
	call(m, api.EnvUnset, api.EnvInput{Name: "COLOUR"})
	if _, err := api.EnvGet.Call(t.Context(), m.client, api.EnvInput{Name: "COLOUR"}); !errors.Is(err, api.CodeNotFound) {
		t.Errorf("after unset: %v", err)
	}
	info, err := os.Stat(filepath.Join(m.dir, "env.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// killBoth kills engine and keeper at the same time and starts others.
func (m *machine) killBoth() {
	m.Helper()
	i := m.info()
	unix.Kill(i.EnginePID, unix.SIGSTOP)
	m.crash(i.KeeperPID)
	m.crash(i.EnginePID)
	m.activate()
}

// activate starts keeper and engine if they are not running.
func (m *machine) activate() {
	m.Helper()
	m.eventually("an engine", func() bool { // a busy disk may take a while
		conn, err := client.Activate(context.Background(), m.options())
		if err != nil {
			m.Log(err)
			return false
		}
		conn.Close()
		return true
	})
}

func TestProcessesSurviveTheDeathOfEngineAndKeeper(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	p := m.startProcess(api.ProcessStartInput{Command: sh(`trap 'exit 6' USR1; echo ready; while :; do sleep 0.01; done`), KeepAlive: true})
	m.awaitOutput(p, "ready")
	m.killBoth()
	if now := m.getProcess(p.ID); now.PID != p.PID || now.State != api.StateRunning {
		t.Errorf("became %+v", now)
	}
	call(m, api.ProcessSignal, api.ProcessSignalInput{ID: p.ID, Signal: "USR1"})
	m.eventually("its end", func() bool { return m.getProcess(p.ID).PID != p.PID })
	if now := m.getProcess(p.ID); now.State == api.StateBackoff && now.ExitCode != nil && *now.ExitCode != 6 {
		t.Errorf("ended as %+v", now)
	}
}

// reboot makes a stopped data directory look as after a reboot: its processes belong to another
// boot.
func (m *machine) reboot() {
	m.Helper()
	m.replaceBoth(func(r *store.Record) {
		if r.Identity != nil {
			r.Identity.BootID = "another boot"
		}
	})
}

// replaceBoth kills keeper and engine, changes the records, and starts others.
func (m *machine) replaceBoth(change func(*store.Record)) {
	m.Helper()
	m.loseBoth(change)
	m.activate()
}

// loseBoth kills keeper and engine and changes the records. The engine was in a cgroup that is gone.
func (m *machine) loseBoth(change func(*store.Record)) {
	m.Helper()
	i := m.info()
	unix.Kill(i.EnginePID, unix.SIGSTOP)
	m.crash(i.KeeperPID)
	m.crash(i.EnginePID)
	m.changeRecords(change)
}

// changeRecords changes the records of an engine that has exited, and makes its keeper that of
// another boot.
func (m *machine) changeRecords(change func(*store.Record)) {
	m.Helper()
	data, err := store.Open(m.dir)
	if err != nil {
		m.Fatal(err)
	}
	records, problems := data.Load()
	if len(problems) > 0 {
		m.Fatal(problems)
	}
	for _, r := range records {
		if change(&r); r.Cgroup != "" {
			r.Cgroup = filepath.Join("/none", filepath.Base(r.Cgroup))
		}
		if err := data.Save(r); err != nil {
			m.Fatal(err)
		}
	}
	last, err := data.LoadLastEngine()
	if last.Keeper.BootID = "another boot"; err != nil || data.SaveLastEngine(last) != nil {
		m.Fatal("description of the engine:", err)
	}
}

func TestRebootRestartsOnlyProcessesWithAPolicy(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	start := func(name string, in api.ProcessStartInput) api.Process {
		in.Name, in.Command = name, []string{"sleep", "1000"}
		return m.startProcess(in)
	}
	all := []api.Process{
		start("kept", api.ProcessStartInput{KeepAlive: true}),
		start("unless-stopped", api.ProcessStartInput{Restart: &api.Restart{Policy: api.PolicyUnlessStopped}}),
		start("stopped", api.ProcessStartInput{KeepAlive: true}),
		start("once", api.ProcessStartInput{}),
	}
	call(m, api.ProcessStop, api.ProcessStopInput{ID: "stopped"})
	m.reboot()
	for name, want := range map[string]api.State{
		"kept": api.StateRunning, "unless-stopped": api.StateRunning, "stopped": api.StateStopped, "once": api.StateExited,
	} {
		p := m.awaitState(name, want)
		if want == api.StateExited && !p.ExitUnknown {
			t.Errorf("%s became %+v", name, p)
		}
	}
	for _, old := range all {
		if now := m.getProcess(old.ID); now.PID == old.PID {
			t.Errorf("%s has the pid of another boot", old.Name)
		}
		if isRunning(old.PID) { // to Tandem it belongs to someone else, so it is left alone
			unix.Kill(old.PID, unix.SIGKILL)
		} else if old.Name != "stopped" {
			t.Errorf("a reused pid was signalled: that of %s", old.Name)
		}
	}
}

func TestRestartDelayPassesWithoutAnEngine(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.startProcess(api.ProcessStartInput{Command: sh("echo run; exit 1"), KeepAlive: true, Restart: &api.Restart{DelayMS: 300}})
	before := m.awaitState(p.ID, api.StateBackoff)
	m.crash(m.info().EnginePID)
	m.eventually("another run", func() bool { return m.getProcess(p.ID).Supervision.Restarts > before.Supervision.Restarts })
	if now := m.getProcess(p.ID); now.Supervision.Restarts > before.Supervision.Restarts+1 {
		t.Errorf("became %+v", now)
	}
}

func TestSandboxedProcessWritesOnlyToAllowedPaths(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	dir := t.TempDir()
	allowed, denied := filepath.Join(dir, "allowed"), filepath.Join(dir, "denied")
	for _, d := range []string{allowed, denied} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	confined := &api.Sandbox{Filesystem: api.SandboxFilesystem{AllowWrite: []string{allowed}}, Network: &api.SandboxNetwork{}}
	out := call(m, api.Exec, api.ExecInput{Command: append(sh(`echo a >"$0/file" && echo wrote; echo b >"$1/file" || echo refused`), allowed, denied), Sandbox: confined})
	if out.Stdout != "wrote\nrefused\n" || !out.Process.Supervision.Sandboxed {
		t.Errorf("%+v", out)
	}
	if _, err := os.Stat(filepath.Join(denied, "file")); err == nil {
		t.Error("it wrote where it may not")
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(out.Process.LogPath), "sandbox.json")); err != nil {
		t.Error(err)
	}
	_, err := api.ProcessStart.Call(t.Context(), m.client, api.ProcessStartInput{
		Command: []string{"true"}, Sandbox: &api.Sandbox{Filesystem: api.SandboxFilesystem{AllowWrite: []string{m.dir}}},
	})
	if !errors.Is(err, api.CodeInvalid) {
		t.Errorf("a sandbox that may write the data folder: %v", err)
	}
}

func TestMetricsIncludeProcessesDetachedBeforeTheFirstSample(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.startProcess(api.ProcessStartInput{Command: []string{"bash", "-c", `(setsid sh -c 'sleep 1000 & echo child; wait' &); exec sleep 1000`}})
	m.awaitOutput(p, "child")
	m.eventually("the whole tree", func() bool { return m.getProcess(p.ID).Metrics.Processes == 3 })
	call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID})
	m.wantNoStrangers()
}
