package proctree

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

func TestExitedChildRunsNoProgram(t *testing.T) {
	if !runsProgram(os.Getpid()) {
		t.Error("this process runs no program")
	}
	child := exec.Command("true")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Wait() }()
	var exited unix.Siginfo
	if err := unix.Waitid(unix.P_PID, child.Process.Pid, &exited, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if runsProgram(child.Process.Pid) {
		t.Error("a child that has exited runs a program")
	}
}
