package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/persist/store"
)

type rig struct {
	*testing.T
	*Log
	path string
	now  time.Time
}

func newRig(t *testing.T) *rig {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	return &rig{t, New(store.NewLines(path)), path, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// tick returns the next second.
func (r *rig) tick() time.Time {
	r.now = r.now.Add(time.Second)
	return r.now
}

// begin writes a started line.
func (r *rig) begin(e api.AuditEntry) func(outcome, process, failure string, took time.Duration) error {
	r.Helper()
	e.Time = r.tick()
	line, err := r.Begin(e)
	r.must(err)
	return line
}

func (r *rig) record(e api.AuditEntry) {
	r.Helper()
	e.Time = r.tick()
	r.must(r.Record(e))
}

// read records a read without an error.
func (r *rig) read(call, tool, operation string) {
	r.record(api.AuditEntry{Actor: "agent:a", Call: call, Tool: tool, Operation: operation, Outcome: api.OutcomeOK, DurationMS: 100})
}

func (r *rig) list(in api.AuditListInput) []api.AuditEntry {
	r.Helper()
	out, err := r.List(in)
	r.must(err)
	return out.Entries
}

// brief returns the tool and outcome of each entry.
func brief(entries []api.AuditEntry) (lines []string) {
	for _, e := range entries {
		lines = append(lines, e.Tool+" "+e.Outcome)
	}
	return lines
}

func (r *rig) check(what string, got, want any) {
	r.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		r.Errorf("%s: %s", what, diff)
	}
}

func TestListIsEmptyWithoutALog(t *testing.T) {
	r := newRig(t)
	if out, err := r.List(api.AuditListInput{}); err != nil || out.Entries == nil || len(out.Entries) != 0 {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestStartedLineIsWrittenBeforeTheOperationEnds(t *testing.T) {
	r := newRig(t)
	line := r.begin(api.AuditEntry{Actor: "agent:a", Tool: "exec", Operation: "exec", Arguments: map[string]any{"command": "make"}, Process: "p1"})
	e := r.list(api.AuditListInput{})[0]
	if e.Outcome != api.OutcomeStarted || e.ID == "" || e.Arguments["command"] != "make" || e.DurationMS != 0 {
		t.Errorf("before the end: %+v", e)
	}
	r.must(line(api.OutcomeFailed, "p2", "API_TOKEN=hush failed", 1234567*time.Microsecond))
	e = r.list(api.AuditListInput{})[0]
	if e.Outcome != api.OutcomeFailed || e.Error != "API_TOKEN=*** failed" || e.DurationMS != 1234.567 || e.Process != "p2" || !e.Time.Equal(r.now) {
		t.Errorf("after the end: %+v", e)
	}
	text, err := os.ReadFile(r.path)
	if lines := strings.Split(string(text), "\n"); err != nil || len(lines) != 3 || !strings.Contains(lines[0], `"started"`) || strings.Contains(lines[1], "exec") {
		t.Errorf("the file holds %q, %v", text, err)
	}
}

func TestBeginReportsALineThatCannotBeWritten(t *testing.T) {
	log := New(store.NewLines(filepath.Join(t.TempDir(), "no", "audit.jsonl")))
	if _, err := log.Begin(api.AuditEntry{}); !errors.Is(err, api.CodeInternal) {
		t.Errorf("Begin gives %v", err)
	}
	if err := log.Record(api.AuditEntry{}); !errors.Is(err, api.CodeInternal) {
		t.Errorf("Record gives %v", err)
	}
}

func TestRecordSetsMissingTimeAndTool(t *testing.T) {
	r := newRig(t)
	r.must(r.Record(api.AuditEntry{Operation: "files.list", Outcome: api.OutcomeOK, DurationMS: 3_600_000, ID: "forged"}))
	if e := r.list(api.AuditListInput{})[0]; time.Since(e.Time) < time.Hour || e.ID != "" || e.Tool != "files.list" {
		t.Errorf("%+v", e)
	}
}

func TestOutcomeOfFollowsTheError(t *testing.T) {
	for want, err := range map[string]error{
		api.OutcomeOK: nil, api.OutcomeDenied: api.Errorf(api.CodeForbidden, "no"), api.OutcomeCancelled: fmt.Errorf("read: %w", context.Canceled), api.OutcomeFailed: errors.New("x"),
	} {
		if got := api.OutcomeOf(err); got != want {
			t.Errorf("%v is %s, want %s", err, got, want)
		}
	}
}

func TestListJoinsTheOperationsOfACall(t *testing.T) {
	r := newRig(t)
	r.read("1", "session_exec", "session.get")
	first := r.now
	write := r.begin(api.AuditEntry{Actor: "agent:a", Call: "1", Tool: "session_exec", Operation: "session.exec", Arguments: map[string]any{"command": "make"}})
	r.read("2", "ls", "files.list") // of another call meanwhile
	r.must(write(api.OutcomeOK, "p1", "", 5*time.Second))
	r.record(api.AuditEntry{Actor: "agent:a", Call: "1", Tool: "session_exec", Operation: "session.screen", Outcome: api.OutcomeFailed, Error: "gone", Process: "p2"})

	entries := r.list(api.AuditListInput{})
	r.check("calls", brief(entries), []string{"ls ok", "session_exec ok"})
	e := entries[1]
	if !e.Time.Equal(first) || e.DurationMS != 6000 || e.Operation != "session.exec" || e.Arguments["command"] != "make" || e.Process != "p1" || e.Error != "" {
		t.Errorf("%+v", e)
	}

	entries = r.list(api.AuditListInput{Operations: true})
	var operations []string
	for _, e := range entries {
		operations = append(operations, e.Operation+" "+e.Outcome)
	}
	r.check("operations", operations, []string{"session.screen error", "files.list ok", "session.exec ok", "session.get ok"})
}

func TestAuditedCallTakesTheOutcomeOfItsChanges(t *testing.T) {
	const read, write = "files.stat", "files.write"
	for _, c := range []struct {
		lines string // an operation and its outcome each
		want  string
	}{
		{"files.stat ok", api.OutcomeOK},
		{"files.stat ok, files.stat error", api.OutcomeFailed},
		{"files.stat error, files.stat ok", api.OutcomeFailed},
		{"files.stat cancelled, files.stat ok", api.OutcomeCancelled},
		{"files.stat error, files.write ok", api.OutcomeOK},
		{"files.write ok, files.stat error", api.OutcomeOK},
		{"files.write started", api.OutcomeStarted},
		{"files.write ok, files.write started", api.OutcomeStarted},
		{"files.write cancelled, files.write started", api.OutcomeCancelled},
		{"files.write error, files.write cancelled, files.write ok", api.OutcomeFailed},
		{"files.write ok, files.write denied", api.OutcomeDenied},
		{"files.stat denied, files.write ok", api.OutcomeDenied},
		{"unknown.operation error, files.write ok", api.OutcomeFailed},
	} {
		r := newRig(t)
		for _, line := range strings.Split(c.lines, ", ") {
			operation, outcome, _ := strings.Cut(line, " ")
			e := api.AuditEntry{Call: "1", Tool: "write", Operation: operation, Outcome: outcome}
			if operation != write || outcome == api.OutcomeDenied {
				r.record(e)
				continue
			}
			if l := r.begin(e); outcome != api.OutcomeStarted {
				r.must(l(outcome, "", "", 0))
			}
		}
		if entries := r.list(api.AuditListInput{}); len(entries) != 1 || entries[0].Outcome != c.want {
			t.Errorf("%s: %v, want %s", c.lines, brief(entries), c.want)
		}
	}
}

func TestCallWithoutOperationsIsNotRecordedAsOK(t *testing.T) {
	r := newRig(t)
	check := func(call string, write bool) {
		e := api.AuditEntry{Actor: "agent:a", Call: call, Tool: call, Operation: api.PolicyCheck.Name, Outcome: api.OutcomeOK}
		if write {
			e.Arguments = map[string]any{"write": true}
		}
		r.record(e)
	}
	check("session_write", true) // then the engine was killed
	check("session_read", false)
	check("exec", true)
	r.read("exec", "exec", api.ProcessGet.Name)
	r.check("outcomes", brief(r.list(api.AuditListInput{})), []string{"exec ok", "session_read ok", "session_write started"})
}

func TestCallsOfDifferentCallersStayApart(t *testing.T) {
	r := newRig(t)
	same := api.AuditEntry{Call: "1", Tool: "ls", Actor: "agent:a", Client: "c", Outcome: api.OutcomeOK}
	for _, change := range []func(*api.AuditEntry){
		func(*api.AuditEntry) {}, func(e *api.AuditEntry) { e.Client = "d" }, func(e *api.AuditEntry) { e.Actor = "agent:b" },
		func(e *api.AuditEntry) { e.Tool = "exec" }, func(e *api.AuditEntry) { e.From = "ann" }, func(e *api.AuditEntry) { e.Call = "" },
		func(e *api.AuditEntry) { e.Call = "" },
	} {
		e := same
		change(&e)
		r.record(e)
	}
	if entries := r.list(api.AuditListInput{}); len(entries) != 7 {
		t.Errorf("%d entries, want 7", len(entries))
	}
}

func TestListFiltersAndLimits(t *testing.T) {
	r := newRig(t)
	for i := range 6 {
		r.record(api.AuditEntry{Actor: fmt.Sprint("agent:", i%2), Tool: fmt.Sprint("t", i/2), Outcome: api.OutcomeOK})
	}
	for _, c := range []struct {
		in   api.AuditListInput
		want []string
	}{
		{api.AuditListInput{Actor: "agent:1"}, []string{"t2 ok", "t1 ok", "t0 ok"}},
		{api.AuditListInput{Actor: "agent:1", Limit: 2}, []string{"t2 ok", "t1 ok"}},
		{api.AuditListInput{Tool: "t0"}, []string{"t0 ok", "t0 ok"}},
		{api.AuditListInput{Tool: "t0", Actor: "agent:0", Operations: true}, []string{"t0 ok"}},
		{api.AuditListInput{Limit: 1, Operations: true}, []string{"t2 ok"}},
	} {
		r.check(fmt.Sprintf("%+v", c.in), brief(r.list(c.in)), c.want)
	}
}

// The oldest call in the list began before others that are not in it.
func TestListReadsShownCallsToTheirBeginning(t *testing.T) {
	r := newRig(t)
	long := r.begin(api.AuditEntry{Actor: "agent:a", Call: "long", Tool: "exec", Operation: "exec", Arguments: map[string]any{"command": "make"}})
	for i := range 200 {
		r.read(fmt.Sprint(i), "ls", "files.list")
	}
	r.must(long(api.OutcomeOK, "p", "", 200*time.Second))
	r.read("long", "exec", "process.log")
	r.read("last", "ls", "files.list")
	entries := r.list(api.AuditListInput{Limit: 2})
	r.check("calls", brief(entries), []string{"ls ok", "exec ok"})
	if e := entries[1]; e.Arguments["command"] != "make" || e.Process != "p" {
		t.Errorf("%+v", e)
	}
}

func TestListStopsReadingWhenCallsAreComplete(t *testing.T) {
	r := newRig(t)
	r.read("1", "old", "files.list")
	r.now = r.now.Add(2 * maxPause)
	r.read("1", "old", "files.list")
	if e := r.list(api.AuditListInput{Limit: 1})[0]; !e.Time.Equal(r.now) {
		t.Errorf("a line from %v before counts", r.now.Sub(e.Time))
	}
}

func TestListReadsLinesOfEarlierReleases(t *testing.T) {
	r := newRig(t)
	r.must(os.WriteFile(r.path, []byte(`{"time":"2026-01-02T03:04:05Z","actor":"agent:a","tool":"exec","arguments":{"command":"make"},"outcome":"ok","duration_ms":12.345,"process":"p"}
{"time":"2026-01-02T03:04:06Z","id":"x","outcome":"ok","duration_ms":1}
{"time":"2026-01-02T03:04:06Z","actor":"agent:b","tool":"cut of`), 0o600))
	want := []api.AuditEntry{{
		Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Actor: "agent:a", Tool: "exec", Arguments: map[string]any{"command": "make"},
		Outcome: api.OutcomeOK, DurationMS: 12.345, Process: "p",
	}}
	r.check("entries", r.list(api.AuditListInput{}), want)
	r.check("operations", r.list(api.AuditListInput{Operations: true}), want)
}

func TestListReportsALogThatCannotBeRead(t *testing.T) {
	r := newRig(t)
	r.must(os.Mkdir(r.path, 0o700))
	if _, err := r.List(api.AuditListInput{}); !errors.Is(err, api.CodeUnavailable) {
		t.Errorf("%v", err)
	}
}

func TestLinesOfConcurrentCallsAreJoined(t *testing.T) {
	r := newRig(t)
	var calls sync.WaitGroup
	for i := range 50 {
		calls.Go(func() {
			line, err := r.Begin(api.AuditEntry{Tool: fmt.Sprint(i), Call: fmt.Sprint(i), Operation: "exec"})
			if err == nil {
				err = line(api.OutcomeOK, fmt.Sprint("p", i), "", time.Millisecond)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	entries := r.list(api.AuditListInput{})
	if len(entries) != 50 {
		t.Errorf("%d entries", len(entries))
	}
	for _, e := range entries {
		if e.Outcome != api.OutcomeOK || e.Process != "p"+e.Tool {
			t.Errorf("%+v", e)
		}
	}
}
