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
)

// table makes rows of machines: "web-1 role=web" and, behind it, its processes, "name state".
func table(t testing.TB, machines map[string][]string) *rows {
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
			rows.add(t, name, processRow{"e", api.Process{ID: fmt.Sprintf("%s%d", name2, i), Name: name2, State: api.State(state), Kind: api.KindProcess, Command: "run " + name2}})
		}
	}
	rows.settle()
	rows.meet(all, epochs)
	return rows
}

func (t *rows) add(tb testing.TB, machine string, r processRow) {
	tb.Helper()
	value, err := json.Marshal(r)
	if err != nil {
		tb.Fatal(err)
	}
	t.put(machine+"."+r.ID, value)
}

// ask is a window as text: groups with their counts, and processes with their machines.
func (t *rows) ask(tb testing.TB, in api.FleetProcessesInput) (string, api.FleetProcessesOutput) {
	tb.Helper()
	f, err := readFilter(in.Filter)
	if err != nil {
		tb.Fatal(err)
	}
	out := t.window(f, in)
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

func someMachines(t *testing.T) *rows {
	return table(t, map[string][]string{
		"web-1 role=web zone=a":      {"nginx running", "job failed"},
		"web-2 role=web zone=b":      {"nginx running", "cron stopped"},
		"db-1 role=db zone=b away=1": {"postgres running"},
	})
}

// What earlier filters have left is not looked through again, and is right all the same.
func TestWhatIsTypedAndTakenBackLeavesWhatItWouldAtFirst(t *testing.T) {
	t.Parallel()
	words := []string{"", "n", "ng", "nginx", "nginx ", "nginx !", "nginx !web-2", "s", "st", "state", "state:", "state:run", "STATE:RUN", "h", "host:", "host:web", "host:web-1",
		"label:role=web", "job", "jo", "kind:p", "web-1 n", "postgres", "state:away", "label:", "x"}
	rapid.Check(t, func(r *rapid.T) {
		rows := someMachines(t)
		for i := range rapid.IntRange(1, 40).Draw(r, "steps") {
			if p := (api.Process{ID: rapid.SampledFrom([]string{"nginx0", "job1", "new"}).Draw(r, "id"), Name: fmt.Sprintf("nginx%d", i), State: api.StateFailed, Kind: api.KindProcess}); rapid.Bool().Draw(r, "changes") {
				rows.add(t, rapid.SampledFrom([]string{"web-1", "web-2"}).Draw(r, "machine"), processRow{"e", p})
			}
			in := api.FleetProcessesInput{Filter: rapid.SampledFrom(words).Draw(r, "filter"), Sort: rapid.SampledFrom([]api.FleetSort{"", "", "", api.FleetByName}).Draw(r, "sort")}
			got, out := rows.ask(t, in)
			rows.matched, rows.counted = nil, -1
			want, anew := rows.ask(t, in)
			if got != want || out.Matching != anew.Matching || out.All != anew.All {
				r.Fatalf("%q leaves %q (%d of %d), at first %q (%d of %d)", in.Filter, got, out.Matching, out.All, want, anew.Matching, anew.All)
			}
			rows.ask(t, api.FleetProcessesInput{Filter: rapid.SampledFrom(words).Draw(r, "before")})
		}
	})
}

func TestSessionsOfAFleetAreFoundByTheirKind(t *testing.T) {
	t.Parallel()
	rows := someMachines(t)
	rows.add(t, "db-1", processRow{"e", api.Process{ID: "s1", Name: "psql", State: api.StateRunning, Kind: api.KindSession}})
	if got, _ := rows.ask(t, api.FleetProcessesInput{Filter: "kind:session"}); got != "db-1/psql?" {
		t.Errorf("sessions: %q", got)
	}
	if _, out := rows.ask(t, api.FleetProcessesInput{Filter: "kind:process"}); out.Matching != 5 {
		t.Errorf("%d processes", out.Matching)
	}
}

func TestProcessesOfAFleetAreFilteredSortedAndGrouped(t *testing.T) {
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
		if got, out := rows.ask(t, c.in); got != c.want || out.All != 5 || out.Machines != 3 || out.Away != 1 {
			t.Errorf("%+v:\n got %s, %d of %d on %d machines\nwant %s", c.in, got, out.Matching, out.All, out.Machines, c.want)
		}
	}
	for find, want := range map[string]int{"web-1/job1": 1, "web-1/nginx0": 2, "web-2/cron1": -1, "group web-2": 4} {
		if _, out := rows.ask(t, api.FleetProcessesInput{Group: "host", Open: []string{"web-1"}, Find: find}); out.At != want {
			t.Errorf("%s is found at %d; want %d", find, out.At, want)
		}
	}
	if got, out := rows.ask(t, api.FleetProcessesInput{Find: "web-2/cron1", Limit: 2}); got != "db-1/postgres? web-2/cron" || out.Offset != 3 {
		t.Errorf("the window about what is looked for: %s from %d", got, out.Offset)
	}
}

