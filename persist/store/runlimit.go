package store

import "time"

// A RunLimit says when to stop a one-shot command that is still running.
type RunLimit struct {
	StopAt        time.Time `json:"stop_at,omitzero"`          // zero: never
	CallerGraceMS int       `json:"caller_grace_ms,omitempty"` // how long its caller may be disconnected; 0: forever
}

// NewRunLimit returns the limit of a one-shot command. If kill is set, the command is killed at
// deadline.
func NewRunLimit(kill bool, deadline time.Time, callerGraceMS int) RunLimit {
	if !kill {
		deadline = time.Time{}
	}
	return RunLimit{StopAt: deadline, CallerGraceMS: callerGraceMS}
}
