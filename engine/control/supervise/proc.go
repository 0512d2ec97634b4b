package supervise

import (
	"path/filepath"
	"time"

	"tandem/engine/agent/coding"
	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/session/prompt"
	"tandem/engine/session/terminal"
	"tandem/persist/store"
)

// These are the states wanted by the user, as opposed to the state of the process.
const (
	desiredRunning = "running"
	desiredStopped = "stopped"
)

// describeProcess builds the view of a process for clients.
func describeProcess(p *proc) api.Process {
	r := p.rec
	view := api.Process{
		ID:        r.ID,
		Kind:      api.Kind(r.Kind),
		Name:      r.Name,
		State:     p.state(),
		CWD:       r.CWD,
		Command:   p.command,
		Argv:      p.argv,
		Actor:     r.Actor,
		From:      r.From,
		LogPath:   p.logPath,
		StartedAt: r.StartedAt,
		Error:     r.Error,
		Revision:  r.Revision + 1, // 0 means none
	}
	if p.state() == api.StateWaiting {
		for _, d := range r.After {
			view.WaitsFor = append(view.WaitsFor, api.Dependency{ID: d.ID, Name: d.Name, Condition: api.Condition(d.Condition)})
		}
	}
	if view.StartedAt.IsZero() {
		view.StartedAt = r.CreatedAt
	}
	if r.Identity != nil && p.ending == nil && !view.State.Ended() {
		view.PID = r.Identity.PID
	} else if r.Identity != nil {
		view.LastPID = r.Identity.PID
	}
	switch {
	case p.ending == nil && r.Identity == nil: // it has not run
	case p.ending != nil && (view.State == api.StateFailed || view.State == api.StateBackoff),
		view.State == api.StateStopped, view.State == api.StateExited:
		describeEnding(&view, p.ending)
	}
	if view.State == api.StateStopped || view.State == api.StateStopping {
		view.EndedBy = r.EndedBy
	}
	if r.Private {
		view.LogPath = "" // it is in memory
	}
	if r.SplitLog {
		view.ErrorLogPath = filepath.Join(filepath.Dir(p.logPath), store.StderrName)
	}
	view.Owner = describeOwnership(r)
	if r.Agent != nil && !view.State.Ended() {
		view.Agent = coding.ToAPI(r.Agent)
	}
	if r.Project != nil {
		entry := api.ProjectEntry(*r.Project)
		view.Project = &entry
	}
	describeInterruption(&view, p)
	if !r.TTY || r.Restart.Policy != "" || r.Ready != nil {
		view.KeepAlive = StartsAtBoot(r.Restart)
		view.Supervision = describeSupervision(p)
	}
	return view
}

// describeSupervision builds the part of a view about restarts and output.
func describeSupervision(p *proc) *api.Supervision {
	r := p.rec
	s := &api.Supervision{
		Restart: api.Restart{
			Policy:       api.Policy(r.Restart.Policy),
			Max:          r.Restart.Max,
			DelayMS:      r.Restart.DelayMS,
			FixedDelay:   r.Restart.FixedDelay,
			SuccessCodes: r.Restart.SuccessCodes,
		},
		Restarts:   r.Restarts,
		Automatic:  r.AutoRestarts,
		Runs:       describeRuns(r),
		SplitLog:   r.SplitLog,
		Sandboxed:  r.Sandboxed,
		Transient:  r.Transient,
		Unanswered: r.Unanswered,
		Stdin:      r.Stdin,
		NoStdin:    r.NoStdin,
		LastLines:  p.lines,
	}
	if s.Restart.Policy == "" {
		s.Restart.Policy = api.PolicyNo
	}
	if r.Daemon != nil {
		s.Daemon = &api.Daemon{Lines: r.Daemon.Lines}
	}
	if r.Ready != nil {
		ready := r.WasReady && p.state() == api.StateRunning
		s.Ready = &ready
	}
	if p.state() == api.StateBackoff {
		next := r.NextStart
		// If the clock was set back, the time of the next start is too far away. armBackoff waits
		// no longer than this either.
		if latest := time.Now().Add(longestDelay(r.Restart)); next.Round(0).After(latest.Round(0)) {
			next = latest
		}
		s.NextStart = &next
	}
	return s
}

func describeEnding(view *api.Process, e *Ending) {
	if e == nil {
		view.ExitUnknown = true
		return
	}
	view.ExitCode = e.Exit.Code
	view.ExitSignal = e.Exit.Signal
	view.ExitUnknown = e.Exit.Unknown || (e.Exit.Code == nil && e.Exit.Signal == "")
	if !e.At.IsZero() {
		at := e.At
		view.ExitedAt = &at
	}
}

// currentView returns the last announced view, with what the session's screen shows now.
func (p *proc) currentView() api.Process {
	view := p.view
	if !p.rec.TTY {
		return view
	}
	f := p.lastFacts
	if p.live != nil {
		f = p.live.Facts()
	}
	if f.CWD != "" {
		view.CWD = f.CWD
	}
	view.Terminal = &api.Terminal{
		Cols: f.Cols, Rows: f.Rows, Title: f.Title, Rang: f.Rang,
		Notice: f.Notice, Notices: f.Notices, Viewers: f.Viewers, Typist: f.Typist, Bytes: f.Bytes,
		Keyboard: p.rec.Keyboard, Open: p.rec.AdmitsSandboxed, Waiting: string(f.Waiting), ActiveAt: f.Active,
		Shell: names.IsPlainShell(p.rec.Argv), Private: p.rec.Private,
	}
	if view.PID == 0 {
		view.Terminal.Waiting = ""
	}
	if view.PID != 0 && view.Terminal.Shell && len(p.rec.Argv) > 0 && f.Running != "" {
		view.Terminal.Running = f.Running
	}
	if p.rec.Private {
		view.Terminal.AutoNamed = suffixNumber(p.rec.Name, PrivateName) > 0
	} else if view.Terminal.Shell && len(p.rec.Argv) > 0 {
		view.Terminal.AutoNamed = suffixNumber(p.rec.Name, names.OfProgram(p.rec.Argv)) > 0
	}
	if view.PID != 0 && f.Waiting != prompt.NeedPrompt { // a program that was killed could not clear its progress
		view.Terminal.Progress = progressOf(f)
	}
	return view
}

func progressOf(f terminal.Facts) api.Progress {
	if f.Progress < 2 {
		return api.Progress{}
	}
	states := [...]string{"normal", "error", "busy", "paused"}
	return api.Progress{State: states[min(f.Progress-2, len(states)-1)], Percent: f.Percent}
}

// NewRecord returns the record of a process about to be started for the first time.
func NewRecord(id string, kind api.Kind) store.Record {
	return store.Record{
		Schema:    store.SchemaVersion,
		ID:        id,
		Kind:      string(kind),
		Origin:    store.Origin{Actor: "person"},
		Desired:   desiredRunning,
		State:     string(api.StateStarting),
		CreatedAt: time.Now(),
	}
}
