package fleet

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
)

// newTestTable creates rows from "name state" for each process of a machine.
func newTestTable(tb testing.TB, machines map[string][]string) *rowTable {
	tb.Helper()
	rows := newRows()
	for machine, processes := range machines {
		for i, p := range processes {
			name, state, _ := strings.Cut(p, " ")
			rows.addRow(tb, machine, processRow{"e", api.Process{ID: fmt.Sprintf("%s%d", name, i), Name: name, State: api.State(state), Kind: api.KindProcess}})
		}
	}
	rows.endGeneration()
	return rows
}

func (t *rowTable) addRow(tb testing.TB, machine string, r processRow) {
	tb.Helper()
	value, err := json.Marshal(r)
	if err != nil {
		tb.Fatal(err)
	}
	t.putRow(machine+"."+r.ID, value)
}

// list returns the rows as machine/name, sorted.
func (t *rowTable) list() string {
	var all []string
	for _, r := range t.all {
		all = append(all, r.machine+"/"+r.Name)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func someMachines(t *testing.T) *rowTable {
	return newTestTable(t, map[string][]string{
		"web-1": {"nginx running", "job failed"},
		"web-2": {"nginx running", "cron stopped"},
		"db-1":  {"postgres running"},
	})
}

func TestRowsFollowTheBucket(t *testing.T) {
	t.Parallel()
	rows := someMachines(t)
	want := func(what, text string) {
		t.Helper()
		if got := rows.list(); got != text {
			t.Errorf("%s:\n got %s\nwant %s", what, got, text)
		}
	}
	want("at first", "db-1/postgres web-1/job web-1/nginx web-2/cron web-2/nginx")
	rows.removeRow("web-1.job1")
	rows.addRow(t, "web-1", processRow{"e", api.Process{ID: "new", Name: "new", State: api.StateRunning}})
	rows.addRow(t, "web-2", processRow{"e", api.Process{ID: "cron1", Name: "timer", State: api.StateRunning}})
	want("after a removal, an addition and a change", "db-1/postgres web-1/new web-1/nginx web-2/nginx web-2/timer")
	rows.putRow("web-1.x", []byte("{"))
	rows.putRow("web-1.x", []byte(`{"epoch":"e","id":"other"}`))
	rows.putRow("*.x", []byte(`{"epoch":"e","id":"x"}`))
	want("after invalid rows", "db-1/postgres web-1/new web-1/nginx web-2/nginx web-2/timer")
	rows.beginGeneration()
	rows.addRow(t, "web-1", processRow{"e", api.Process{ID: "new", Name: "new", State: api.StateRunning}})
	rows.endGeneration()
	want("after another connection with a single row", "web-1/new")
}

// A restarted engine does not know the rows of the previous one and so cannot delete them.
func TestRowsOfEarlierEngineAreHidden(t *testing.T) {
	t.Parallel()
	rows := someMachines(t)
	rows.addRow(t, "web-1", processRow{"next", api.Process{ID: "z", Name: "z", State: api.StateRunning}})
	for _, c := range []struct {
		epoch  string
		states map[api.State]int
		want   int
	}{
		{"e", map[api.State]int{api.StateRunning: 1, api.StateFailed: 1}, 2}, // before the machine's new row
		{"next", map[api.State]int{api.StateRunning: 1}, 1},
	} {
		list := []api.FleetMachine{{Name: "web-1", States: c.states}}
		if rows.fillRows(list, map[string]string{"web-1": c.epoch}); len(list[0].Rows) != c.want {
			t.Errorf("with epoch %s: %v", c.epoch, list[0].Rows)
		}
	}
}

func FuzzRows(f *testing.F) {
	f.Add("web-1.a", `{"epoch":"e","id":"a","name":"x","state":"running"}`)
	f.Add("a.b.c", `{}`)
	f.Fuzz(func(t *testing.T, key, value string) {
		rows := newTestTable(t, map[string][]string{"web-1": {"nginx running"}})
		rows.putRow(key, []byte(value))
		list := []api.FleetMachine{{Name: "web-1", States: map[api.State]int{api.StateRunning: 1}}}
		if rows.fillRows(list, map[string]string{"web-1": "e"}); len(list[0].Rows) > 1 {
			t.Errorf("more rows than the machine has: %+v", list[0].Rows)
		}
		rows.removeRow(key)
	})
}

// A machine's counts and its rows arrive separately and may differ for a moment.
func TestFillRowsWaitsForAllRowsOfMachine(t *testing.T) {
	t.Parallel()
	rows := someMachines(t)
	list := []api.FleetMachine{
		{Name: "web-1", States: map[api.State]int{api.StateRunning: 1, api.StateFailed: 1}},
		{Name: "web-2", States: map[api.State]int{api.StateRunning: 2}},
		{Name: "db-1", States: map[api.State]int{api.StateRunning: 1}},
		{Name: "idle"},
	}
	rows.fillRows(list, map[string]string{"web-1": "e", "web-2": "e", "db-1": "an earlier engine"})
	if got := list[0].Rows; len(got) != 2 || got[0].Name != "job" && got[0].Name != "nginx" {
		t.Errorf("of web-1: %v", got)
	}
	if list[1].Rows != nil || list[2].Rows != nil || list[3].Rows == nil {
		t.Errorf("of the others: %v, %v, %v", list[1].Rows, list[2].Rows, list[3].Rows)
	}
}

func TestFillRowsLimitsNumberOfRows(t *testing.T) {
	t.Parallel()
	rows := newTestTable(t, map[string][]string{"a": {"x running"}, "b": {"x running"}})
	many := map[api.State]int{api.StateRunning: maxRows}
	list := []api.FleetMachine{{Name: "a", States: map[api.State]int{api.StateRunning: 1}}, {Name: "huge", States: many}, {Name: "b", States: map[api.State]int{api.StateRunning: 1}}}
	rows.fillRows(list, map[string]string{"a": "e", "b": "e"})
	if len(list[0].Rows) != 1 || list[1].Rows != nil || list[2].Rows != nil {
		t.Errorf("given are %v", list)
	}
}
