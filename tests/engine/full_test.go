package engine

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/sockets"
	"tandem/tests/needs"
	"tandem/tests/places"

	"golang.org/x/sys/unix"

	"tandem/tests/wait"
)

func TestTerminalProgramContinuesOnAFullDisk(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	p := m.start("sh", "-c", "read x; seq 200000; echo flooded; read x; echo after; read x; seq 20000; exit 7")
	limitFiles := func(most uint64) { // limits the size of files written by the engine
		limit := unix.Rlimit{Cur: most, Max: unix.RLIM_INFINITY}
		if err := unix.Prlimit(m.info().EnginePID, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
			t.Fatal(err)
		}
	}
	limitFiles(0)
	m.write(p.ID, "\r")
	m.awaitScreen(p.ID, "flooded")
	limitFiles(unix.RLIM_INFINITY)
	m.eventually("a mark in the log", func() bool {
		return strings.Contains(m.logOf(p), "bytes of output missing; the log could not be written]")
	})
	m.write(p.ID, "\r")
	m.awaitScreen(p.ID, "\nafter")
	limitFiles(0)
	m.write(p.ID, "\r")
	if now := m.awaitEnd(p.ID); now.ExitCode == nil || *now.ExitCode != 7 {
		t.Errorf("ended as %+v", now)
	}
	if screen := m.screen(p.ID); !strings.Contains(screen, "20000") {
		t.Errorf("the screen is %q", screen)
	}
}

func TestSessionsStayReachableOnAFullDisk(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	p := m.start("cat")
	m.write(p.ID, "before\r")
	m.awaitScreen(p.ID, "before")
	before := m.info()
	full := func(most uint64) { // limits the size of files written by the keeper and its engines
		limit := unix.Rlimit{Cur: most, Max: unix.RLIM_INFINITY}
		if err := unix.Prlimit(before.KeeperPID, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
			t.Fatal(err)
		}
	}
	full(0)
	wait.Kill(m, before.EnginePID)
	m.write(p.ID, "after\r")
	m.awaitScreen(p.ID, "after")
	if now := m.get(p.ID); now.PID != p.PID || !strings.Contains(m.screen(p.ID), "before") {
		t.Errorf("%+v", now)
	}
	if _, err := api.ProcessStart.Call(t.Context(), m.client, api.ProcessStartInput{Command: []string{"true"}}); err == nil || !strings.Contains(err.Error(), "file too large") {
		t.Errorf("a start without a record: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for e, err := range m.client.Watch(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(e.Notice, "nothing can be saved") {
			break
		}
	}
	// With room again, the next engine saves.
	full(unix.RLIM_INFINITY)
	wait.Kill(m, m.info().EnginePID)
	call(m, api.Exec, api.ExecInput{Command: []string{"true"}})
}

func TestSessionsStayReachableInAReadOnlyFolder(t *testing.T) {
	needs.FullRun(t)
	if os.Geteuid() == 0 {
		asOrdinaryUser(t)
		return
	}
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	m := startMachine(t)
	p := m.start("cat")
	m.write(p.ID, "before\r")
	m.awaitScreen(p.ID, "before")
	mode := func(mode os.FileMode) {
		for _, dir := range []string{m.dir, filepath.Join(m.dir, "processes"), filepath.Join(m.dir, "processes", p.ID)} {
			if err := os.Chmod(dir, mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	mode(0o500)
	wait.Kill(m, m.info().EnginePID)
	m.write(p.ID, "after\r")
	m.awaitScreen(p.ID, "after")
	if now := m.get(p.ID); now.PID != p.PID {
		t.Errorf("%+v", now)
	}
	// With write permission again, the next engine is in the usual place.
	mode(0o700)
	wait.Kill(m, m.info().EnginePID)
	call(m, api.Exec, api.ExecInput{Command: []string{"true"}})
	socket, _ := sockets.Paths(m.dir)
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

// asOrdinaryUser runs the calling test as a user bound by permissions.
func asOrdinaryUser(t *testing.T) {
	t.Helper()
	places.Take(t)
	dir, err := os.MkdirTemp("", "tu") // short, for the sockets
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	exe := filepath.Join(dir, "test")
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	in, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(exe, in, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as an ordinary user: %v\n%s", err, out)
	}
}
