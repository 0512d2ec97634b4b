package engine

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/tests/needs"
)

// An engine that starts late has not been checking yet, so nothing has timed out.
func TestReadinessTimeoutExcludesTimeWithoutAnEngine(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	flag := filepath.Join(t.TempDir(), "ready")
	const timeout = 10 * time.Second // enough to stop the engine before it ends
	p := m.startProcess(api.ProcessStartInput{
		Command: []string{"sleep", "1000"}, Ready: &api.Readiness{Command: []string{"test", "-e", flag}, TimeoutMS: int(timeout.Milliseconds())},
	})
	call(m, api.EngineStop, api.EngineStopInput{})
	if err := os.WriteFile(flag, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m.eventually("the end of the time that it had", func() bool { return time.Since(p.StartedAt) > timeout })
	m.activate()
	if out := call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Ready: true}); out.Met != "ready" || out.Process.PID != p.PID {
		t.Errorf("it came to %q, and is %+v", out.Met, out.Process)
	}
}

func TestWaitReportsTheOpenReadinessCheck(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	flag := filepath.Join(t.TempDir(), "ready")
	p := m.startProcess(api.ProcessStartInput{Command: sh("echo up; exec sleep 1000"), Ready: &api.Readiness{Command: []string{"test", "-e", flag}, Log: "^listening"}})
	opens := func(check string) {
		t.Helper()
		m.eventually("the open check "+check, func() bool {
			out := call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Ready: true, TimeoutMS: 1})
			return out.Met == "" && out.OpenCheck == check
		})
	}
	opens("test -e " + flag)
	if err := os.WriteFile(flag, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	opens("log line ^listening")
	if out := call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Log: "never", TimeoutMS: 1}); out.OpenCheck != "" {
		t.Errorf("a wait without ready names %q", out.OpenCheck)
	}
}
