package engine

import (
	"os"
	"path/filepath"
	"testing"

	"tandem/engine/api"
)

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
