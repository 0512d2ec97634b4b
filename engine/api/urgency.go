package api

import (
	"path"
	"slices"
	"strings"
	"time"
)

// Degrees of urgency of a session's or process's state, most urgent first.
const (
	UrgencyFailed = iota
	UrgencyBackoff
	UrgencyChanging
	UrgencyRunning
	UrgencyEnded
)

// SteadyRun is how long a run must last for a restarted process to count as running again.
const SteadyRun = 10 * time.Second

// IsOneShot reports whether p is a single command whose caller gets the result.
func (p *Process) IsOneShot() bool {
	return p.Supervision != nil && p.Supervision.Transient && !p.Supervision.Stdin
}

// IsFailing reports whether p counts as failed: it has failed, or keeps failing, from its first short run
// until one lasts for SteadyRun. So the counts do not follow each start and exit of a crash loop. A
// one-shot command does not count, because its caller learns of the failure.
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

// UrgencyOf returns the urgency of p's state, lowest number first.
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
// status counts as a failure, but not that of an interrupted session.
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

// shellStart is the minimum lifetime of a shell that started successfully.
const shellStart = 3 * time.Second

// leftShell reports whether p is an interactive shell left by the user. Its exit status is that of
// its last command, so it says nothing about the shell.
func (p *Process) leftShell() bool {
	if p.Kind != KindSession || len(p.Argv) == 0 || p.ExitedAt == nil || p.ExitedAt.Sub(p.StartedAt) < shellStart {
		return false
	}
	// Other arguments, such as -c, make it run a command or script with its own exit status.
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
