package supervise

import (
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/persist/store"
)

// maxRuns is how many runs of a process are remembered.
const maxRuns = 20

// beginRun adds a run to the record. Copies of the record share the slice of runs, so it is
// replaced and never changed.
func beginRun(r *store.Record) {
	runs := append(slices.Clone(r.Runs), store.Run{StartedAt: r.StartedAt})
	r.Runs = runs[max(len(runs)-maxRuns, 0):]
}

// endRun records how the last run ended, and when it last got input.
func endRun(r *store.Record, e Ending, typed time.Time) {
	last := len(r.Runs) - 1
	if last < 0 || !r.Runs[last].EndedAt.IsZero() {
		return
	}
	r.Runs = slices.Clone(r.Runs)
	run := &r.Runs[last]
	if run.EndedAt = e.At; e.At.IsZero() {
		run.EndedAt = time.Now()
	}
	run.ExitCode, run.ExitSignal, run.TypedAt = e.Exit.Code, e.Exit.Signal, typed
}

// describeRuns returns the runs of a process for clients.
func describeRuns(r store.Record) []api.ProcessRun {
	var runs []api.ProcessRun
	for _, run := range r.Runs {
		view := api.ProcessRun{StartedAt: run.StartedAt, ExitCode: run.ExitCode, ExitSignal: run.ExitSignal}
		if !run.EndedAt.IsZero() {
			view.EndedAt = &run.EndedAt
		}
		runs = append(runs, view)
	}
	return runs
}
