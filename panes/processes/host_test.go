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
	setProcesses(table, all[:1])
	if strings.Contains(head(), "host") {
		t.Errorf("a column that says nothing: %s", head())
	}
	setProcesses(table, all)
	if !strings.Contains(head(), "host") {
		t.Errorf("no column: %s", head())
	}
	for filter, want := range map[string]int{"host:box": 2, "host:here": 1, "host:box far": 1, "box": 2, "host:nosuch": 0, "": 3, "away": 1} {
		table.SetFilter(filter)
		if shown := table.rows.matching; shown != want {
			t.Errorf("%q leaves %d, want %d", filter, shown, want)
		}
	}
}

// The column appears only if such a process is listed and the table is wide enough.
func TestTableShowsTheMachineThatStartedAProcess(t *testing.T) {
	table := tableOf(nil)
	look := &look.Look{}
	drawn := func(w int) string { return strings.Join(table.Draw(w, 10, time.Now(), look), "\n") }
	all := []api.Process{{ID: "a", Name: "own", State: api.StateRunning}, {ID: "b", Name: "far", State: api.StateRunning, From: "me@laptop\x1b[2J"}}
	setProcesses(table, all[:1])
	if strings.Contains(drawn(120), "from") {
		t.Errorf("a column that says nothing: %s", drawn(120))
	}
	setProcesses(table, all)
	if got := drawn(120); !strings.Contains(got, "from") || !strings.Contains(got, "me@laptop") || strings.Contains(got, "\x1b[2J") {
		t.Errorf("no column, or one that clears the screen: %q", got)
	}
	if strings.Contains(drawn(60), "me@laptop") {
		t.Errorf("where there is no room: %s", drawn(60))
	}
}
