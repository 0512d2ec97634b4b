package cli

import (
	"io"
	"strings"
	"testing"

	"tandem/engine/api"

	"github.com/google/go-cmp/cmp"
)

func TestInfoPrintsPidsAndPaths(t *testing.T) {
	r := newRig(t)
	text := r.succeeds("info")
	for _, want := range []string{"1.2.3", "1073741834", "1073741835", "/data/tandem.sock"} {
		if !strings.Contains(text, want) {
			t.Errorf("info has no %q: %s", want, text)
		}
	}
	info := readJSON(t, r.succeeds("info", "--json")).(map[string]any)
	for _, key := range []string{"engine_pid", "keeper_pid", "version", "data_dir", "socket", "boot_id"} {
		if _, ok := info[key]; !ok {
			t.Errorf("info --json has no %q", key)
		}
	}
}

func TestShutdownAsksBeforeStoppingAnything(t *testing.T) {
	r := newRig(t)
	r.succeeds("shutdown")
	r.succeeds("shutdown", "--all") // nothing runs
	r.sessions = []api.Process{{ID: "a", State: api.StateRunning}}
	if _, stderr, status := r.run("shutdown", "--all"); status != 2 || !strings.Contains(stderr, "--yes") {
		t.Errorf("without a terminal: status %d, %q", status, stderr)
	}
	r.succeeds("shutdown", "--all", "--yes", "--json")
	want := []api.EngineStopInput{{}, {All: true}, {All: true}}
	if diff := cmp.Diff(want, r.stopped); diff != "" {
		t.Error(diff)
	}
	for answer, status := range map[string]int{"n\n": 1, "\n": 1, "y\n": 0} {
		master, slave := openTerminal(t)
		if _, err := io.WriteString(master, answer); err != nil {
			t.Fatal(err)
		}
		r.options.Stdin = slave
		before := len(r.stopped)
		if _, stderr, got := r.run("shutdown", "--all"); got != status || !strings.Contains(stderr, "[y/N]") {
			t.Errorf("answered %q: status %d, %q", answer, got, stderr)
		}
		if stopped := len(r.stopped) > before; stopped != (status == 0) {
			t.Errorf("answered %q: stopped is %v", answer, stopped)
		}
	}
}

func TestShutdownSucceedsWithoutAnEngine(t *testing.T) {
	r := newRig(t)
	t.Setenv("TANDEM_DATA_DIR", shortDir(t))
	r.options.Reach = nil
	stdout, stderr, status := r.run("shutdown")
	if status != 0 || stdout != "" || stderr != "no engine is running\n" {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
}