// What has changed since goes to its new place, in whatever order was asked for.
func TestRowsThatChangeAreInTheirPlaces(t *testing.T) {
	t.Parallel()
	rows := someMachines(t)
	want := func(what, text string) {
		t.Helper()
		if got, _ := rows.ask(t, api.FleetProcessesInput{}); got != text {
			t.Errorf("%s:\n got %s\nwant %s", what, got, text)
		}
	}
	want("at first", "web-1/job web-1/nginx web-2/nginx db-1/postgres? web-2/cron")
	rows.add(t, "web-2", processRow{"e", api.Process{ID: "nginx0", Name: "nginx", State: api.StateFailed}})
	want("one that fails", "web-1/job web-2/nginx web-1/nginx db-1/postgres? web-2/cron")
	rows.remove("web-1.job1")
	rows.add(t, "web-1", processRow{"e", api.Process{ID: "new", Name: "new", State: api.StateRunning}})
	want("one that goes and one that comes", "web-2/nginx web-1/new web-1/nginx db-1/postgres? web-2/cron")
	rows.put("web-1.x", []byte("{"))
	rows.put("web-1.x", []byte(`{"epoch":"e","id":"other"}`))
	rows.put("*.x", []byte(`{"epoch":"e","id":"x"}`))
	rows.add(t, "unknown", processRow{"e", api.Process{ID: "x", Name: "x", State: api.StateRunning}})
	want("what cannot be read, and what is of no machine", "web-2/nginx web-1/new web-1/nginx db-1/postgres? web-2/cron")
	rows.begin()
	rows.add(t, "web-1", processRow{"e", api.Process{ID: "new", Name: "new", State: api.StateRunning}})
	rows.settle()
	want("another connection that tells of one alone", "web-1/new")
}

// An engine that starts anew cannot delete what the one before has written, which it does not
// know: that is no longer shown.
func TestRowsOfAnEarlierEngineAreNotShown(t *testing.T) {
	t.Parallel()
	rows := someMachines(t)
	web := []api.FleetMachine{{Name: "web-1", State: api.FleetConnected}}
	rows.add(t, "web-1", processRow{"next", api.Process{ID: "z", Name: "z", State: api.StateRunning}})
	if got, _ := rows.ask(t, api.FleetProcessesInput{Filter: "host:web-1"}); got != "web-1/job web-1/nginx" {
		t.Errorf("before the machine has told of it: %s", got)
	}
	rows.meet(web, map[string]string{"web-1": "next"})
	if got, _ := rows.ask(t, api.FleetProcessesInput{}); got != "web-1/z" {
		t.Errorf("after: %s", got)
	}
	if len(rows.all) != 4 { // what web-2 and db-1 have written is there, if they come back
		t.Errorf("%d rows are kept", len(rows.all))
	}
}

func TestWhoWaitsHearsOfAChangeAndOfAMachineThatGoes(t *testing.T) {
	t.Parallel()
	rows := someMachines(t)
	woken := func(change func()) {
		t.Helper()
		before := rows.number()
		done := make(chan struct{})
		go func() {
			defer close(done)
			rows.since(t.Context(), before, time.Hour)
		}()
		change()
		<-done
		if rows.number() == before {
			t.Error("nothing has changed")
		}
	}
	woken(func() { rows.remove("web-1.job1") })
	away := []api.FleetMachine{{Name: "web-1", State: api.FleetAway}}
	woken(func() { rows.meet(away, map[string]string{"web-1": "e"}) })
	if got, _ := rows.ask(t, api.FleetProcessesInput{}); got != "web-1/nginx?" {
		t.Errorf("then there is %s", got)
	}
	rows.since(t.Context(), rows.number(), time.Nanosecond) // nothing comes, and nobody waits for ever
}

