package api

import (
	"path"
	"slices"
	"strings"
	"time"
)

// These are degrees of urgency of a session's or process's state, the most urgent first.
const (
	UrgencyFailed = iota
	UrgencyBackoff
	UrgencyChanging
	UrgencyRunning
	UrgencyEnded
)

// SteadyRun is how long a restarted process must run to count as running again.
const SteadyRun = 10 * time.Second

// IsOneShot reports whether p is a one-shot command: its caller waits for the result.
func (p *Process) IsOneShot() bool {
	return p.Supervision != nil && p.Supervision.Transient && !p.Supervision.Stdin
}

// IsFailing reports whether p counts as failed: it has failed, or it keeps failing. The latter
// begins with the first short run and ends when a run lasts for SteadyRun, so the count does not
// change with each start and exit of a crash loop. A one-shot command never counts, because its
// caller learns of the failure.
func (p *Process) IsFailing(now time.Time) bool {
	switch {
	case p.IsOneShot():
		return false
	case p.Failed():
		return true
	case p.State == StateBackoff:
		return (p.ExitCode == nil || *p.ExitCode != 0) && (p.ExitedAt == nil || p.ExitedAt.Sub(p.StartedAt) < SteadyRun)
	case p.State != StateStarting && p.State != StateRunning, p.Supervision == nil, p.Supervision.Automatic == 0:
		return false
	case p.State == StateRunning && now.Sub(p.StartedAt) >= SteadyRun: // before, StartedAt is that of the first start
		return false
	}
	for _, run := range slices.Backward(p.Supervision.Runs) {
		if run.EndedAt != nil {
			return (run.ExitCode == nil || *run.ExitCode != 0) && run.EndedAt.Sub(run.StartedAt) < SteadyRun
		}
	}
	return false
}

// UrgencyOf returns the urgency of p's state. The lower the number, the more urgent.
func UrgencyOf(p *Process) int {
	switch {
	case p.Failed():
		return UrgencyFailed
	case p.State == StateBackoff:
		return UrgencyBackoff
	case p.State == StateWaiting, p.State == StateStarting, p.State == StateStopping:
		return UrgencyChanging
	case p.State == StateRunning:
		return UrgencyRunning
	}
	return UrgencyEnded
}

// Failed reports whether p failed to start, or exited by itself without success. An unknown exit
// status counts as a failure, except for an interrupted session.
func (p *Process) Failed() bool {
	switch {
	case p.Interrupted != nil:
		return false
	case p.State == StateFailed:
		return true
	case p.State == StateExited:
		return p.ExitCode == nil || *p.ExitCode != 0 && !p.leftShell()
	}
	return false
}

// shellStart is how long a shell must have run to have started successfully.
const shellStart = 3 * time.Second

// leftShell reports whether the user has left p, an interactive shell. Its exit status is the one
// of its last command, so it says nothing about the shell.
func (p *Process) leftShell() bool {
	if p.Kind != KindSession || len(p.Argv) == 0 || p.ExitedAt == nil || p.ExitedAt.Sub(p.StartedAt) < shellStart {
		return false
	}
	// Other arguments, such as -c, run a command or script, which has its own exit status.
	for _, arg := range p.Argv[1:] {
		if arg != "-l" && arg != "-i" && arg != "--login" && arg != "-il" && arg != "-li" {
			return false
		}
	}
	switch strings.TrimPrefix(path.Base(p.Argv[0]), "-") {
	case "bash", "zsh", "fish", "sh", "dash", "ksh", "mksh", "ash":
		return true
	}
	return false
}
