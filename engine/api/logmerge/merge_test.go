package logmerge

import (
	"context"
	"strings"
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

// A growing engine has logs that grow by three lines with each read.
type growing map[string]string

func (g growing) Do(_ context.Context, _ string, _ api.Effect, in, out any) error {
	asked := in.(api.ProcessLogInput)
	g[asked.ID] += "line\nline\nline\n"
	log := g[asked.ID]
	since := int(*asked.Since)
	if since < 0 {
		since = max(len(log)+since, 0)
	}
	data := log[since:]
	data = data[:min(len(data), asked.Max)]
	*out.(*api.ProcessLogOutput) = api.ProcessLogOutput{
		Start: int64(since), Data: data, NextCursor: int64(since + len(data)), End: int64(len(log)), State: api.StateRunning,
	}
	return nil
}

func TestLastLinesOfGrowingLogsAreThoseAtFirst(t *testing.T) {
	for _, count := range []int{0, 1, 5, 100} {
		g := growing{"a": strings.Repeat("line\n", 50), "b": strings.Repeat("line\n", 30)}
		m := Merge{Rest: true}
		want := 0
		for _, id := range []string{"a", "b"} {
			source := &Source{Process: api.Process{ID: id}}
			spans := source.Spans("")
			want += min(count, strings.Count(g[id], "\n")+3) // the first read has three more
			if err := Last(t.Context(), g, spans, count, 40); err != nil {
				t.Fatal(err)
			}
			m.Add(spans[0], 40)
		}
		got := 0
		for {
			_, ok, err := m.Next(t.Context(), g)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			got++
		}
		if got != want {
			t.Errorf("the last %d lines: %d, want %d", count, got, want)
		}
	}
}
