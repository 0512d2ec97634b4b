package history

import (
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/names"
	"tandem/persist/histdb"
)

// RecordRun adds a run, running or already ended. It never blocks.
func (h *History) RecordRun(r histdb.Row) {
	h.box.Post(func() { h.recordRow(r) })
}

// RecordEnd records that a process has exited for good. It never blocks.
func (h *History) RecordEnd(p api.Process) {
	h.box.Post(func() {
		if len(h.earlyEnds) == maxEarlyEnds {
			// Dropping half at a time moves the rest less often.
			h.earlyEnds = slices.Delete(h.earlyEnds, 0, maxEarlyEnds/2)
		}
		h.earlyEnds = append(h.earlyEnds, p)
		h.recordEnd(endFrom(p))
	})
}

// LastWritten returns when the previous engine last wrote to the history; zero if there is none
// yet.
func (h *History) LastWritten() time.Time { return h.written }

// RecordMissed adds runs started by a previous engine and possibly not written. processes has the
// current state of each run's process. Runs with a row are only completed. RecordMissed never
// blocks.
func (h *History) RecordMissed(runs []histdb.Row, processes []api.Process) {
	h.box.Post(func() {
		ids := make([]string, len(processes))
		for i, p := range processes {
			ids[i] = p.ID
		}
		known := map[string]bool{}
		err := h.openDatabase()
		if err == nil {
			known, err = h.db.Processes(ids)
		}
		if err != nil {
			h.log.Error("find runs that were not recorded", "error", h.handleDamage(err))
			return
		}
		for i, p := range processes {
			if p.State.Ended() {
				completeRow(&runs[i], endFrom(p))
				h.recordEnd(endFrom(p))
			}
			if !known[p.ID] && runs[i].StartedAt.After(h.written) {
				h.recordRow(runs[i])
			}
		}
	})
}

// RecordRestart ends the current run of a restarted process and adds a new one, which may have
// ended since.
func (h *History) RecordRestart(p api.Process) {
	if p.Kind == api.KindSession && names.IsPlainShell(p.Argv) {
		return
	}
	r := histdb.Row{
		Command: names.CommandLine(p.Argv), CWD: p.CWD, StartedAt: p.StartedAt, Duration: -1,
		Actor: p.Actor, From: p.From, Kind: KindProcess, Process: p.ID, Running: true,
	}
	h.box.Post(func() {
		h.recordEnd(histdb.End{Process: p.ID, At: p.StartedAt, Stopped: true})
		over := func(e api.Process) bool { return e.ID == p.ID && !e.StartedAt.Before(p.StartedAt) }
		// The exit may have arrived before this call, because the two come from different
		// goroutines.
		if i := slices.IndexFunc(h.earlyEnds, over); i >= 0 {
			p = h.earlyEnds[i]
		}
		if p.State.Ended() {
			completeRow(&r, endFrom(p))
		}
		h.recordRow(r)
	})
}

func (h *History) recordEnd(e histdb.End) {
	h.queueChange(histdb.Change{End: &e})
	h.updateIndex(func(x *historyIndex) { x.endRuns(e) })
}

func endFrom(p api.Process) histdb.End {
	e := histdb.End{Process: p.ID, ExitCode: p.ExitCode, ExitSignal: p.ExitSignal, Stopped: p.State == api.StateStopped}
	if p.ExitedAt != nil {
		e.At = *p.ExitedAt
	}
	return e
}
