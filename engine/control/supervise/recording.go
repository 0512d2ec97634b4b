package supervise

import (
	"time"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/record/history"
	"tandem/engine/session/prompt"
	"tandem/engine/system/keeper"
	"tandem/persist/histdb"
)

// noteStart adds the run that has begun to the history. An interactive shell is left out, because
// the commands typed into it are recorded instead.
func (p *proc) noteStart(h *history.History, e event) {
	switch {
	case h == nil || !p.isRecorded():
	case e.kind == evSpawned:
		h.RecordRun(p.historyRow(p.rec.StartedAt))
	default: // the previous engine was killed before it saved the child, or recorded its start
		h.RecordMissed([]histdb.Row{p.historyRow(p.rec.StartedAt)})
	}
}

// isRecorded reports whether the process gets rows in the history.
func (p *proc) isRecorded() bool {
	return !p.rec.Private && (!p.rec.TTY || !names.IsPlainShell(p.rec.Argv))
}

// historyRow returns the history row of a run that has just begun.
func (p *proc) historyRow(began time.Time) histdb.Row {
	r := p.rec
	kind := history.KindProcess
	if r.Transient {
		kind = history.KindExec
	}
	return histdb.Row{
		Command: names.CommandLine(p.argv), CWD: r.CWD, StartedAt: began, Duration: -1,
		Actor: r.Actor, From: r.From, Kind: kind, Process: r.ID, Running: true,
	}
}

// noteFound adds starts and exits that are not in the history yet. The previous engine may have
// been killed before it wrote them.
func (ps processes) noteFound(h *history.History) {
	if h == nil || h.LastWritten().IsZero() {
		return
	}
	var rows []histdb.Row
	for _, p := range ps.selectOldestFirst(func(p *proc) bool { return p.isRecorded() && p.rec.Identity != nil }) {
		for i, run := range p.rec.Runs {
			row, end := p.historyRow(run.StartedAt), Ending{Exit: keeper.Exit{Code: run.ExitCode, Signal: run.ExitSignal}, At: run.EndedAt}
			last := i == len(p.rec.Runs)-1
			if last && p.ending != nil {
				end = *p.ending
			}
			if !end.At.IsZero() {
				row.Complete(p.historyEnd(end, last && p.wasStopped(end)))
			}
			if row.StartedAt.After(h.LastWritten()) || end.At.After(h.LastWritten()) {
				rows = append(rows, row)
			}
		}
	}
	if len(rows) > 0 {
		h.RecordMissed(rows)
	}
}

// noteEnd records in the history how the last run ended. Repeated calls have no effect.
func (p *proc) noteEnd(h *history.History) {
	if h != nil && p.isRecorded() {
		h.RecordEnd(p.historyEnd(*p.ending, p.wasStopped(*p.ending)))
	}
}

func (p *proc) historyEnd(e Ending, stopped bool) histdb.End {
	return histdb.End{Process: p.rec.ID, At: e.At, ExitCode: e.Exit.Code, ExitSignal: e.Exit.Signal, Stopped: stopped}
}

// wasStopped reports whether the last run was stopped on request, or interrupted by the user. Then
// its exit is no failure.
func (p *proc) wasStopped(e Ending) bool {
	return p.rec.Desired == desiredStopped || p.state() == api.StateStopping && p.stop.restart ||
		prompt.EndsInterrupt(p.lastFacts.Interrupt, e.At) && (e.Exit.Code == nil || *e.Exit.Code != 0)
}
