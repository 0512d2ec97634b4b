package store

import (
	"testing"

	"golang.org/x/sys/unix"

	"tandem/persist/logtest"
)

func TestChildIsNotAliveAfterItsExit(t *testing.T) {
	c := logtest.Start(t, logtest.RoleWait)
	pid := c.Cmd.Process.Pid
	id, err := Identify(pid)
	if err != nil {
		t.Fatal(err)
	}
	if !id.Alive() {
		t.Error("a running child is not alive")
	}
	c.In.Close()
	// Waits for the exit and leaves the zombie.
	if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if id.Alive() {
		t.Error("a zombie is alive")
	}
	if err := c.Cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if id.Alive() {
		t.Error("a reaped child is alive")
	}
}
