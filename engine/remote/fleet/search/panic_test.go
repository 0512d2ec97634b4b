package search

import (
	"context"
	"testing"
	"testing/synctest"

	"tandem/engine/api"
)

func TestPanicInAnswerCountsAsFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestFleet(map[string][]int{"good": {1}, "odd": {2}})
		defer w.Close()
		w.wait = func(_ context.Context, machine string) error {
			if machine == "odd" {
				panic("stumbled")
			}
			return nil
		}
		out := w.askAll(t, api.FleetHistoryInput{Key: "k"})
		if commands(out) != "good-0" || out.Failed != 1 || out.Answered != 1 {
			t.Errorf("found %q, %+v", commands(out), out)
		}
	})
}
