package ps

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/ui/cli/output"

	"github.com/google/go-cmp/cmp"
)

// sample returns a process in each kind of state.
func sample(now time.Time) []api.Process {
	seven := 7
	soon, notReady := now.Add(3900*time.Millisecond), false
	return []api.Process{
		{ID: "aaaaaaaaaaaa", Kind: api.KindProcess, Name: "old", State: api.StateExited, ExitCode: &seven, Actor: "person",
			Supervision: &api.Supervision{}},
		{ID: "bbbbbbbbbbbb", Kind: api.KindProcess, Name: "web", State: api.StateRunning, PID: 42, StartedAt: now.Add(-3 * time.Minute),
			Actor: "agent:x\x1b", KeepAlive: true, Supervision: &api.Supervision{Automatic: 2},
			Metrics: &api.Metrics{CPUPercent: 12.34, RSSBytes: 50 << 20, Ports: []int{80, 8080}}},
		{ID: "cccccccccccc", Kind: api.KindProcess, Name: "crash", State: api.StateBackoff, ExitSignal: "SIGSEGV", Actor: "person",
			Supervision: &api.Supervision{Automatic: 4, NextStart: &soon, LastLines: []string{"1", "2", "3", "segv \x1b[31m\n"}}},
		{ID: "dddddddddddd", Kind: api.KindProcess, Name: "bad", State: api.StateFailed, Error: "no such program", Actor: "person",
			ExitUnknown: true, Supervision: &api.Supervision{}},
		{ID: "eeeeeeeeeeee", Kind: api.KindProcess, Name: "slow", State: api.StateRunning, PID: 43, StartedAt: now, Actor: "person",
			Supervision: &api.Supervision{Ready: &notReady}, Metrics: &api.Metrics{RSSBytes: 900}},
		{ID: "ffffffffffff", Kind: api.KindSession, Name: "sh", State: api.StateRunning, PID: 44, StartedAt: now, Actor: "person"},
	}
}

func TestTableShowsStateUsageAndTrouble(t *testing.T) {
	now := time.Now()
	want := "" +
		"STATE      NAME   PID  CPU    MEM   UP  RESTARTS  PORTS    EXIT     WHO\n" +
		"running    web    42   12.3%  50M   3m  2         80,8080  -        agent:x^[\n" +
		"backoff    crash  -    -      -     -   4         -        SIGSEGV  person\n" +
		"  starts again in 3.9s\n" +
		"  2\n" +
		"  3\n" +
		"  segv ^[[31m\n" +
		"not ready  slow   43   0.0%   900B  0s  0         -        -        person\n" +
		"running    sh     44   -      -     0s  -         -        -        person\n" +
		"exited     old    -    -      -     -   0         -        7        person\n" +
		"failed     bad    -    -      -     -   0         -        unknown  person\n" +
		"  no such program\n"
	if diff := cmp.Diff(want, formatTable(output.Printer{}, output.LiveFirst(sample(now)), now)); diff != "" {
		t.Error(diff)
	}
}

// decodePrinted returns the rows printed as JSON by show.
func decodePrinted(t *testing.T, show func(output.Printer) error) (rows []map[string]any) {
	t.Helper()
	var out bytes.Buffer
	if err := show(output.Printer{Stdout: &out, JSON: true}); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestPsJSONHasEveryMember(t *testing.T) {
	all := sample(time.Now())
	for _, row := range decodePrinted(t, func(out output.Printer) error { return printList(out, all, true) }) {
		for _, key := range []string{"id", "kind", "name", "state", "pid", "cwd", "command", "cpu_percent", "rss_bytes", "started_at",
			"uptime_seconds", "restarts", "exit_code", "ports", "keep_alive", "actor", "log_path"} {
			if _, ok := row[key]; !ok {
				t.Errorf("%v has no %q", row["name"], key)
			}
		}
		if row["ports"] == nil {
			t.Errorf("%v has no list of ports", row["name"])
		}
		if row["name"] == "web" && (row["restarts"] != 2.0 || row["cpu_percent"] != 12.34 || row["uptime_seconds"].(float64) < 180) {
			t.Errorf("web is %v", row)
		}
	}
}

func TestReportedProcessesHaveNoUsage(t *testing.T) {
	all := []api.Process{{Kind: api.KindProcess, Name: "web", State: api.StateRunning, PID: 7, StartedAt: time.Now().Add(-time.Hour)}}
	row := decodePrinted(t, func(out output.Printer) error { return PrintReported(out, all) })[0]
	for _, key := range []string{"cpu_percent", "rss_bytes", "ports"} {
		if v, ok := row[key]; ok {
			t.Errorf("%s is %v", key, v)
		}
	}
	if row["restarts"] != 0.0 || row["uptime_seconds"].(float64) < 3600 {
		t.Errorf("web is %v", row)
	}
}
