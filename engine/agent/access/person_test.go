package access

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/system/proctree"
)

// startOrphan starts a process running until the end of the test, without the test as its ancestor.
func startOrphan(t *testing.T, environ ...string) int {
	t.Helper()
	cmd := exec.Command("sh", "-c", "sleep 60 > /dev/null 2>&1 & echo $!")
	cmd.Env = append(os.Environ(), environ...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
	return pid
}

func TestOnlyUsersOwnProgramCanHandOverItsTerminal(t *testing.T) {
	keeper := 0
	g := &Guard{DataDir: "/data", BootID: "b", KeeperPID: func() int { return keeper }}
	own := startOrphan(t)
	marked := startOrphan(t, proctree.IDVariable+"=0123456789ab", proctree.DataDirVariable+"=/data")
	cases := []struct {
		name   string
		caller api.Caller
		want   bool
	}{
		{"a person's", api.Caller{Peer: api.Peer{PID: own}}, true},
		{"an agent's", api.Caller{Owner: "x", Peer: api.Peer{PID: own}}, false},
		{"from another machine", api.Caller{Origin: api.Origin{From: "u@h"}, Peer: api.Peer{PID: own}}, false},
		{"not of this machine's process table", api.Caller{}, false},
		{"in a session", api.Caller{Peer: api.Peer{PID: marked}}, false},
	}
	for _, c := range cases {
		if got := g.canHandOver(c.caller, runningPeer{}); got != c.want {
			t.Errorf("a program that is %s: %v", c.name, got)
		}
	}
	keeper = own
	if g.canHandOver(api.Caller{Peer: api.Peer{PID: own}}, runningPeer{}) {
		t.Error("one that descends from the keeper and hides whose it is may")
	}
}

// Process ids are reused: an ancestry must not be applied to a later process with the same id.
func TestAncestryIsNotReusedForAnotherProcess(t *testing.T) {
	g := &Guard{DataDir: "/data", BootID: "b", KeeperPID: func() int { return 0 }}
	marked := startOrphan(t, proctree.IDVariable+"=0123456789ab", proctree.DataDirVariable+"=/data")
	now, ok := proctree.Read(marked)
	if !ok {
		t.Fatal("the process is not there")
	}
	g.cache.put(ancestryKey{marked, now.StartTime - 1, 0}, ancestry{})
	if a := g.ancestryOf(marked); !a.marks["0123456789ab"] {
		t.Errorf("the ancestry is that of the one before: %+v", a)
	}
	kept := ancestryKey{marked, now.StartTime, 0}
	if a, ok := g.cache.get(kept); !ok || !a.marks["0123456789ab"] {
		t.Errorf("it is not kept: %+v", a)
	}
	g.cache.entries[kept] = cachedAncestry{ancestry{}, time.Now().Add(-ancestryTTL)}
	if a := g.ancestryOf(marked); !a.marks["0123456789ab"] {
		t.Errorf("an old one is used: %+v", a)
	}
}

func TestIncompleteAncestryIsNotCached(t *testing.T) {
	g := &Guard{DataDir: "/data", BootID: "b", KeeperPID: func() int { return 0 }}
	own, ok := proctree.Read(os.Getpid())
	if !ok {
		t.Fatal("the test is not there")
	}
	own.PID, own.Parent = startOrphan(t), 1<<30 // not a process
	if _, whole := g.followParents(own, 0); whole {
		t.Error("it is taken for the whole way")
	}
}
