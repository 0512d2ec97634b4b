package api

import (
	"path"
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
