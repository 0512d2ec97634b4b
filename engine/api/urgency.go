package api

import (
	"path"
	"strings"
	"time"
)

// How much the state of a session or process wants to be seen, the most first.
const (
	UrgencyFailed = iota
	UrgencyBackoff
	UrgencyChanging
	UrgencyRunning
	UrgencyEnded
)

// Urgency is how much the state of p wants to be seen.
func Urgency(p *Process) int {
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

// Failed reports whether p ended by itself and not well, as far as anybody knows.
func (p *Process) Failed() bool {
	switch p.State {
	case StateFailed:
		return true
	case StateExited:
		return p.ExitCode == nil || *p.ExitCode != 0 && !p.leftShell()
	}
	return false
}

// shellStart is how long a shell lives at least when it was not its own start
// that failed.
const shellStart = 3 * time.Second

// leftShell reports whether p is an interactive shell that somebody left: its
// exit status is that of the last command in it and tells nothing of the shell.
func (p *Process) leftShell() bool {
	if p.Kind != KindSession || len(p.Argv) == 0 || p.ExitedAt == nil || p.ExitedAt.Sub(p.StartedAt) < shellStart {
		return false
	}
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
