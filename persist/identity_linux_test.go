package persist

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestAChildIsAliveUntilItHasExited(t *testing.T) {
	c := startChild(t, roleWait)
	pid := c.cmd.Process.Pid
	id, err := Identify(pid)
	if err != nil {
		t.Fatal(err)
	}
	if !id.Alive() {
		t.Error("a running child is not alive")
	}
	c.in.Close()
	// Waits for the exit and leaves the zombie.
	if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if id.Alive() {
		t.Error("a zombie is alive")
	}
	if err := c.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if id.Alive() {
		t.Error("a reaped child is alive")
	}
}
