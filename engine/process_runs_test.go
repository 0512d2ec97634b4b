package engine

import (
	"testing"

	"tandem/engine/api"
)

func TestProcessReportsItsRuns(t *testing.T) {
	t.Parallel()
	m := startInMemory(t)
	m.keeper.program = func(c *memoryChild) { c.exit(exitCode(3)) }
	p := call(m.machine, api.ProcessStart, api.ProcessStartInput{Command: []string{"cat"},
		Restart: &api.Restart{Policy: api.PolicyOnFailure, Max: 1, DelayMS: 10}})
	zero := int64(0)
	call(m.machine, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Exit: true, Since: &zero})
	for {
		p = call(m.machine, api.ProcessGet, api.IDInput{ID: p.ID})
		if p.State.Ended() {
			break
		}
		call(m.machine, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Exit: true, TimeoutMS: 100})
	}
	runs := p.Supervision.Runs
	if len(runs) != 2 || runs[0].EndedAt == nil || *runs[0].ExitCode != 3 || runs[1].EndedAt == nil || runs[1].StartedAt.Before(*runs[0].EndedAt) {
		t.Errorf("runs are %+v", runs)
	}
}
