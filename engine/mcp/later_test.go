package mcp

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"tandem/engine/api"
)

// calls are as many calls, each of which says how many came before it.
func calls(f *face, from, n int) []recorded {
	var all []recorded
	for i := range n {
		all = append(all, recorded{f, func() api.AuditEntry { return api.AuditEntry{Tool: strconv.Itoa(from + i)} }})
	}
	return all
}

func (e *fakeEngine) audited() (tools []string, requests int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, in := range e.audits {
		for _, entry := range in.Entries {
			tools = append(tools, entry.Tool)
		}
	}
	return tools, len(e.audits)
}

func TestCallsAreRecordedTogetherInTheirOrderBeforeTheEnd(t *testing.T) {
	e := newFakeEngine(t)
	s := newServer(t.Context(), e.options())
	var want []string
	for i, c := range calls(s.reached(t), 0, backlogMost/2) {
		want = append(want, strconv.Itoa(i))
		s.later(c)
	}
	s.close()
	if tools, requests := e.audited(); !slices.Equal(tools, want) || requests > 5 {
		t.Errorf("in %d requests: %q", requests, tools)
	}
}

func TestABacklogThatIsFullIsNotLengthened(t *testing.T) {
	e := newFakeEngine(t)
	s := newServer(t.Context(), e.options())
	all := calls(s.reached(t), 0, backlogMost+1)
	s.backlog.waiting, s.backlog.busy = all[:backlogMost], true // nobody sees to them
	s.later(all[backlogMost])
	if tools, _ := e.audited(); !slices.Equal(tools, []string{strconv.Itoa(backlogMost)}) {
		t.Errorf("recorded: %q", tools)
	}
}

func TestACallIsRecordedWithTheTimeOfItsEnd(t *testing.T) {
	at := time.Now().Add(-time.Second)
	entry := entryOf(t.Context(), &face{actor: "agent:a"}, tool{name: "exec"}, nil, result{}, nil, time.Minute, at)
	if !entry.Time.Equal(at) || entry.DurationMS != 60_000 {
		t.Errorf("%+v", entry)
	}
}

// reached is an agent's face on the server's engine.
func (s *server) reached(t *testing.T) *face {
	t.Helper()
	f, err := s.connect(t.Context(), "agent:tester", newOwner())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.engine.Close() })
	return f
}
