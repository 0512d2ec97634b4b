package conditions

import (
	"context"
	"testing"
)

func holds(word string) Condition[string] {
	return Condition[string]{Look: func(context.Context) (string, bool) { return word, true }}
}

func never(ended *bool) Condition[string] {
	return Condition[string]{Look: func(ctx context.Context) (string, bool) {
		<-ctx.Done()
		*ended = true
		return "", false
	}}
}

func TestFirstStopsTheOtherConditions(t *testing.T) {
	ended := false
	found, ok := First(t.Context(), nil, []Condition[string]{never(&ended), holds("here")})
	if found != "here" || !ok || !ended {
		t.Errorf("found %q, %v; the other has ended: %v", found, ok, ended)
	}
}

func TestFirstFindsNothingAfterTimeout(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ended := false
	if found, ok := First(ctx, nil, []Condition[string]{never(&ended)}); ok || !ended {
		t.Errorf("found %q, %v", found, ok)
	}
}

func TestOutlivingConditionIsMetAfterExit(t *testing.T) {
	over := make(chan struct{})
	ended := false
	line := Condition[string]{Outlives: true, Look: func(ctx context.Context) (string, bool) {
		<-over
		return "line", ctx.Err() == nil
	}}
	close(over)
	if found, ok := First(t.Context(), over, []Condition[string]{never(&ended), line}); found != "line" || !ok || !ended {
		t.Errorf("found %q, %v; the other has ended: %v", found, ok, ended)
	}
}

func TestPanicInLookReachesTheCaller(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	First(t.Context(), nil, []Condition[string]{{Look: func(context.Context) (string, bool) { panic("broken") }}})
}
