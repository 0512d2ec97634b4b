package history

import (
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/names"
	"tandem/persist/histdb"
)

// Began adds a run of a command, one that has ended too. It never blocks.
func (h *History) Began(r histdb.Row) {
	h.box.Post(func() { h.record(r) })
}

// Ended tells that something has ended for good, whoever has started it.
func (h *History) Ended(p api.Process) {
	h.box.Post(func() {
		if len(h.early) == earlyMost {
			h.early = slices.Delete(h.early, 0, earlyMost/2)
		}
		h.early = append(h.early, p)
		h.end(endOf(p))
	})
}

// Written returns when the previous engine last wrote to the history, or zero if there is none yet.
func (h *History) Written() time.Time { return h.written }

// Found adds runs that a previous engine started and may not have written. processes has the current
// state of each run's process. Runs that have a row are only completed. Found never blocks.
func (h *History) Found(runs []histdb.Row, processes []api.Process) {
	h.box.Post(func() {
		ids := make([]string, len(processes))
		for i, p := range processes {
			ids[i] = p.ID
		}
		known := map[string]bool{}
		err := h.open()
		if err == nil {
			known, err = h.db.Processes(ids)
		}
		if err != nil {
			h.log.Error("look for runs that were not recorded", "error", h.damaged(err))
			return
		}
		for i, p := range processes {
			if p.State.Ended() {
				complete(&runs[i], endOf(p))
				h.end(endOf(p))
			}
			if !known[p.ID] && runs[i].StartedAt.After(h.written) {
				h.record(runs[i])
			}
		}
	})
}

// StartedAgain tells that somebody has started again what had ended, or was
// ended for that. It may have ended since.
func (h *History) StartedAgain(p api.Process) {
	if p.Kind == api.KindSession && names.IsPlainShell(p.Argv) {
		return
	}
	r := histdb.Row{
		Command: names.CommandLine(p.Argv), CWD: p.CWD, StartedAt: p.StartedAt, Duration: -1,
		Actor: p.Actor, From: p.From, Kind: KindProcess, Process: p.ID, Running: true,
	}
	h.box.Post(func() {
		h.end(histdb.End{Process: p.ID, At: p.StartedAt, Stopped: true})
		over := func(e api.Process) bool { return e.ID == p.ID && !e.StartedAt.Before(p.StartedAt) }
		if i := slices.IndexFunc(h.early, over); i >= 0 {
			p = h.early[i]
		}
		if p.State.Ended() {
			complete(&r, endOf(p))
		}
		h.record(r)
	})
}

func (h *History) end(e histdb.End) {
	h.queue(histdb.Change{End: &e})
	h.change(func(x *historyIndex) { x.end(e) })
}

func endOf(p api.Process) histdb.End {
	e := histdb.End{Process: p.ID, ExitCode: p.ExitCode, ExitSignal: p.ExitSignal, Stopped: p.State == api.StateStopped}
	if p.ExitedAt != nil {
		e.At = *p.ExitedAt
	}
	return e
}
