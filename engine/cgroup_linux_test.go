package engine

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"

	"golang.org/x/sys/unix"
)

func TestTheFolderOfACgroupIsFound(t *testing.T) {
	const unified = "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
	const hybrid = "31 24 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n32 24 0:28 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n"
	const part = "33 24 0:26 /user.slice /mnt rw - cgroup2 cgroup2 rw\n"
	for _, c := range []struct{ own, mounts, want string }{
		{"0::/user.slice/a.scope\n", unified, "/sys/fs/cgroup/user.slice/a.scope"},
		{"1:cpu:/x\n0::/\n", hybrid, "/sys/fs/cgroup/unified"},
		{"0::/user.slice/a.scope\n", part, "/mnt/a.scope"},
		{"0::/system.slice\n", part, ""},
		{"0::/../other\n", unified, ""},
		{"0::/a.scope (deleted)\n", unified, ""},
		{"1:cpu:/x\n", hybrid, ""},
		{"0::/\n", "", ""},
	} {
		if got := folderOfCgroup(c.own, c.mounts); got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.own, c.mounts, got, c.want)
		}
	}
}

// needsCgroups skips where the system gives this user no cgroup.
func needsCgroups(t *testing.T) {
	t.Helper()
	if cgroupFolder() == "" {
		t.Skip("no cgroup of version 2 that this user may write")
	}
}

func TestAStopReachesWhatHasLeftItsSessionItsEnvironmentAndItsParent(t *testing.T) {
	needsCgroups(t)
	m := startMachine(t)
	for _, then := range []string{"sleep 1000", "exit 0"} {
		p := m.run(api.ProcessStartInput{Command: sh(`(setsid env -i sh -c 'echo child $$; exec sleep 1000' &); sleep 0.2; ` + then)})
		m.prints(p, "child ")
		child := m.numbers(p, "child")[0]
		if then == "exit 0" {
			m.reaches(p.ID, api.StateExited)
		}
		if !lives(child) {
			t.Fatal("the process that has left has ended")
		}
		m.crash(m.info().EnginePID)
		if call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID, Signal: "KILL"}); lives(child) {
			t.Errorf("%s: what has left lives on", then)
		}
		if _, err := os.Stat(cgroupFolder() + "/" + cgroupPrefix + p.ID); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: its cgroup is still there: %v", then, err)
		}
	}
}

func TestAConfinedProcessBeginsInACgroupOfItsOwn(t *testing.T) {
	needsCgroups(t)
	m := startMachine(t)
	p := m.run(api.ProcessStartInput{Command: sh("cat /proc/self/cgroup; echo told"), Sandbox: &api.Sandbox{}})
	if got := m.prints(p, "told"); !strings.Contains(got, "/"+cgroupPrefix+p.ID+"\n") {
		t.Errorf("it is in %s", got)
	}
}

func TestACgroupThatAKilledEngineHasLeftIsRemoved(t *testing.T) {
	needsCgroups(t)
	m := startMachine(t)
	p := m.run(api.ProcessStartInput{Command: sh("exit 0")})
	m.reaches(p.ID, api.StateExited)
	cgroup := filepath.Join(cgroupFolder(), cgroupPrefix+p.ID)
	m.eventually("the end of its cgroup", func() bool { _, err := os.Stat(cgroup); return err != nil })
	if !makeCgroup(cgroup) {
		t.Fatal("it cannot be made again")
	}
	m.crash(m.info().EnginePID)
	m.info()
	if _, err := os.Stat(cgroup); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// A chain forks for ever, and each of its processes ends at once.
func TestAStopEndsAChainOfForksWhoseRootHasEnded(t *testing.T) {
	needsCgroups(t)
	m := startMachine(t)
	step := filepath.Join(t.TempDir(), "step")
	if err := os.WriteFile(step, []byte("#!/bin/sh\nsetsid env -i /bin/sh \"$0\" &\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{`f() { f & }; f`, step} {
		p := m.run(api.ProcessStartInput{Command: sh(script)})
		m.reaches(p.ID, api.StateExited)
		cgroup := filepath.Join(cgroupFolder(), cgroupPrefix+p.ID)
		if !populated(cgroup) {
			t.Fatalf("%s: the chain has ended", script)
		}
		call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID, TimeoutMS: 100})
		if populated(cgroup) {
			t.Errorf("%s: the chain goes on", script)
			killCgroup(cgroup)
		}
	}
}

func TestEndTreeEndsAChainOfForksInItsGroup(t *testing.T) {
	root, _ := startLeader(t, `echo; f() { f & }; f; exec sleep 100000`)
	if err := endTree(root); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); unix.Kill(-root.PID, 0) == nil; runtime.Gosched() { // zombies are collected
		if time.Now().After(end) {
			t.Fatal("its group is still there")
		}
	}
}
