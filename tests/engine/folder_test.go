package engine

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine"
	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/system/proctree"
	"tandem/tests/wait"
)

// awaitEngine waits until a new client reaches an engine and returns its engine.info.
func (m *machine) awaitEngine() (info api.Info) {
	m.Helper()
	m.eventually("an engine's answer", func() bool {
		conn, err := client.Connect(context.Background(), m.options())
		if err != nil {
			return false
		}
		defer conn.Close()
		info, err = api.EngineInfo.Call(context.Background(), conn, api.Empty{})
		return err == nil
	})
	return info
}

func TestDeletedSocketsAreRecreated(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	before := m.info()
	for range 3 {
		for _, name := range []string{"tandem.sock", "keeper.sock"} {
			if err := os.Remove(filepath.Join(m.dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if now := m.awaitEngine(); now.EnginePID != before.EnginePID {
			t.Fatalf("another engine answers: %+v, before %+v", now, before)
		}
		m.eventually("the keeper's socket", func() bool { return client.KeeperAnswers(m.dir) })
	}
	if info, err := os.Lstat(before.Socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v, %v", info, err)
	}
}

func TestUnreachableSocketIsRepaired(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	before := m.info()
	for name, spoil := range map[string]func() error{
		"renamed":  func() error { return os.Rename(before.Socket, before.Socket+".old") },
		"replaced": func() error { return os.Rename(before.Socket+".old", before.Socket) },
		"closed":   func() error { return os.Chmod(before.Socket, 0) },
	} {
		if name == "replaced" { // by one that nothing listens on
			if l, err := net.Listen("unix", before.Socket+".old"); err != nil {
				t.Fatal(err)
			} else {
				l.(*net.UnixListener).SetUnlinkOnClose(false)
				l.Close()
			}
		}
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if now := m.awaitEngine(); now.EnginePID != before.EnginePID {
			t.Fatalf("%s: another engine answers: %+v, before %+v", name, now, before)
		}
		// Root reaches a socket of any mode.
		m.eventually(name+": the socket's mode", func() bool {
			info, err := os.Lstat(before.Socket)
			return err == nil && info.Mode().Perm() == 0o600
		})
		os.Remove(before.Socket + ".old")
	}
}

func TestSocketsMoveToTheDataFolderWithoutARuntimeFolder(t *testing.T) {
	short, err := os.MkdirTemp("/tmp", "td") // with any TMPDIR short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(short) })
	runtime := filepath.Join(short, "run")
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	m := &machine{TB: t, dir: filepath.Join(t.TempDir(), strings.Repeat("long", 30))}
	conn, err := client.Activate(t.Context(), m.options())
	if err != nil {
		t.Fatal(err)
	}
	m.client = conn
	t.Cleanup(m.stopAll)
	p := m.start("cat")
	before := m.info()
	if filepath.Dir(filepath.Dir(before.Socket)) != runtime {
		t.Fatalf("socket path is %s", before.Socket)
	}
	m.eventually("a runtime folder that is gone and cannot be created", func() bool {
		return os.RemoveAll(runtime) == nil && os.WriteFile(runtime, nil, 0o600) == nil
	})
	m.eventually("the keeper's socket", func() bool { return client.KeeperAnswers(m.dir) })
	wait.Kill(m, m.awaitEngine().EnginePID)
	m.activate()
	if now := m.awaitEngine(); now.Socket != filepath.Join(m.dir, "tandem.sock") || now.KeeperPID != before.KeeperPID {
		t.Errorf("now %+v, was %+v", now, before)
	}
	m.write(p.ID, "still here\r")
	m.awaitScreen(p.ID, "still here")
}

func TestDeletedLockFilesAllowNoSecondKeeper(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.start("cat")
	before := m.info()
	for _, name := range []string{"keeper.lock", "engine.lock", "activate.lock"} {
		if err := os.Remove(filepath.Join(m.dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if err := engine.Run(t.Context(), engine.Options{DataDir: m.dir}); err == nil || !strings.Contains(err.Error(), "in use by another engine") {
		t.Errorf("a second engine got the lock: %v", err)
	}
	wait.Kill(m, before.EnginePID)
	m.activate()
	if now := m.info(); now.KeeperPID != before.KeeperPID {
		t.Errorf("another keeper: %+v, before %+v", now, before)
	}
	m.write(p.ID, "still here\r")
	m.awaitScreen(p.ID, "still here")
	wait.File(m, filepath.Join(m.dir, "keeper.lock"))
	if lost, err := proctree.FindLost(m.dir); err != nil || len(lost) > 0 {
		t.Errorf("lost keepers: %+v, %v", lost, err)
	}
}

func TestEngineExitsWhenItsFolderIsMoved(t *testing.T) {
	t.Parallel()
	parent, err := os.MkdirTemp("", "td")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(parent) })
	m := &machine{TB: t, dir: filepath.Join(parent, "a", "data")}
	m.client, err = client.Activate(t.Context(), m.options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.stopAll)
	p := m.start("cat")
	for _, moved := range []string{m.dir, filepath.Dir(m.dir)} {
		engine := m.info().EnginePID
		if err := os.Rename(moved, moved+"-moved"); err != nil {
			t.Fatal(err)
		}
		wait.Exit(m, engine)
		if _, err := os.Stat(m.dir); err == nil {
			t.Error("the folder was recreated")
		}
		if !isRunning(p.PID) {
			t.Fatal("the session exited")
		}
		if err := os.Rename(moved+"-moved", moved); err != nil {
			t.Fatal(err)
		}
		if text := m.log(); !strings.Contains(text, "was moved or deleted") {
			t.Errorf("engine.log does not mention the move:\n%s", text)
		}
		m.activate()
		if now := m.get(p.ID); now.PID != p.PID || now.State != api.StateRunning {
			t.Fatalf("process is now %+v", now)
		}
	}
}
