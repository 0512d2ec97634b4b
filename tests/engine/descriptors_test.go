package engine

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/sockets"
	"tandem/tests/needs"

	"golang.org/x/sys/unix"

	"tandem/tests/wait"
)

// Start as many sessions as fit, and open as many connections.
func TestStopsAndKeeperRestartWorkAtTheOpenFileLimit(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	before := m.info()
	for _, pid := range []int{before.EnginePID, before.KeeperPID} {
		if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 256, Max: 256}, nil); err != nil {
			t.Fatal(err)
		}
	}
	var all []api.Process
	var err error
	for len(all) < 256 {
		var p api.Process
		p, err = api.SessionStart.Call(t.Context(), m.client, api.SessionStartInput{Command: []string{"cat"}, Name: fmt.Sprintf("s%d", len(all))})
		if err != nil {
			break
		}
		all = append(all, p)
	}
	if err == nil || !strings.Contains(err.Error(), "open files") || len(all) < 40 {
		t.Fatalf("%d sessions, then %v", len(all), err)
	}
	socket, _ := sockets.Paths(m.dir)
	for range 256 {
		if c, err := net.Dial("unix", socket); err == nil {
			defer c.Close()
		}
	}
	first, last := all[0], all[len(all)-1]
	if end := call(m, api.SessionKill, api.IDInput{ID: last.ID}); end.State != api.StateStopped || isRunning(last.PID) {
		t.Errorf("killed: %+v", end)
	}
	wait.Kill(m, before.KeeperPID)
	m.awaitNextKeeper(before.KeeperPID)
	m.write(first.ID, "still here\r")
	m.awaitScreen(first.ID, "still here")
	if end := call(m, api.ProcessStop, api.ProcessStopInput{ID: first.ID, Signal: "INT"}); end.ExitSignal != "SIGINT" || isRunning(first.PID) {
		t.Errorf("stopped: %+v", end)
	}
	call(m, api.EngineStop, api.EngineStopInput{All: true})
	for _, p := range all {
		if isRunning(p.PID) {
			t.Errorf("%s is still running", p.Name)
		}
	}
	wait.Exit(m, before.EnginePID)
	m.activate() // for the cleanup to stop
}
