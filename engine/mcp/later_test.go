package mcp

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/mcp/toolkit"
	"tandem/tests/needs"
)

// numberedEntries returns n entries; each names the number of entries before it.
func numberedEntries(f *toolkit.Agent, from, n int) []pendingEntry {
	var all []pendingEntry
	for i := range n {
		all = append(all, pendingEntry{f, func() api.AuditEntry { return api.AuditEntry{Tool: strconv.Itoa(from + i)} }})
	}
	return all
}

func (e *fakeEngine) auditedTools() (tools []string, requests int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, in := range e.audits {
		for _, entry := range in.Entries {
			tools = append(tools, entry.Tool)
		}
	}
	return tools, len(e.audits)
}

func TestCloseRecordsWaitingCallsInOrder(t *testing.T) {
	t.Parallel()
	e := newFakeEngine(t)
	s := newServer(t.Context(), e.options())
	var want []string
	for i, c := range numberedEntries(s.newTestAgent(t), 0, maxBacklog/2) {
		want = append(want, strconv.Itoa(i))
		s.recordLater(c)
	}
	s.close()
	if tools, _ := e.auditedTools(); !slices.Equal(tools, want) {
		t.Errorf("%q", tools)
	}
}

func TestWaitingCallsAreRecordedInOneRequest(t *testing.T) {
	t.Parallel()
	e := newFakeEngine(t)
	s := newServer(t.Context(), e.options())
	if failed := s.writeEntries(numberedEntries(s.newTestAgent(t), 0, 50)); len(failed) != 0 {
		t.Errorf("%d failed", len(failed))
	}
	if tools, requests := e.auditedTools(); len(tools) != 50 || requests != 1 {
		t.Errorf("%d calls in %d requests", len(tools), requests)
	}
}

func TestCallsAreRecordedByTheNextEngine(t *testing.T) {
	t.Parallel()
	e := newFakeEngine(t)
	s := newServer(t.Context(), e.options())
	f := s.newTestAgent(t)
	e.absent.Store(true)
	s.recordLater(numberedEntries(f, 0, 1)[0])
	eventually(t, "a try", func() bool { return e.refused.Load() > 0 })
	s.recordLater(numberedEntries(f, 1, 1)[0])
	e.absent.Store(false)
	s.close()
	if tools, _ := e.auditedTools(); !slices.Equal(tools, []string{"0", "1"}) {
		t.Errorf("%q", tools)
	}
}

func TestLargeCallGetsItsOwnBatch(t *testing.T) {
	t.Parallel()
	big := map[string]any{"list": []any{strings.Repeat("<", maxBatch)}}
	f := &toolkit.Agent{}
	entry := func(args map[string]any) pendingEntry {
		return pendingEntry{f, func() api.AuditEntry { return api.AuditEntry{Arguments: args} }}
	}
	var sizes []int
	for _, b := range splitBatches([]pendingEntry{entry(nil), entry(big), entry(nil), entry(nil)}) {
		sizes = append(sizes, len(b))
	}
	if !slices.Equal(sizes, []int{1, 1, 2}) {
		t.Errorf("batches of %v", sizes)
	}
}

func TestRecordedArgumentsAreTruncated(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	text, _ := json.Marshal(map[string]any{
		"a": strings.Repeat("x", 10<<20), "b": map[string]any{"c": strings.Repeat("ü", 10<<20)}, "d": slices.Repeat([]any{strings.Repeat("y", 5000)}, 500), "e": "short", "f": 1,
	})
	got := recordableArguments(text)
	if b, _ := json.Marshal(got); len(b) > 2*maxRecordedBytes || got["f"] != 1.0 || len(got) != 5 {
		t.Errorf("%d bytes: %.300s", len(b), b)
	}
	if a := got["a"].(string); !strings.HasSuffix(a, "x… (10485760 bytes)") {
		t.Errorf("%.50q", a)
	}
}

func TestFullBacklogRecordsAtOnce(t *testing.T) {
	t.Parallel()
	e := newFakeEngine(t)
	s := newServer(t.Context(), e.options())
	all := numberedEntries(s.newTestAgent(t), 0, maxBacklog+1)
	s.backlog.waiting, s.backlog.busy = all[:maxBacklog], true // no goroutine writes them
	s.recordLater(all[maxBacklog])
	if tools, _ := e.auditedTools(); !slices.Equal(tools, []string{strconv.Itoa(maxBacklog)}) {
		t.Errorf("recorded: %q", tools)
	}
}

func TestAuditEntryHasEndTimeAndDuration(t *testing.T) {
	t.Parallel()
	at := time.Now().Add(-time.Second)
	entry := auditEntry(t.Context(), &toolkit.Agent{Actor: "agent:a"}, toolkit.Tool{Name: "exec"}, nil, toolkit.Result{}, nil, time.Minute, at)
	if !entry.Time.Equal(at) || entry.DurationMS != 60_000 {
		t.Errorf("%+v", entry)
	}
}

// newTestAgent returns an agent connected to the server's engine.
func (s *server) newTestAgent(t *testing.T) *toolkit.Agent {
	t.Helper()
	f, err := s.connectAgent(t.Context(), "agent:tester", api.NewID())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Engine.Close() })
	return f
}
