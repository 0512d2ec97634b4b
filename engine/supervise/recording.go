package supervise

import (
	"tandem/engine/api"
	"tandem/engine/history"
	"tandem/engine/names"
	"tandem/engine/prompt"
	"tandem/persist/histdb"
)

// noteStart adds the first start of a process to the history. An interactive shell is left out: the
// commands typed into it are recorded instead.
func (p *proc) noteStart(h *history.History, e event) {
	if h == nil || e.kind != evSpawned || p.rec.Restarts > 0 || !p.isRecorded() {
		return
	}
	h.RecordRun(p.historyRow())
}

// isRecorded reports whether the process gets a row in the history.
func (p *proc) isRecorded() bool { return !p.rec.TTY || !names.IsPlainShell(p.rec.Argv) }

// historyRow returns the history row for the start of a process's first run.
func (p *proc) historyRow() histdb.Row {
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

// noteFound adds starts and exits since the last write to the history: the previous engine may have
// been killed before it recorded them.
func (ps processes) noteFound(h *history.History) {
	if h == nil || h.LastWritten().IsZero() {
		return
	}
	var rows []histdb.Row
	var views []api.Process
	for _, p := range ps.selectOldestFirst(func(p *proc) bool { return p.isRecorded() && p.rec.Identity != nil }) {
		ended := p.ending != nil && p.ending.At.After(h.LastWritten())
		if ended || p.rec.CreatedAt.After(h.LastWritten()) {
			rows, views = append(rows, p.historyRow()), append(views, p.historyEnd())
		}
	}
	if len(rows) > 0 {
		h.RecordMissed(rows, views)
	}
}

// noteEnd records that a process has exited and will not be restarted.
func (p *proc) noteEnd(h *history.History) {
	if h == nil || !p.state().Ended() {
		return
	}
	h.RecordEnd(p.historyEnd())
}

// historyEnd describes an ended process for the history. A process stopped while it waited for a
// restart counts as failed, because it had exited by itself. One interrupted by the user counts as
// stopped.
func (p *proc) historyEnd() api.Process {
	view := describeProcess(p)
	switch {
	case p.alreadyExited && view.State == api.StateStopped:
		view.State = api.StateFailed
	case view.State == api.StateExited && p.ending != nil && prompt.EndsInterrupt(p.lastFacts.Interrupt, p.ending.At) && (view.ExitCode == nil || *view.ExitCode != 0):
		view.State = api.StateStopped
	}
	return view
}
