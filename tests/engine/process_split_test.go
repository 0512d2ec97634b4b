package engine

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/persist/store"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

func TestReadinessLineMayBeInEitherStream(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	for _, script := range []string{"echo up; exec sleep 1000", "echo up >&2; exec sleep 1000"} {
		p := m.startProcess(api.ProcessStartInput{Command: sh(script), SplitLog: true, Ready: &api.Readiness{Log: "^up$"}})
		out := call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Ready: true})
		if out.Met != "ready" {
			t.Errorf("%s: %+v", script, out)
		}
		if out := call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Log: "up"}); out.Met != "log" || out.Line != "up" {
			t.Errorf("%s: %+v", script, out)
		}
	}
}

func TestLineOfAnEarlierRunDoesNotMeanReady(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	flag := t.TempDir() + "/flag"
	script := `if [ -e "$0" ]; then exec sleep 1000; fi; : > "$0"; echo up >&2; exec sleep 1000`
	p := m.startProcess(api.ProcessStartInput{Command: append(sh(script), flag), SplitLog: true, Ready: &api.Readiness{Log: "^up$", TimeoutMS: 5000}})
	call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Ready: true})
	call(m, api.ProcessRestart, api.ProcessRestartInput{ID: p.ID})
	if end := m.awaitState(p.ID, api.StateFailed); end.Error == "" {
		t.Errorf("%+v", end)
	}
}

func TestOffsetAppliesToOneStream(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p := m.startProcess(api.ProcessStartInput{Command: sh("echo a >&2; echo b >&2; exec sleep 1000"), SplitLog: true})
	since := int64(2)
	in := api.ProcessWaitInput{ID: p.ID, Log: "[ab]", Since: &since}
	if _, err := api.ProcessWait.Call(t.Context(), m.client, in); !errors.Is(err, api.CodeInvalid) {
		t.Errorf("answered %v", err)
	}
	in.Stream = "stderr"
	if out := call(m, api.ProcessWait, in); out.Line != "b" {
		t.Errorf("%+v", out)
	}
}

func TestExactOutputKeepsEveryByte(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	out := call(m, api.Exec, api.ExecInput{Command: sh(`printf 'a\377\000b'; printf 'text' >&2`), Exact: true})
	stdout, stderr, err := out.Output()
	if !bytes.Equal(stdout, []byte("a\xff\x00b")) || string(stderr) != "text" || err != nil {
		t.Errorf("%+v: %q, %q, %v", out, stdout, stderr, err)
	}
}

// Without an engine, the keeper keeps the logs within their limit, and so does a keeper started
// later.
func TestLogsStayWithinTheirLimitWithoutAnEngine(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	flag := filepath.Join(t.TempDir(), "flood")
	const limit, length = 64 << 10, 6888896
	script := `while ! [ -e ` + flag + ` ]; do sleep 0.01; done; seq 1000000; seq 1000000 >&2; exec sleep 1000`
	in := api.ProcessStartInput{Command: sh(script), SplitLog: true, LogLimit: limit}
	adopted := m.startProcess(in)
	before := m.info()
	wait.Kill(m, before.KeeperPID)
	m.awaitNextKeeper(before.KeeperPID)
	started := m.startProcess(in)
	call(m, api.EngineStop, api.EngineStopInput{})
	wait.Exit(m, before.EnginePID)
	if err := os.WriteFile(flag, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{adopted.ID, started.ID} {
		for _, name := range []string{store.StdoutName, "stderr.log"} {
			path := filepath.Join(m.dir, "processes", id, name)
			m.eventually("little of "+name, func() bool {
				var st unix.Stat_t
				return unix.Stat(path, &st) == nil && st.Size == length && st.Blocks*512 <= 2*limit
			})
		}
	}
	m.activate()
}
