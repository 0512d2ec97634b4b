package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/system/proctree"
	"tandem/persist/store"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

// needsCgroups skips the test if the system gives this user no cgroup.
func needsCgroups(t *testing.T) {
	t.Helper()
	if proctree.CgroupFolder() == "" {
		needs.Kernel(t, "a writable cgroup of version 2", "there is none for this user")
	}
}

func TestStopReachesDetachedProcessesThroughTheCgroup(t *testing.T) {
	t.Parallel()
	needsCgroups(t)
	m := startMachine(t)
	for _, then := range []string{"sleep 1000", "exit 0"} {
		p := m.startProcess(api.ProcessStartInput{Command: sh(`(setsid env -i sh -c 'echo child $$; exec sleep 1000' &); sleep 0.2; ` + then)})
		m.awaitOutput(p, "child ")
		child := m.printedNumbers(p, "child")[0]
		if then == "exit 0" {
			m.awaitState(p.ID, api.StateExited)
		}
		if !isRunning(child) {
			t.Fatal("the detached process has exited")
		}
		wait.Kill(m, m.info().EnginePID)
		if call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID, Signal: "KILL"}); isRunning(child) {
			t.Errorf("%s: the detached process is still running", then)
		}
		if _, err := os.Stat(proctree.CgroupFor(proctree.CgroupsOf(m.dir), p.ID)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: its cgroup is still there: %v", then, err)
		}
	}
}

// Clients choose ids, so children of two engines may have the same one.
func TestStopSparesAnotherEnginesChildWithTheSameID(t *testing.T) {
	t.Parallel()
	needsCgroups(t)
	var engines []*machine
	for range 2 {
		m := startMachine(t)
		m.startProcess(api.ProcessStartInput{ID: "73a102fa519d", Command: sh("sleep 1000")})
		engines = append(engines, m)
	}
	call(engines[0], api.ProcessStop, api.ProcessStopInput{ID: "73a102fa519d"})
	other := call(engines[1], api.ProcessGet, api.IDInput{ID: "73a102fa519d"})
	if !isRunning(other.PID) {
		t.Errorf("the other engine's child was killed: %+v", other)
	}
}

func TestSandboxedProcessStartsInItsOwnCgroup(t *testing.T) {
	t.Parallel()
	needsCgroups(t)
	m := startMachine(t)
	p := m.startProcess(api.ProcessStartInput{Command: sh("cat /proc/self/cgroup; echo told"), Sandbox: &api.Sandbox{}})
	if got := m.awaitOutput(p, "told"); !strings.Contains(got, filepath.Base(proctree.CgroupFor(proctree.CgroupsOf(m.dir), p.ID))+"\n") {
		t.Errorf("it is in %s", got)
	}
}

func TestRestartGetsACgroupBelowTheNewEngine(t *testing.T) {
	t.Parallel()
	needsCgroups(t)
	for _, rebooted := range []bool{true, false} {
		m := startMachine(t)
		old := m.startProcess(api.ProcessStartInput{Command: sh("exec sleep 1000"), KeepAlive: true})
		if rebooted {
			m.reboot()
			defer unix.Kill(old.PID, unix.SIGKILL)
		} else {
			call(m, api.ProcessStop, api.ProcessStopInput{ID: old.ID})
			m.replaceBoth(func(*store.Record) {})
			call(m, api.ProcessRestart, api.ProcessRestartInput{ID: old.ID})
		}
		p := m.awaitState(old.ID, api.StateRunning)
		if got, want := proctree.CgroupOf(p.PID), proctree.CgroupFor(proctree.CgroupsOf(m.dir), p.ID); got != want {
			t.Errorf("rebooted %v: it is in %q, want %q", rebooted, got, want)
		}
	}
}

func TestCgroupLeftByAKilledEngineIsRemoved(t *testing.T) {
	t.Parallel()
	needsCgroups(t)
	m := startMachine(t)
	p := m.startProcess(api.ProcessStartInput{Command: sh("exit 0")})
	m.awaitState(p.ID, api.StateExited)
	cgroup := proctree.CgroupFor(proctree.CgroupsOf(m.dir), p.ID)
	m.eventually("the end of its cgroup", func() bool { _, err := os.Stat(cgroup); return err != nil })
	if !proctree.MakeCgroup(cgroup) {
		t.Fatal("the cgroup cannot be created again")
	}
	wait.Kill(m, m.info().EnginePID)
	m.info()
	if _, err := os.Stat(cgroup); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// A fork chain runs forever, though each of its processes exits at once.
func TestStopKillsAForkChainWithoutItsRoot(t *testing.T) {
	t.Parallel()
	needsCgroups(t)
	m := startMachine(t)
	step := filepath.Join(t.TempDir(), "step")
	writeProgram(t, step, "#!/bin/sh\nsetsid env -i /bin/sh \"$0\" &\n")
	for _, script := range []string{`f() { f & }; f`, step} {
		p := m.startProcess(api.ProcessStartInput{Command: sh(script)})
		m.awaitState(p.ID, api.StateExited)
		cgroup := proctree.CgroupFor(proctree.CgroupsOf(m.dir), p.ID)
		if !proctree.Populated(cgroup) {
			t.Fatalf("%s: the chain has ended", script)
		}
		call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID, TimeoutMS: 100})
		if proctree.Populated(cgroup) {
			t.Errorf("%s: the chain is still running", script)
			proctree.KillCgroup(cgroup)
		}
	}
}
