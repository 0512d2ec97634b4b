package engine

import (
	"slices"

	"tandem/engine/api"
	"tandem/engine/names"
	"tandem/persist/histdb"
)

// noteStart tells the history of what somebody has started for the first time.
// Of a shell in which somebody types, what is typed there is told.
func (c *control) noteStart(p *proc, e event) {
	if c.history == nil || e.kind != evSpawned || p.rec.Restarts > 0 || p.rec.TTY && names.IsPlainShell(p.rec.Argv) {
		return
	}
	r := p.rec
	kind := commandProcess
	if r.Transient {
		kind = commandExec
	}
	c.history.began(histdb.Row{
		Command: names.CommandLine(p.argv), CWD: r.CWD, StartedAt: r.CreatedAt, Duration: -1,
		Actor: r.Actor, Kind: kind, Process: r.ID, Running: true,
	})
}

// noteEnd tells the history of a process that has ended for good. One that was
// only kept from being started again had ended by itself, and not well. What
// somebody has interrupted counts as stopped.
func (c *control) noteEnd(p *proc) {
	if c.history == nil || !p.state().Ended() {
		return
	}
	view := describe(p)
	switch {
	case p.down && view.State == api.StateStopped:
		view.State = api.StateFailed
	case view.State == api.StateExited && p.ending != nil && endsInterrupt(p.last.interrupt, p.ending.at) && (view.ExitCode == nil || *view.ExitCode != 0):
		view.State = api.StateStopped
	}
	c.history.ended(view)
}

// began adds a run of a command, one that has ended too. It never blocks.
func (h *history) began(r histdb.Row) {
	h.box.post(func() { h.record(r) })
}

// ended tells that something has ended for good, whoever has started it.
func (h *history) ended(p api.Process) {
	h.box.post(func() {
		if len(h.early) == earlyMost {
			h.early = slices.Delete(h.early, 0, earlyMost/2)
		}
		h.early = append(h.early, p)
		h.end(endOf(p))
	})
}

// startedAgain tells that somebody has started again what had ended, or was
// ended for that. It may have ended since.
func (h *history) startedAgain(p api.Process) {
	if p.Kind == api.KindSession && names.IsPlainShell(p.Argv) {
		return
	}
	r := histdb.Row{
		Command: names.CommandLine(p.Argv), CWD: p.CWD, StartedAt: p.StartedAt, Duration: -1,
		Actor: p.Actor, Kind: commandProcess, Process: p.ID, Running: true,
	}
	h.box.post(func() {
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

func (h *history) end(e histdb.End) {
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
