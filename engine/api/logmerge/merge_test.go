package logmerge

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
)

// An engine has a log that grows with each call, and one whose answers come late when it is
// asked to wait.
type engine struct{}

func (engine) Do(ctx context.Context, _ string, _ api.Effect, in, out any) error {
	asked, answer := in.(api.ProcessLogInput), out.(*api.ProcessLogOutput)
	*answer = api.ProcessLogOutput{Start: *asked.Since, NextCursor: *asked.Since, End: *asked.Since, State: api.StateRunning}
	switch {
	case asked.ID == "busy":
		answer.Data = "line\n"
	case asked.ID == "hung", asked.WaitMS > 0:
		<-ctx.Done()
		return ctx.Err()
	case *asked.Since == 0:
		answer.Data = "slow\n"
	}
	answer.NextCursor += int64(len(answer.Data))
	answer.End = answer.NextCursor
	return nil
}

func TestWaitReadsALogWithLateAnswers(t *testing.T) {
	busy, slow := &Source{Process: api.Process{ID: "busy"}}, &Source{Process: api.Process{ID: "slow"}}
	m := Forward([]Span{{Source: busy}, {Source: slow}}, 100)
	for range 3 {
		lines, err := m.Wait(t.Context(), engine{})
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if line.Source == slow {
				return
			}
		}
	}
	t.Error("only lines of the other log were read")
}

func TestHungLogHoldsUpOthersOnlyForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy, hung := &Source{Process: api.Process{ID: "busy"}}, &Source{Process: api.Process{ID: "hung"}}
		m := Forward([]Span{{Source: busy}, {Source: hung}}, 100)
		for range 4 {
			start := time.Now()
			lines, err := m.Wait(t.Context(), engine{})
			if err != nil || len(lines) == 0 {
				t.Fatalf("%d lines, %v", len(lines), err)
			}
			if took := time.Since(start); took > maxLate+Settle {
				t.Errorf("lines of the other log came after %v, want at most %v", took, maxLate+Settle)
			}
		}
	})
}
