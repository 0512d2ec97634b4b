package fleet

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/tests/seed"
)

// newTestTable creates rows from "web-1 role=web" for a machine and "name state" for each of its
// processes.
func newTestTable(t testing.TB, machines map[string][]string) *rowTable {
	t.Helper()
	rows := newRows()
	var all []api.FleetMachine
	epochs := map[string]string{}
	for what, processes := range machines {
		name, labels, _ := strings.Cut(what, " ")
		m := api.FleetMachine{Name: name, State: api.FleetConnected, Labels: map[string]string{}}
		for label := range strings.FieldsSeq(labels) {
			key, value, _ := strings.Cut(label, "=")
			m.Labels[key] = value
		}
		if m.Labels["away"] != "" {
			m.State = api.FleetAway
		}
		all = append(all, m)
		epochs[name] = "e"
		for i, p := range processes {
			name2, state, _ := strings.Cut(p, " ")
			rows.addRow(t, name, processRow{"e", api.Process{ID: fmt.Sprintf("%s%d", name2, i), Name: name2, State: api.State(state), Kind: api.KindProcess, Command: "run " + name2}})
		}
	}
	rows.endGeneration()
	rows.updateHosts(all, epochs)
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

// askWindow returns a window as text: groups with their counts, processes with their machines.
func (t *rowTable) askWindow(tb testing.TB, in api.FleetProcessesInput) (string, api.FleetProcessesOutput) {
	tb.Helper()
	f, err := readFilter(in.Filter)
	if err != nil {
		tb.Fatal(err)
	}
	out := t.buildWindow(f, in)
	var lines []string
	for _, l := range out.Lines {
		if g := l.Group; g != nil {
			lines = append(lines, fmt.Sprintf("%s:%d/%d/%d", g.Name, g.Running, g.Failed, g.Processes))
			continue
		}
		line := l.Host + "/" + l.Process.Name
		if l.Away {
			line += "?"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, " "), out
}

func someMachines(t *testing.T) *rowTable {
	return newTestTable(t, map[string][]string{
		"web-1 role=web zone=a":      {"nginx running", "job failed"},
		"web-2 role=web zone=b":      {"nginx running", "cron stopped"},
		"db-1 role=db zone=b away=1": {"postgres running"},
	})
}

// Cached results of earlier filters must not change the result of a later one.
func TestCachedFilterResultsMatchFreshOnes(t *testing.T) {
	t.Parallel()
	words := []string{"", "n", "ng", "nginx", "nginx ", "nginx !", "nginx !web-2", "s", "st", "state", "state:", "state:run", "STATE:RUN", "h", "host:", "host:web", "host:web-1",
		"label:role=web", "job", "jo", "kind:p", "web-1 n", "postgres", "state:away", "label:", "x"}
	seed.Check(t, func(r *rapid.T) {
		rows := someMachines(t)
		for i := range rapid.IntRange(1, 40).Draw(r, "steps") {
			if p := (api.Process{ID: rapid.SampledFrom([]string{"nginx0", "job1", "new"}).Draw(r, "id"), Name: fmt.Sprintf("nginx%d", i), State: api.StateFailed, Kind: api.KindProcess}); rapid.Bool().Draw(r, "changes") {
				rows.addRow(t, rapid.SampledFrom([]string{"web-1", "web-2"}).Draw(r, "machine"), processRow{"e", p})
			}
			in := api.FleetProcessesInput{Filter: rapid.SampledFrom(words).Draw(r, "filter"), Sort: rapid.SampledFrom([]api.FleetSort{"", "", "", api.FleetByName}).Draw(r, "sort")}
			got, out := rows.askWindow(t, in)
			rows.results, rows.counted = nil, -1
			want, anew := rows.askWindow(t, in)
			if got != want || out.Matching != anew.Matching || out.All != anew.All {
				r.Fatalf("%q leaves %q (%d of %d), at first %q (%d of %d)", in.Filter, got, out.Matching, out.All, want, anew.Matching, anew.All)
			}
			rows.askWindow(t, api.FleetProcessesInput{Filter: rapid.SampledFrom(words).Draw(r, "before")})
		}
	})
}

func TestFilterSelectsSessionsByKind(t *testing.T) {
	t.Parallel()
	rows := someMachines(t)
	rows.addRow(t, "db-1", processRow{"e", api.Process{ID: "s1", Name: "psql", State: api.StateRunning, Kind: api.KindSession}})
	if got, _ := rows.askWindow(t, api.FleetProcessesInput{Filter: "kind:session"}); got != "db-1/psql?" {
		t.Errorf("sessions: %q", got)
	}
	if _, out := rows.askWindow(t, api.FleetProcessesInput{Filter: "kind:process"}); out.Matching != 5 {
		t.Errorf("%d processes", out.Matching)
	}
}

func TestWindowFiltersSortsAndGroupsRows(t *testing.T) {
	t.Parallel()
	rows := someMachines(t)
	for _, c := range []struct {
		in   api.FleetProcessesInput
		want string
	}{
		{api.FleetProcessesInput{}, "web-1/job web-1/nginx web-2/nginx db-1/postgres? web-2/cron"},
		{api.FleetProcessesInput{Reversed: true}, "web-2/cron web-1/nginx web-2/nginx db-1/postgres? web-1/job"},
		{api.FleetProcessesInput{Sort: api.FleetByName}, "web-2/cron web-1/job web-1/nginx web-2/nginx db-1/postgres?"},
		{api.FleetProcessesInput{Sort: api.FleetByHost}, "db-1/postgres? web-1/job web-1/nginx web-2/nginx web-2/cron"},
		{api.FleetProcessesInput{Sort: api.FleetByCommand}, "web-2/cron web-1/job web-1/nginx web-2/nginx db-1/postgres?"},
		{api.FleetProcessesInput{Filter: "NGINX"}, "web-1/nginx web-2/nginx"},
		{api.FleetProcessesInput{Filter: "nginx !web-2"}, "web-1/nginx"},
		{api.FleetProcessesInput{Filter: "host:web"}, "web-1/job web-1/nginx web-2/nginx web-2/cron"},
		{api.FleetProcessesInput{Filter: "host:*-1"}, "web-1/job web-1/nginx db-1/postgres?"},
		{api.FleetProcessesInput{Filter: "label:role=web label:zone!=a"}, "web-2/nginx web-2/cron"},
		{api.FleetProcessesInput{Filter: "state:fail"}, "web-1/job"},
		{api.FleetProcessesInput{Filter: "state:running host:web"}, "web-1/nginx web-2/nginx"},
		{api.FleetProcessesInput{Filter: "state:away"}, "db-1/postgres?"},
		{api.FleetProcessesInput{Filter: "label:"}, "web-1/job web-1/nginx web-2/nginx db-1/postgres? web-2/cron"},
		{api.FleetProcessesInput{Filter: "none"}, ""},
		{api.FleetProcessesInput{Offset: 1, Limit: 2}, "web-1/nginx web-2/nginx"},
		{api.FleetProcessesInput{Group: "host"}, "web-1:1/1/2 db-1:0/0/1 web-2:1/0/2"},
		{api.FleetProcessesInput{Group: "host", Open: []string{"web-1"}}, "web-1:1/1/2 web-1/job web-1/nginx db-1:0/0/1 web-2:1/0/2"},
		{api.FleetProcessesInput{Group: "host", Open: []string{"web-1"}, Offset: 2}, "web-1/nginx db-1:0/0/1 web-2:1/0/2"},
		{api.FleetProcessesInput{Group: "host", Open: []string{"web-1"}, Offset: 2, Limit: 2}, "web-1/nginx db-1:0/0/1"},
		{api.FleetProcessesInput{Group: "label:role", Sort: api.FleetByName}, "db:0/0/1 web:2/1/4"},
		{api.FleetProcessesInput{Group: "label:role", Filter: "job"}, "web:0/1/1 web-1/job"},
		{api.FleetProcessesInput{Group: "label:none"}, ":2/1/5"},
	} {
		if got, out := rows.askWindow(t, c.in); got != c.want || out.All != 5 || out.Machines != 3 || out.Away != 1 {
			t.Errorf("%+v:\n got %s, %d of %d on %d machines\nwant %s", c.in, got, out.Matching, out.All, out.Machines, c.want)
		}
	}
	for find, want := range map[string]int{"web-1/job1": 1, "web-1/nginx0": 2, "web-2/cron1": -1, "group web-2": 4} {
		if _, out := rows.askWindow(t, api.FleetProcessesInput{Group: "host", Open: []string{"web-1"}, Find: find}); out.At != want {
			t.Errorf("%s is found at %d; want %d", find, out.At, want)
		}
	}
	if got, out := rows.askWindow(t, api.FleetProcessesInput{Find: "web-2/cron1", Limit: 2}); got != "db-1/postgres? web-2/cron" || out.Offset != 3 {
		t.Errorf("window around the searched row: %s from %d", got, out.Offset)
	}
}

// A changed row moves to its new place.
func TestChangedRowsMoveToTheirPlaces(t *testing.T) {
	t.Parallel()
	rows := someMachines(t)
	want := func(what, text string) {
		t.Helper()
		if got, _ := rows.askWindow(t, api.FleetProcessesInput{}); got != text {
			t.Errorf("%s:\n got %s\nwant %s", what, got, text)
		}
	}
	want("at first", "web-1/job web-1/nginx web-2/nginx db-1/postgres? web-2/cron")
	rows.addRow(t, "web-2", processRow{"e", api.Process{ID: "nginx0", Name: "nginx", State: api.StateFailed}})
	want("one that fails", "web-1/job web-2/nginx web-1/nginx db-1/postgres? web-2/cron")
	rows.removeRow("web-1.job1")
	rows.addRow(t, "web-1", processRow{"e", api.Process{ID: "new", Name: "new", State: api.StateRunning}})
	want("one that goes and one that comes", "web-2/nginx web-1/new web-1/nginx db-1/postgres? web-2/cron")
	rows.putRow("web-1.x", []byte("{"))
	rows.putRow("web-1.x", []byte(`{"epoch":"e","id":"other"}`))
	rows.putRow("*.x", []byte(`{"epoch":"e","id":"x"}`))
	rows.addRow(t, "unknown", processRow{"e", api.Process{ID: "x", Name: "x", State: api.StateRunning}})
	want("what cannot be read, and what is of no machine", "web-2/nginx web-1/new web-1/nginx db-1/postgres? web-2/cron")
	rows.beginGeneration()
	rows.addRow(t, "web-1", processRow{"e", api.Process{ID: "new", Name: "new", State: api.StateRunning}})
	rows.endGeneration()
	want("another connection that tells of one alone", "web-1/new")
}

// A restarted engine does not know the rows of the previous one and so cannot delete them.
func TestRowsOfEarlierEngineAreHidden(t *testing.T) {
	t.Parallel()
	rows := someMachines(t)
	web := []api.FleetMachine{{Name: "web-1", State: api.FleetConnected}}
	rows.addRow(t, "web-1", processRow{"next", api.Process{ID: "z", Name: "z", State: api.StateRunning}})
	if got, _ := rows.askWindow(t, api.FleetProcessesInput{Filter: "host:web-1"}); got != "web-1/job web-1/nginx" {
		t.Errorf("before the machine's new row: %s", got)
	}
	rows.updateHosts(web, map[string]string{"web-1": "next"})
	if got, _ := rows.askWindow(t, api.FleetProcessesInput{}); got != "web-1/z" {
		t.Errorf("after: %s", got)
	}
	if len(rows.all) != 4 { // those of web-2 and db-1 are kept in case they reconnect
		t.Errorf("%d rows are kept", len(rows.all))
	}
}

func TestWaitChangeReportsChangesAndOfflineMachines(t *testing.T) {
	t.Parallel()
	rows := someMachines(t)
	woken := func(change func()) {
		t.Helper()
		before := rows.currentSerial()
		done := make(chan struct{})
		go func() {
			defer close(done)
			rows.waitChange(t.Context(), before, time.Hour)
		}()
		change()
		<-done
		if rows.currentSerial() == before {
			t.Error("nothing has changed")
		}
	}
	woken(func() { rows.removeRow("web-1.job1") })
	away := []api.FleetMachine{{Name: "web-1", State: api.FleetAway}}
	woken(func() { rows.updateHosts(away, map[string]string{"web-1": "e"}) })
	if got, _ := rows.askWindow(t, api.FleetProcessesInput{}); got != "web-1/nginx?" {
		t.Errorf("then there is %s", got)
	}
	rows.waitChange(t.Context(), rows.currentSerial(), time.Nanosecond) // no change: returns after the time limit
}

func FuzzRows(f *testing.F) {
	f.Add("host:web-* label:a=b !x state:failed y", "web-1.a", `{"epoch":"e","id":"a","name":"x","state":"running"}`)
	f.Add("host:[ label:=", "a.b.c", `{}`)
	f.Fuzz(func(t *testing.T, filter, key, value string) {
		rows := newTestTable(t, map[string][]string{"web-1 role=web": {"nginx running"}})
		rows.putRow(key, []byte(value))
		read, err := readFilter(filter)
		if err != nil {
			return
		}
		for _, group := range []string{"", "host", "label:role"} {
			out := rows.buildWindow(read, api.FleetProcessesInput{Filter: filter, Group: group, Open: []string{"web-1"}, Find: key, Offset: len(filter)})
			if out.Matching > out.All || len(out.Lines) > out.Total || out.At >= out.Total || out.Offset < 0 {
				t.Errorf("%+v", out)
			}
		}
		rows.removeRow(key)
	})
}

// BenchmarkWindow measures the CPU time of a key typed into the filter, of a change and of the
// first request, in a fleet of 1,000 machines with 50 processes each.
func BenchmarkWindow(b *testing.B) {
	machines := map[string][]string{}
	for i := range 1000 {
		for j := range 50 {
			machine := fmt.Sprintf("m%05d role=web", i)
			machines[machine] = append(machines[machine], fmt.Sprintf("worker-%d running", j))
		}
	}
	rows := newTestTable(b, machines)
	run := func(name string, in api.FleetProcessesInput, before func(int)) {
		b.Run(name, func(b *testing.B) {
			var began, ended syscall.Rusage // other programs share the processors
			_ = syscall.Getrusage(syscall.RUSAGE_SELF, &began)
			for i := 0; b.Loop(); i++ {
				before(i)
				rows.askWindow(b, in)
			}
			_ = syscall.Getrusage(syscall.RUSAGE_SELF, &ended)
			b.ReportMetric(float64(ended.Utime.Nano()+ended.Stime.Nano()-began.Utime.Nano()-began.Stime.Nano())/1e6/float64(b.N), "cpu-ms/op")
		})
	}
	nothing := func(int) {}
	run("first", api.FleetProcessesInput{}, func(int) { rows.order.by = "" })
	run("again", api.FleetProcessesInput{}, nothing)
	run("filter", api.FleetProcessesInput{Filter: "worker-17"}, nothing)
	run("filter by host", api.FleetProcessesInput{Filter: "host:m0001 work"}, nothing)
	run("groups", api.FleetProcessesInput{Group: "host"}, nothing)
	run("change", api.FleetProcessesInput{}, func(i int) {
		rows.addRow(b, "m00500", processRow{"e", api.Process{ID: "worker-70", Name: "worker-7", State: []api.State{api.StateRunning, api.StateFailed}[i%2]}})
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
