package access

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

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
		if got := g.mayHandOver(c.caller); got != c.want {
			t.Errorf("a program that is %s: %v", c.name, got)
		}
	}
	keeper = own
	if g.mayHandOver(server.Caller{Peer: wire.Peer{PID: own}}) {
		t.Error("one that descends from the keeper and hides whose it is may")
	}
}
