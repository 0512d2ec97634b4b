package engine

import (
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/persist/store"
)

func TestRunsAreRememberedUpToABound(t *testing.T) {
	var r store.Record
	code := 7
	for i := range runsMost + 5 {
		r.StartedAt = time.Unix(int64(100*i), 0)
		beginRun(&r)
		before := r.Runs
		endRun(&r, ending{exit: keeper.Exit{Code: &code}, at: time.Unix(int64(100*i+50), 0)})
		if !before[len(before)-1].EndedAt.IsZero() {
			t.Fatal("a record that was handed out has changed")
		}
	}
	endRun(&r, ending{at: time.Unix(1, 0)})
	runs := runsOf(r)
	if len(runs) != runsMost || !runs[0].StartedAt.Equal(time.Unix(500, 0)) || *runs[0].ExitCode != 7 || !runs[0].EndedAt.Equal(time.Unix(550, 0)) {
		t.Errorf("runs are %+v", runs)
	}
}

func TestAProcessTellsItsRuns(t *testing.T) {
	m := startMachine(t)
	p := call(m, api.ProcessStart, api.ProcessStartInput{Command: []string{"sh", "-c", "exit 3"},
		Restart: &api.Restart{Policy: api.PolicyOnFailure, Max: 1, DelayMS: 10}})
	zero := int64(0)
	call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Exit: true, Since: &zero})
	for {
		p = call(m, api.ProcessGet, api.IDInput{ID: p.ID})
		if p.State.Ended() {
			break
		}
		call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Exit: true, TimeoutMS: 100})
	}
	runs := p.Supervision.Runs
	if len(runs) != 2 || runs[0].EndedAt == nil || *runs[0].ExitCode != 3 || runs[1].EndedAt == nil || runs[1].StartedAt.Before(*runs[0].EndedAt) {
		t.Errorf("runs are %+v", runs)
	}
}
