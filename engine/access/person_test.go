package access

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandem/engine/api/server"
	"tandem/engine/api/wire"
	"tandem/engine/proctree"
)

// anOrphan runs until the end of the test; it does not descend from the test.
func anOrphan(t *testing.T, environ ...string) int {
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

func TestOnlyAPersonsOwnProgramMayHandOverItsTerminal(t *testing.T) {
	keeper := 0
	g := &Guard{DataDir: "/data", BootID: "b", KeeperPID: func() int { return keeper }}
	own := anOrphan(t)
	marked := anOrphan(t, proctree.IDVariable+"=0123456789ab", proctree.DataDirVariable+"=/data")
	cases := []struct {
		name   string
		caller server.Caller
		want   bool
	}{
		{"a person's", server.Caller{Peer: wire.Peer{PID: own}}, true},
		{"an agent's", server.Caller{Owner: "x", Peer: wire.Peer{PID: own}}, false},
		{"from another machine", server.Caller{Origin: server.Origin{From: "u@h"}, Peer: wire.Peer{PID: own}}, false},
		{"not of this machine's process table", server.Caller{}, false},
		{"in a session", server.Caller{Peer: wire.Peer{PID: marked}}, false},
	}
	for _, c := range cases {
		if got := g.mayHandOver(c.caller, running{}); got != c.want {
			t.Errorf("a program that is %s: %v", c.name, got)
		}
	}
	keeper = own
	if g.mayHandOver(server.Caller{Peer: wire.Peer{PID: own}}, running{}) {
		t.Error("one that descends from the keeper and hides whose it is may")
	}
}

// A process id is used again: what is known of the one that had it before says nothing of who has
// it now.
func TestAnAncestryIsOfTheProcessThatWasFollowed(t *testing.T) {
	g := &Guard{DataDir: "/data", BootID: "b", KeeperPID: func() int { return 0 }}
	marked := anOrphan(t, proctree.IDVariable+"=0123456789ab", proctree.DataDirVariable+"=/data")
	now, ok := proctree.Read(marked)
	if !ok {
		t.Fatal("the process is not there")
	}
	g.followed.keep(follower{marked, now.StartTime - 1, 0}, ancestry{})
	if a := g.ancestryOf(marked); !a.marks["0123456789ab"] {
		t.Errorf("the ancestry is that of the one before: %+v", a)
	}
	kept := follower{marked, now.StartTime, 0}
	if a, ok := g.followed.of(kept); !ok || !a.marks["0123456789ab"] {
		t.Errorf("it is not kept: %+v", a)
	}
	g.followed.known[kept] = followedAt{ancestry{}, time.Now().Add(-followedFor)}
	if a := g.ancestryOf(marked); !a.marks["0123456789ab"] {
		t.Errorf("an old one is used: %+v", a)
	}
}

func TestAnAncestryThatBrokeOffIsNotKept(t *testing.T) {
	g := &Guard{DataDir: "/data", BootID: "b", KeeperPID: func() int { return 0 }}
	own, ok := proctree.Read(os.Getpid())
	if !ok {
		t.Fatal("the test is not there")
	}
	own.PID, own.Parent = anOrphan(t), 1<<30 // no process has this id
	if _, whole := g.follow(own, 0); whole {
		t.Error("it is taken for the whole way")
	}
}
