package supervise

import (
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/persist/store"
)

// runsMost is how many runs of a process are remembered.
const runsMost = 20

// beginRun remembers that a child of a process has been started. Records are
// handed out by value, so their runs are replaced and never changed.
func beginRun(r *store.Record) {
	runs := append(slices.Clone(r.Runs), store.Run{StartedAt: r.StartedAt})
	r.Runs = runs[max(len(runs)-runsMost, 0):]
}

// endRun remembers how the last run ended.
func endRun(r *store.Record, e Ending) {
	last := len(r.Runs) - 1
	if last < 0 || !r.Runs[last].EndedAt.IsZero() {
		return
	}
	r.Runs = slices.Clone(r.Runs)
	run := &r.Runs[last]
	if run.EndedAt = e.At; e.At.IsZero() {
		run.EndedAt = time.Now()
	}
	run.ExitCode, run.ExitSignal = e.Exit.Code, e.Exit.Signal
}

// runsOf is what clients are told about the runs of a process.
func runsOf(r store.Record) []api.ProcessRun {
	var runs []api.ProcessRun
	for _, run := range r.Runs {
		told := api.ProcessRun{StartedAt: run.StartedAt, ExitCode: run.ExitCode, ExitSignal: run.ExitSignal}
		if !run.EndedAt.IsZero() {
			told.EndedAt = &run.EndedAt
		}
		runs = append(runs, told)
	}
	return runs
}
