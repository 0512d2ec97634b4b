package processes

import (
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/panes/kit/look"
	"tandem/panes/states"
)

func TestTableShowsAndFiltersByMachine(t *testing.T) {
	table := tableOf(nil)
	look := &look.Look{}
	head := func() string { return table.Draw(120, 10, time.Now(), look)[0] }
	all := []api.Process{{ID: "a", Name: "own", State: api.StateRunning}, {ID: "box/b", Name: "far", State: api.StateRunning},
		{ID: "box/c", Name: "gone", State: states.StateAway}}
	table.setProcesses(all[:1])
	if strings.Contains(head(), "host") {
		t.Errorf("a column that says nothing: %s", head())
	}
	table.setProcesses(all)
	table.machines = true
	if !strings.Contains(head(), "host") {
		t.Errorf("no column: %s", head())
	}
	for filter, want := range map[string]int{"host:box": 2, "host:here": 1, "host:box far": 1, "box": 2, "host:nosuch": 0, "": 3, "away": 1} {
		table.SetFilter(filter)
		if shown := len(table.matching); shown != want {
			t.Errorf("%q leaves %d, want %d", filter, shown, want)
		}
	}
}

func TestTableShowsTheMachineThatStartedAProcess(t *testing.T) {
	table := tableOf([]api.Process{{ID: "a", Name: "own", Actor: "person", State: api.StateRunning},
		{ID: "b", Name: "far", Actor: "person", State: api.StateRunning, From: "me@laptop\x1b[2J"}})
	got := strings.Join(table.Draw(140, 10, time.Now(), &look.Look{}), "\n")
	if !strings.Contains(got, "you from me@laptop") || strings.Contains(got, "\x1b[2J") {
		t.Errorf("no machine, or one that clears the screen: %q", got)
	}
}
