package logs

import (
	"bytes"
	"context"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/logmerge"
	"tandem/ui/cli/output"
)

func TestEndNoteDescribesHowAProcessEnded(t *testing.T) {
	status := 7
	for _, c := range []struct {
		p    api.Process
		want string
	}{
		{api.Process{}, "was removed"},
		{api.Process{ID: "x", State: api.StateExited, ExitCode: &status}, "exited with 7"},
		{api.Process{ID: "x", State: api.StateExited, ExitSignal: "SIGKILL"}, "was killed by SIGKILL"},
		{api.Process{ID: "x", State: api.StateStopped, ExitSignal: "SIGTERM"}, "was stopped"},
		{api.Process{ID: "x", State: api.StateFailed, Error: "no such program"}, "failed: no such program"},
		{api.Process{ID: "x", State: api.StateExited, ExitUnknown: true}, "exited; its status is unknown"},
	} {
		if got := endNote(c.p); got != c.want {
			t.Errorf("%+v: %q, want %q", c.p, got, c.want)
		}
	}
}

// A processEngine knows one process.
type processEngine struct {
	process api.Process
	logEnd  api.State // the state that its log reports; "" if the log was deleted
}

func (e *processEngine) Do(_ context.Context, _ string, _ api.Effect, _, out any) error {
	switch out := out.(type) {
	case *api.Process:
		*out = e.process
	case *api.ProcessLogsOutput:
		return api.Errorf(api.CodeNotSupported, "an older engine")
	case *api.ProcessLogOutput:
		if e.logEnd == "" {
			return api.Errorf(api.CodeNotFound, "the log was deleted")
		}
		*out = api.ProcessLogOutput{State: e.logEnd}
	}
	return nil
}

func TestProcessStartedAgainIsFollowedInAnyOrderOfEvents(t *testing.T) {
	began := time.Unix(1000, 0)
	first := api.Process{ID: "p", Name: "web", State: api.StateRunning, StartedAt: began}
	again := first
	again.StartedAt = began.Add(time.Second)
	for _, eventFirst := range []bool{true, false} {
		e := &processEngine{process: again, logEnd: api.StateExited}
		m := &logMerge{engine: e, out: newMergePrinter(output.Printer{}, flags{})}
		s := m.add(first)
		m.in.Cursor = []api.LogCursor{{ID: first.ID}}
		if eventFirst {
			m.handleEvent(api.Event{Process: &again})
		}
		if _, err := m.read(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		notes, err := m.exitNotes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !eventFirst {
			m.handleEvent(api.Event{Process: &again})
		}
		if !s.followed || m.hasEndedOf(s) {
			t.Errorf("event first %v: its log is not followed", eventFirst)
		}
		if eventFirst && len(notes) > 0 {
			t.Errorf("the new run is said to have ended: %q", notes[0].note)
		}
	}
}

func TestProcessWithoutALogIsNotFollowed(t *testing.T) {
	p := api.Process{ID: "p", Name: "web", State: api.StateRunning, StartedAt: time.Unix(1000, 0)}
	m := &logMerge{engine: &processEngine{process: p}, out: newMergePrinter(output.Printer{}, flags{})}
	s := m.add(p)
	m.in.Cursor = []api.LogCursor{{ID: "p"}}
	if _, err := m.read(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := m.exitNotes(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.followed || !m.hasEndedOf(s) {
		t.Error("its log is read again")
	}
}

// Lines may be written after the end of the log is read and before following begins.
func TestGrepWithoutEarlierLinesPrintsNewOnes(t *testing.T) {
	var out bytes.Buffer
	p := newMergePrinter(output.Printer{Stdout: &out}, flags{grep: "x", context: 1, lines: 0})
	p.alone = true
	for _, text := range []string{"x", "after"} {
		if err := p.add(mergedLine{Source: &logmerge.Source{}, Line: logmerge.Line{Text: []byte(text)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.endBacklog(); err != nil || out.String() != "x\nafter\n" {
		t.Errorf("printed %q, %v", out.String(), err)
	}
}
