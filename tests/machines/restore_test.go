package machines

import (
	"encoding/json"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/tests/harness"
	"tandem/tests/wait"
)

// Sessions of another machine that lost its engine and keeper keep their places in the layout here,
// and are restored there with that machine's own variables.
func TestDashboardRestoresSessionsOfAMachineThatCrashed(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 1)
	p.Must("--host", "m1", "new", "--name", "far", "--", "sh")
	screen := harness.OpenDashboard(t, 120, 40, append(p.Env, "ONLY_HERE=yes"), p.Dir)
	openSession(t, screen, "m1", "far")
	harness.Press(t, screen, ":echo old-$((6*7))", "enter")
	harness.Await(t, screen, "old-42")
	harness.Press(t, screen, "ctrl+b", "%")
	harness.Press(t, screen, ":echo beside-$((6*7))", "enter")
	harness.Await(t, screen, "beside-42")
	var before, info api.Info
	if err := json.Unmarshal([]byte(p.Must("--host", "m1", "info", "--json")), &before); err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{before.EnginePID, before.KeeperPID} {
		wait.Kill(t, pid)
	}
	if err := screen.WaitFor(func(s string) bool {
		return strings.Count(s, "enter restore") >= 2 && strings.Contains(s, "old-42") && strings.Contains(s, "beside-42")
	}); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(p.Must("--host", "m1", "info", "--json")), &info); err != nil || info.Running > 0 {
		t.Errorf("%d sessions run unasked: %v", info.Running, err)
	}
	harness.Press(t, screen, "R")
	if err := screen.WaitFor(func(s string) bool { return !strings.Contains(s, "enter restore") }); err != nil {
		t.Fatal(err)
	}
	harness.Press(t, screen, ":echo new-$((6*7))-$ONLY_HERE-", "enter")
	if err := screen.WaitFor(func(s string) bool { return strings.Contains(s, "new-42--") && strings.Contains(s, "old-42") }); err != nil {
		t.Error(err)
	}
}
