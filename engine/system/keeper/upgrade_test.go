package keeper

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// startCat starts a process that stands in for an engine.
func startCat(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	return cmd
}

func TestEngineIsUpgradedInItsOwnProcess(t *testing.T) {
	k, s := idleKeeper(t)
	own := func() []int {
		t.Helper()
		exe, err := openFD("/proc/self/exe", unix.O_RDONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		return []int{exe}
	}
	k.engine.program.exe = own()[0]
	defer k.engine.close()
	stranger := own()
	if err := k.upgradeEngine(stranger, startCat(t).Process.Pid); err == nil {
		t.Error("another process became the engine")
	}
	closeFDs(stranger)
	k.engine.paused = true
	refused := own()
	if err := k.upgradeEngine(refused, os.Getpid()); err == nil {
		t.Error("an engine that was asked to stop is upgraded")
	}
	closeFDs(refused)
	k.engine.paused = false
	former, next := k.engine.program.exe, own()
	if err := k.upgradeEngine(next, os.Getpid()); err != nil {
		t.Fatal(err)
	}
	if k.engine.announced != os.Getpid() || k.engine.ready || k.engine.program.exe != next[0] || k.engine.program.previous != former {
		t.Errorf("engine is %+v", k.engine)
	}
	if err := k.announce(&session{link: s.link, peer: peer{pid: os.Getpid(), pidfd: -1}, outbox: newOutbox()}); err != nil {
		t.Errorf("the next program was rejected: %v", err)
	}
	if k.engine.kill != nil || k.engine.upgrading {
		t.Error("the next program is killed although it has said hello")
	}

	// If execve fails, the engine announces its own program again. It replaces the one announced
	// before; the program to roll back to stays the same.
	again := own()
	if err := k.upgradeEngine(again, os.Getpid()); err != nil {
		t.Fatal(err)
	}
	if k.engine.program.exe != again[0] || k.engine.program.previous != former {
		t.Errorf("program is %+v", k.engine.program)
	}
	k.engine.stopKill()
}

func TestKeeperKillsItsSpareEngine(t *testing.T) {
	k, s := idleKeeper(t)
	var err error
	if k.watch, err = newWatcher(k.runOnLoop); err != nil {
		t.Fatal(err)
	}
	defer k.watch.close()
	started, survivor := startCat(t), startCat(t)
	k.engine.announced, k.engine.session, k.engine.spawned = 0, nil, started.Process.Pid
	if err := k.announce(&session{link: s.link, peer: peer{pid: survivor.Process.Pid, pidfd: -1}, outbox: newOutbox()}); err != nil {
		t.Fatal(err)
	}
	defer func() { closeFD(k.engine.pidfd) }()
	started.Wait()
	if got := started.ProcessState.Sys().(syscall.WaitStatus); !got.Signaled() || got.Signal() != syscall.SIGKILL {
		t.Errorf("exited with %v", got)
	}
}

func TestSecondReplaceKeepsTheLastWorkingProgram(t *testing.T) {
	var exes []int
	for range 3 {
		exe, err := openFD("/proc/self/exe", unix.O_RDONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		exes = append(exes, exe)
	}
	p := engineProgram{exe: exes[0], previous: -1}
	defer p.close()
	for _, exe := range exes[1:] {
		if err := p.setExecutable(exe); err != nil {
			t.Fatal(err)
		}
	}
	if p.previous != exes[0] || p.exe != exes[2] {
		t.Errorf("previous program is descriptor %d, want %d", p.previous, exes[0])
	}
}

func TestDataDirectoryStaysLockedWithoutLockFile(t *testing.T) {
	r := newRig(t)
	k := r.keeper("run").mustBeReady()
	if f, err := takeFolder(r.dir); !errors.Is(err, errOccupied) {
		t.Errorf("a second keeper got %v, %v", f, err)
	}
	r.endEngine(r.pidLine(0), k)
}
