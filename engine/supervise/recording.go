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
	if h == nil || e.kind != evSpawned || p.rec.Restarts > 0 || p.rec.TTY && names.IsPlainShell(p.rec.Argv) {
		return
	}
	r := p.rec
	kind := history.KindProcess
	if r.Transient {
		kind = history.KindExec
	}
	h.Began(histdb.Row{
		Command: names.CommandLine(p.argv), CWD: r.CWD, StartedAt: r.CreatedAt, Duration: -1,
		Actor: r.Actor, From: r.From, Kind: kind, Process: r.ID, Running: true,
	})
}

// noteEnd tells the history of a process that has ended for good. One that was
// only kept from being started again had ended by itself, and not well. What
// somebody has interrupted counts as stopped.
func (p *proc) noteEnd(h *history.History) {
	if h == nil || !p.state().Ended() {
		return
	}
	view := describe(p)
	switch {
	case p.down && view.State == api.StateStopped:
		view.State = api.StateFailed
	case view.State == api.StateExited && p.ending != nil && prompt.EndsInterrupt(p.last.Interrupt, p.ending.At) && (view.ExitCode == nil || *view.ExitCode != 0):
		view.State = api.StateStopped
	}
	h.Ended(view)
}
