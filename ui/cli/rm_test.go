package cli

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
)

func TestRemoveExitedRespectsOlderThan(t *testing.T) {
	ago := func(d time.Duration) *time.Time { return new(time.Now().Add(-d)) }
	list := []api.Process{
		{ID: "1", Name: "runs", State: api.StateRunning},
		{ID: "2", Name: "waits", State: api.StateBackoff, ExitedAt: ago(time.Hour)},
		{ID: "3", Name: "old", State: api.StateExited, ExitedAt: ago(49 * time.Hour)},
		{ID: "4", Name: "new", State: api.StateStopped, ExitedAt: ago(time.Hour)},
		{ID: "5", Name: "unknown", State: api.StateFailed},
	}
	for _, c := range []struct {
		args, want []string
	}{
		{[]string{"rm", "--exited"}, []string{"3", "4", "5"}},
		{[]string{"rm", "--exited", "--older-than", "2d"}, []string{"3"}},
		{[]string{"rm", "--exited", "--older-than", "30m"}, []string{"3", "4"}},
		{[]string{"rm", "--exited", "--older-than", "3d"}, nil},
	} {
		r := newRig(t)
		r.processes = list
		if _, stderr, status := r.run(c.args...); status != 0 {
			t.Errorf("%q: status %d, %q", c.args, status, stderr)
		}
		if slices.Sort(r.removed); !slices.Equal(r.removed, c.want) {
			t.Errorf("%q removes %q, want %q", c.args, r.removed, c.want)
		}
	}
}

func TestRemoveRejectsContradictoryFlags(t *testing.T) {
	r := newRig(t)
	r.processes = []api.Process{{ID: "3", Name: "old", State: api.StateExited}}
	for _, args := range [][]string{{"rm", "--exited", "old"}, {"rm", "--older-than", "1d", "old"}, {"rm", "--exited", "--older-than", "-1d"}, {"rm", "--exited", "--older-than", "soon"}} {
		if _, stderr, status := r.run(args...); status != 2 || stderr == "" {
			t.Errorf("%q: status %d, %q", args, status, stderr)
		}
	}
	if len(r.removed) > 0 {
		t.Errorf("removed %q", r.removed)
	}
}

func TestListsHideExitedOneShotCommands(t *testing.T) {
	once := func(name string, state api.State, processes int) api.Process {
		return api.Process{ID: name, Name: name, Kind: api.KindProcess, State: state, Supervision: &api.Supervision{Transient: true},
			Metrics: &api.Metrics{Processes: processes, Ports: []int{}}}
	}
	r := newRig(t)
	r.processes = []api.Process{once("done", api.StateExited, 0), once("broken", api.StateFailed, 0), once("busy", api.StateRunning, 1),
		once("overdue", api.StateStopped, 0), once("parent", api.StateExited, 2), {ID: "task", Name: "task", State: api.StateExited, Supervision: &api.Supervision{}}}
	for _, verb := range []string{"ps", "ls"} {
		for _, args := range [][]string{{verb}, {verb, "--json"}} {
			got := r.succeeds(args...)
			for name, want := range map[string]bool{"done": false, "broken": false, "busy": true, "overdue": true, "parent": true, "task": true} {
				if strings.Contains(got, name) != want {
					t.Errorf("%q lists %s: %v\n%s", args, name, !want, got)
				}
			}
		}
		if got := r.succeeds(verb, "-a"); !strings.Contains(got, "done") || !strings.Contains(got, "broken") {
			t.Errorf("%s -a prints %s", verb, got)
		}
	}
	if got := r.succeeds("ps"); !strings.Contains(got, "tandem stop parent") {
		t.Errorf("ps gives no command to stop the remaining processes:\n%s", got)
	}
}