func FuzzRows(f *testing.F) {
	f.Add("host:web-* label:a=b !x state:failed y", "web-1.a", `{"epoch":"e","id":"a","name":"x","state":"running"}`)
	f.Add("host:[ label:=", "a.b.c", `{}`)
	f.Fuzz(func(t *testing.T, filter, key, value string) {
		rows := table(t, map[string][]string{"web-1 role=web": {"nginx running"}})
		rows.put(key, []byte(value))
		read, err := readFilter(filter)
		if err != nil {
			return
		}
		for _, group := range []string{"", "host", "label:role"} {
			out := rows.window(read, api.FleetProcessesInput{Filter: filter, Group: group, Open: []string{"web-1"}, Find: key, Offset: len(filter)})
			if out.Matching > out.All || len(out.Lines) > out.Total || out.At >= out.Total || out.Offset < 0 {
				t.Errorf("%+v", out)
			}
		}
		rows.remove(key)
	})
}

// BenchmarkWindow is what a key in the filter, a change and the first look cost in a fleet of
// 1,000 machines with 50 processes each.
func BenchmarkWindow(b *testing.B) {
	machines := map[string][]string{}
	for i := range 1000 {
		for j := range 50 {
			machine := fmt.Sprintf("m%05d role=web", i)
			machines[machine] = append(machines[machine], fmt.Sprintf("worker-%d running", j))
		}
	}
	rows := table(b, machines)
	run := func(name string, in api.FleetProcessesInput, before func(int)) {
		b.Run(name, func(b *testing.B) {
			var began, ended syscall.Rusage // others share the processors
			_ = syscall.Getrusage(syscall.RUSAGE_SELF, &began)
			for i := 0; b.Loop(); i++ {
				before(i)
				rows.ask(b, in)
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
		rows.add(b, "m00500", processRow{"e", api.Process{ID: "worker-70", Name: "worker-7", State: []api.State{api.StateRunning, api.StateFailed}[i%2]}})
	})
}

// What a machine counts and what has come of its rows may differ for a moment.
func TestAMachineIsGivenItsRowsWhenAllHaveCome(t *testing.T) {
	t.Parallel()
	rows := someMachines(t)
	list := []api.FleetMachine{
		{Name: "web-1", States: map[api.State]int{api.StateRunning: 1, api.StateFailed: 1}},
		{Name: "web-2", States: map[api.State]int{api.StateRunning: 2}},
		{Name: "db-1", States: map[api.State]int{api.StateRunning: 1}},
		{Name: "idle"},
	}
	rows.give(list, map[string]string{"web-1": "e", "web-2": "e", "db-1": "an earlier engine"})
	if got := list[0].Rows; len(got) != 2 || got[0].Name != "job" && got[0].Name != "nginx" {
		t.Errorf("of web-1: %v", got)
	}
	if list[1].Rows != nil || list[2].Rows != nil || list[3].Rows == nil {
		t.Errorf("of the others: %v, %v, %v", list[1].Rows, list[2].Rows, list[3].Rows)
	}
}

func TestAnAnswerHasABoundedNumberOfRows(t *testing.T) {
	t.Parallel()
	rows := table(t, map[string][]string{"a": {"x running"}, "b": {"x running"}})
	many := map[api.State]int{api.StateRunning: mostRows}
	list := []api.FleetMachine{{Name: "a", States: map[api.State]int{api.StateRunning: 1}}, {Name: "huge", States: many}, {Name: "b", States: map[api.State]int{api.StateRunning: 1}}}
	rows.give(list, map[string]string{"a": "e", "b": "e"})
	if len(list[0].Rows) != 1 || list[1].Rows != nil || list[2].Rows != nil {
		t.Errorf("given are %v", list)
	}
}
