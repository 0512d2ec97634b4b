package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/tests/wait"
)

// fileHolds waits until the file is as long as want, and compares them.
func (m *machine) fileHolds(path, want string) {
	m.Helper()
	var got []byte
	m.eventually("the typed input", func() bool {
		got, _ = os.ReadFile(path)
		return len(got) >= len(want)
	})
	if string(got) != want {
		m.Errorf("%d bytes arrived, want the %d that were typed", len(got), len(want))
	}
}

func TestAcknowledgedInputSurvivesTheEngine(t *testing.T) {
	m := startMachine(t)
	m.pinned = true
	path := filepath.Join(t.TempDir(), "typed")
	p := call(m, api.SessionStart, api.SessionStartInput{Command: []string{"sh", "-c",
		`stty raw -echo; printf ready; sleep .2; exec dd bs=512 of="$1" 2>/dev/null`, "sh", path}})
	m.awaitScreen(p.ID, "ready")
	want := strings.Repeat("0123456789", 5<<10)
	out := call(m, api.SessionWrite, api.SessionWriteInput{ID: p.ID, Text: want})
	wait.Kill(m, m.info().EnginePID)
	if out.Written != len(want) || out.Dropped != 0 || out.ShortWriteError("x") != nil {
		t.Errorf("answered %+v", out)
	}
	m.fileHolds(path, want[:out.Written])
	call(m, api.SessionKill, api.IDInput{ID: p.ID})
}

func TestSessionWriteReportsBytesAcceptedWhenProgramDoesNotRead(t *testing.T) {
	m := startMachine(t)
	m.pinned = true
	dir := t.TempDir()
	path, begin := filepath.Join(dir, "typed"), filepath.Join(dir, "begin")
	p := call(m, api.SessionStart, api.SessionStartInput{Command: []string{"sh", "-c",
		`mkfifo "$2"; stty raw -echo; printf ready; read x < "$2"; exec dd bs=512 of="$1" 2>/dev/null`, "sh", path, begin}})
	m.awaitScreen(p.ID, "ready")
	want := strings.Repeat("0123456789", 20<<10)
	out := call(m, api.SessionWrite, api.SessionWriteInput{ID: p.ID, Text: want})
	if out.Written == 0 || out.Dropped == 0 || out.Written+out.Dropped != len(want) {
		t.Fatalf("answered %+v", out)
	}
	if err := out.ShortWriteError("build"); !strings.Contains(err.Error(), "build") || api.AsError(err).Hint == "" {
		t.Errorf("Short = %v", err)
	}
	wait.Kill(m, m.info().EnginePID)
	if err := os.WriteFile(begin, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.fileHolds(path, want[:out.Written])
	if rest := call(m, api.SessionWrite, api.SessionWriteInput{ID: p.ID, Text: want[out.Written:]}); rest.Dropped != 0 {
		t.Errorf("the rest: %+v", rest)
	}
	m.fileHolds(path, want)
	call(m, api.SessionKill, api.IDInput{ID: p.ID})
}
