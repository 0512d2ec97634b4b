package dashboard

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/panes/enginetest"
	"tandem/tests/harness"
	"tandem/ui/conn"
)

// The dashboard's own tests use a fake engine, checked by the same conformance suite.
func TestEnginePassesTheDashboardConformanceSuite(t *testing.T) {
	t.Parallel()
	enginetest.Run(t, func(t *testing.T) enginetest.Subject {
		env, dir := harness.Stage(t)
		ls := exec.Command("/proc/self/exe", "ls")
		ls.Env = env
		if out, err := ls.CombinedOutput(); err != nil {
			t.Fatalf("start an engine: %v: %s", err, out)
		}
		c, err := client.Connect(t.Context(), client.Options{DataDir: filepath.Join(dir, "d"), Name: "dashboard"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return enginetest.Subject{
			Engine:  conn.NewClient(c),
			Echo:    []string{"sh", "-c", "printf '$ '; exec cat"},
			Printer: newPrinter,
			RecordRun: func(t *testing.T, command string, code int) {
				in := api.HistoryAddInput{Command: command, ExitCode: &code}
				if _, err := api.HistoryAdd.Call(t.Context(), c, in); err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}

// newPrinter returns the command of a program that prints everything passed to print.
func newPrinter(t *testing.T) (command []string, print func(string)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(path, os.O_RDWR, 0) // keeps a writer open, so the program sees no end of file
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pipe.Close() })
	return []string{"cat", path}, func(text string) {
		if _, err := pipe.WriteString(text); err != nil {
			t.Error(err)
		}
	}
}
