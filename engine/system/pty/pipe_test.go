package pty

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"tandem/tests/wait"
)

// readerVariable makes the test binary read its standard input; with the value "socket" it also
// waits for connections.
const readerVariable = "TEST_READER"

func TestMain(m *testing.M) {
	how, reads := os.LookupEnv(readerVariable)
	if !reads {
		os.Exit(m.Run())
	}
	if how == "socket" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		go l.Accept()
	}
	_, _ = os.Stdin.Read(make([]byte, 1))
}

func TestProgramsThatWaitForConnectionsDoNotAwaitInput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "input")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	start := func(how string) (pid int) {
		input, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer input.Close()
		cmd := exec.Command("/proc/self/exe")
		cmd.Env, cmd.Stdin = []string{readerVariable + "=" + how}, input
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		return cmd.Process.Pid
	}
	reader := start("")
	wait.Poll(t, "it awaits input", func() (struct{}, bool) { return struct{}{}, AwaitsInput(reader) })
	watcher := start("socket")
	wait.Poll(t, "it reads its input and waits for connections", func() (struct{}, bool) {
		return struct{}{}, PipeReader("/proc/"+strconv.Itoa(watcher)+"/fd/0", watcher) != 0 && waitsForDescriptors(watcher)
	})
	if AwaitsInput(watcher) {
		t.Error("a program that also waits for connections awaits input")
	}
}
