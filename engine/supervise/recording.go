package supervise

import (
	"tandem/engine/api"
	"tandem/engine/history"
	"tandem/engine/names"
	"tandem/engine/prompt"
	"tandem/persist/histdb"
)

// noteStart tells the history what somebody has started for the first time. A shell in
// which somebody types is left out: what is typed there is told.
func (p *proc) noteStart(h *history.History, e event) {
	if h == nil || e.kind != evSpawned || p.rec.Restarts > 0 || !p.isRecorded() {
		return
	}
	h.Began(p.row())
}

// isRecorded reports whether the history has a row of a process.
func (p *proc) isRecorded() bool { return !p.rec.TTY || !names.IsPlainShell(p.rec.Argv) }

// row is the first run of a process as it is recorded when it starts.
func (p *proc) row() histdb.Row {
	r := p.rec
	kind := history.KindProcess
	if r.Transient {
		kind = history.KindExec
	}
	return histdb.Row{
		Command: names.CommandLine(p.argv), CWD: r.CWD, StartedAt: r.CreatedAt, Duration: -1,
		Actor: r.Actor, From: r.From, Kind: kind, Process: r.ID, Running: true,
	}
}

// noteFound tells the history what has begun or ended since it was written last, as the
// engine before may have been killed before it wrote that.
func (ps processes) noteFound(h *history.History) {
	if h == nil || h.Written().IsZero() {
		return
	}
	var rows []histdb.Row
	var views []api.Process
	for _, p := range ps.oldestFirst(func(p *proc) bool { return p.isRecorded() && p.rec.Identity != nil }) {
		ended := p.ending != nil && p.ending.At.After(h.Written())
		if ended || p.rec.CreatedAt.After(h.Written()) {
			rows, views = append(rows, p.row()), append(views, p.recordedEnd())
		}
	}
	if len(rows) > 0 {
		h.Found(rows, views)
	}
}

// noteEnd tells the history of a process that has ended for good.
func (p *proc) noteEnd(h *history.History) {
	if h == nil || !p.state().Ended() {
		return
	}
	h.Ended(p.recordedEnd())
}

// recordedEnd is a process as the history sees its end. One that was only kept from being
// started again had ended by itself, and not well. What somebody has interrupted counts as
// stopped.
func (p *proc) recordedEnd() api.Process {
	view := describe(p)
	switch {
	case p.down && view.State == api.StateStopped:
		view.State = api.StateFailed
	case view.State == api.StateExited && p.ending != nil && prompt.EndsInterrupt(p.last.Interrupt, p.ending.At) && (view.ExitCode == nil || *view.ExitCode != 0):
		view.State = api.StateStopped
	}
	return view
}
