package store

import "time"

// Progress is the state of a process that changes over time.
type Progress struct {
	Runs          []Run     `json:"runs,omitempty"`            // oldest first; the engine limits their number
	Restarts      int       `json:"restarts,omitempty"`        // number of restarts
	AutoRestarts  int       `json:"auto_restarts,omitempty"`   // number of restarts by the restart policy
	Failures      int       `json:"failures,omitempty"`        // automatic restarts since the last long run
	WasReady      bool      `json:"was_ready,omitempty"`       // whether this child has been ready
	NextStart     time.Time `json:"next_start,omitzero"`       // time of the next start, during backoff
	LogStart      int64     `json:"log_start,omitempty"`       // offset in its log of this child's first output
	ErrorLogStart int64     `json:"error_log_start,omitempty"` // the same of stderr.log

	After []Dependency `json:"after,omitempty"` // while waiting: unmet dependencies

	RestartID string `json:"restart_id,omitempty"` // id of the last requested restart, made by the caller
	Revision  int64  `json:"revision,omitempty"`   // number of changes to its name, restart policy or log limit

	// These are set while the process is starting, and after a start with unknown outcome.
	Asked  *Identity `json:"asked,omitempty"`  // the keeper that may have been asked to start this child; nil if unknown
	Unsure bool      `json:"unsure,omitempty"` // whether this child ever existed is unknown

	NeverStarted bool `json:"never_started,omitempty"` // an engine exited before the first start
}

// A Dependency is a process that another one waits for before it starts.
type Dependency struct {
	ID        string `json:"id"`
	Name      string `json:"name"`      // name at the time of the request
	Condition string `json:"condition"` // an api.Condition
}

// A Run is the lifetime of one child of a process.
type Run struct {
	StartedAt  time.Time `json:"started_at"`
	EndedAt    time.Time `json:"ended_at,omitzero"`
	ExitCode   *int      `json:"exit_code,omitempty"`
	ExitSignal string    `json:"exit_signal,omitempty"`
	TypedAt    time.Time `json:"typed_at,omitzero"` // of a session: time of the last input
}
