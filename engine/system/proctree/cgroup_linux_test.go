package proctree

import (
	"testing"

	"golang.org/x/sys/unix"

	"tandem/tests/needs"
	"tandem/tests/wait"
)

func TestFolderOfCgroupFindsDirectory(t *testing.T) {
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

func TestKeepersScopeIsNoChildCgroup(t *testing.T) {
	for name, want := range map[string]bool{"tandem-0a1b2c3d-p1": true, "tandem-0a1b2c3d.scope": false, "tandem-0a1b2c3d-12.scope": false, "session-1.scope": false} {
		if got := isChildCgroup(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestEndStopsChainOfForksInGroup(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	root, _ := startLeader(t, `echo; f() { f & }; f; exec sleep 100000`)
	if err := endTree(root); err != nil {
		t.Fatal(err)
	}
	wait.Poll(t, "the end of its group", func() (error, bool) { // zombies are collected
		err := unix.Kill(-root.PID, 0)
		return err, err != nil
	})
}
