package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"tandem/engine/api"
	"tandem/persist/store"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

// TestRealProcessesStartStopAndReport checks, on one machine, what the kernel does with real
// processes.
func TestRealProcessesStartStopAndReport(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	for name, check := range map[string]func(t *testing.T, m *machine){
		"the log and the exit status":       checkLogAndStatus,
		"a log for each stream":             checkSplitLog,
		"a stop kills the whole tree":       checkStopKillsTree,
		"a stop sends the signal":           checkStopSignal,
		"a session gets SIGHUP":             checkSessionStop,
		"a signal reaches the group":        checkSignal,
		"a restart replaces the whole tree": checkRestart,
		"readiness":                         checkReadiness,
		"a wait for input":                  checkWaitForInput,
		"a command that leaves a child":     checkCommandWithChild,
		"a command that takes too long":     checkTimedOutCommand,
		"metrics":                           checkMetrics,
		"a sandbox":                         checkSandboxedProcess,
	} {
		t.Run(name, func(t *testing.T) { check(t, m.in(t)) })
	}
}

func checkLogAndStatus(t *testing.T, m *machine) {
	p := m.startProcess(api.ProcessStartInput{Command: sh("echo out; echo err >&2; exit 7"), Name: "job"})
	end := m.awaitState(p.ID, api.StateExited)
	if end.ExitCode == nil || *end.ExitCode != 7 || end.Kind != api.KindProcess || end.Name != "job" {
		t.Errorf("ended as %+v", end)
	}
	if got := m.logOf(end); got != "out\nerr\n" {
		t.Errorf("log %q", got)
	}
}

func checkSplitLog(t *testing.T, m *machine) {
	p := m.startProcess(api.ProcessStartInput{Command: sh("echo out; echo err >&2"), SplitLog: true})
	end := m.awaitState(p.ID, api.StateExited)
	errors, _ := os.ReadFile(filepath.Join(filepath.Dir(end.LogPath), store.StderrName))
	if m.logOf(end) != "out\n" || string(errors) != "err\n" {
		t.Errorf("logs %q and %q", m.logOf(end), errors)
	}
}

func checkStopKillsTree(t *testing.T, m *machine) {
	scripts := map[string]string{
		"children in other sessions":         `setsid sh -c 'echo child $$; exec sleep 1000' & sleep 1000`,
		"orphans in other sessions":          `(setsid sh -c 'echo child $$; exec sleep 1000' &); sleep 1000`,
		"a grandchild that ignores TERM":     `trap 'exit 0' TERM; sh -c 'trap "" TERM; echo child $$; while :; do sleep 0.1; done' & wait`,
		"an orphan daemon that ignores TERM": `(setsid sh -c 'trap "" TERM; echo child $$; while :; do sleep 0.1; done' &); while :; do sleep 0.1; done`,
	}
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

func checkStopSignal(t *testing.T, m *machine) {
	// A child in the background ignores SIGINT.
	script := sh(`stop() { kill $!; exit $1; }; trap 'stop 3' INT; trap 'stop 4' USR1; trap 'stop 5' TERM; sleep 1000 & echo ready; wait`)
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

func checkSessionStop(t *testing.T, m *machine) {
	p := m.start("sh", "-c", `trap 'exit 6' HUP; trap 'exit 5' TERM; sleep 1000 & echo ready; wait`)
	m.awaitOutput(p, "ready")
	if end := call(m, api.SessionKill, api.IDInput{ID: p.ID}); end.ExitCode == nil || *end.ExitCode != 6 {
		t.Errorf("killed: %+v", end)
	}
}

func checkSignal(t *testing.T, m *machine) {
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

func checkRestart(t *testing.T, m *machine) {
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

func checkReadiness(t *testing.T, m *machine) {
	p := m.startProcess(api.ProcessStartInput{Command: sh("echo starting; sleep 0.2; echo now ready; exec sleep 1000"), Ready: &api.Readiness{Log: "^now ready$", Command: []string{"true"}}})
	if p.Supervision.Ready == nil || *p.Supervision.Ready {
		t.Errorf("started as %+v", p.Supervision)
	}
	out := call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Ready: true})
	if out.Met != "ready" || !*out.Process.Supervision.Ready {
		t.Errorf("waited: %+v", out)
	}
	never := m.startProcess(api.ProcessStartInput{Command: []string{"sleep", "1000"}, Ready: &api.Readiness{Command: []string{"false"}, TimeoutMS: 100}})
	end := m.awaitState(never.ID, api.StateFailed)
	if !strings.Contains(end.Error, "not ready") || isRunning(never.PID) {
		t.Errorf("failed as %+v", end)
	}
}

func checkWaitForInput(t *testing.T, m *machine) {
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

func checkCommandWithChild(t *testing.T, m *machine) {
	out := call(m, api.Exec, api.ExecInput{Command: sh(`echo "$X $TERM"; echo err >&2; exit 3`), Env: map[string]string{"X": "x"}})
	if out.Stdout != "x dumb\n" || out.Stderr != "err\n" || *out.Process.ExitCode != 3 || out.TimedOut || out.DurationMS <= 0 {
		t.Errorf("%+v", out)
	}
	out = call(m, api.Exec, api.ExecInput{Command: sh(`sleep 1000 & echo $!`)})
	child, err := strconv.Atoi(strings.TrimSpace(out.Stdout))
	if err != nil || out.TimedOut {
		t.Fatalf("with a child that holds its output: %+v", out)
	}
	syscall.Kill(child, syscall.SIGKILL)
}

func checkTimedOutCommand(t *testing.T, m *machine) {
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

func checkMetrics(t *testing.T, m *machine) {
	p := m.startProcess(api.ProcessStartInput{Command: []string{"bash", "-c", `(setsid sh -c 'sleep 1000 & echo child; wait' &); exec sleep 1000`}})
	m.awaitOutput(p, "child")
	m.eventually("the whole tree", func() bool { return m.getProcess(p.ID).Metrics.Processes == 3 })
	call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID})
}

func checkSandboxedProcess(t *testing.T, m *machine) {
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

// execTooLong runs a command that prints a line and then takes too long. The timeout is long
// enough for the line: doubled until there is one.
func (m *machine) execTooLong(in api.ExecInput) (out api.ExecOutput) {
	m.Helper()
	for in.TimeoutMS = 500; out.Stdout == "" && in.TimeoutMS < int(wait.Timeout.Milliseconds()); in.TimeoutMS *= 2 {
		if out.Process.State == api.StateRunning { // it began too late
			call(m, api.ProcessStop, api.ProcessStopInput{ID: out.Process.ID})
		}
		out = call(m, api.Exec, in)
	}
	return out
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
	now := m.awaitProcess(p.ID, "ended", func(now api.Process) bool { return now.PID != p.PID })
	if now.State == api.StateBackoff && now.ExitCode != nil && *now.ExitCode != 6 {
		t.Errorf("ended as %+v", now)
	}
}
