package pty

import (
	"image"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

func open(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := onDescriptor(master, func(fd int) error { return syscall.SetNonblock(fd, true) }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		master.Close()
		slave.Close()
	})
	return master, slave
}

func TestSizeReturnsTheSizeGivenToSetSize(t *testing.T) {
	master, _ := open(t)
	if err := SetSize(master, 93, 31, image.Point{}); err != nil {
		t.Fatal(err)
	}
	if cols, rows, err := Size(master); cols != 93 || rows != 31 || err != nil {
		t.Errorf("%d×%d, %v", cols, rows, err)
	}
}

func TestGroupMembersIncludesChildrenOfAllThreads(t *testing.T) {
	started := make(chan *exec.Cmd)
	start := func(release <-chan struct{}) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		cmd := exec.Command("sleep", "1000")
		if err := cmd.Start(); err != nil {
			t.Error(err)
		}
		started <- cmd
		<-release
	}
	release := make(chan struct{})
	for range 2 { // one of the two threads is not the first one of the process
		go start(release)
		cmd := <-started
		if cmd.Process == nil {
			t.FailNow()
		}
		defer cmd.Wait()
		defer cmd.Process.Kill()
		if members := GroupMembers(syscall.Getpgrp(), os.Getpid()); !slices.Contains(members, cmd.Process.Pid) {
			t.Errorf("%d is not in %v", cmd.Process.Pid, members)
		}
	}
	close(release)
}

func TestSendsSignalFollowsTheTerminalsModes(t *testing.T) {
	master, _ := open(t)
	for p, want := range map[string]bool{"\x03": true, "abc\x1c": true, "c": false, "": false} {
		if SendsSignal(master, []byte(p)) != want {
			t.Errorf("%q: not %v", p, want)
		}
	}
}

func TestReadBurstReadsInPieces(t *testing.T) {
	master, slave := open(t)
	want := strings.Repeat("x", 3*pieceSize)
	go slave.WriteString(want)
	p := make([]byte, 64<<10)
	n := 0
	for n < len(want) {
		got, err := ReadBurst(master, p[n:])
		if err != nil {
			t.Fatal(err)
		}
		n += got
	}
	if string(p[:n]) != want {
		t.Errorf("%d bytes, not %d", n, len(want))
	}
}

func TestInspectForegroundOfIdleTerminalFindsNoReader(t *testing.T) {
	master, _ := open(t)
	if look := InspectForeground(master, os.Getpid()); look != (Look{}) {
		t.Errorf("%+v", look)
	}
}

func TestSlaveDeviceNumberIsCorrectForAnyCount(t *testing.T) {
	for range 300 { // the numbers of the last ones do not fit into a byte
		master, slave := open(t)
		info, err := slave.Stat()
		if err != nil {
			t.Fatal(err)
		}
		fg, err := foregroundOf(master)
		if want := info.Sys().(*syscall.Stat_t).Rdev; err != nil || fg.slave != want {
			t.Fatalf("%s: device %x, want %x, %v", slave.Name(), fg.slave, want, err)
		}
	}
}

func TestHasOutputReportsUnreadOutput(t *testing.T) {
	master, slave := open(t)
	if HasOutput(master) || HasOutput(nil) {
		t.Error("there is output before anything was printed")
	}
	if _, err := slave.WriteString("ready> "); err != nil {
		t.Fatal(err)
	}
	if !HasOutput(master) {
		t.Error("what was printed is not seen")
	}
	if _, err := ReadBurst(master, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if HasOutput(master) {
		t.Error("what was read is seen still")
	}
}
