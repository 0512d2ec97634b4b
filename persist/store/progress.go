package store

import "time"

// Progress is what has come of a process so far.
type Progress struct {
	Runs          []Run     `json:"runs,omitempty"`            // oldest first; the engine bounds them
	Restarts      int       `json:"restarts,omitempty"`        // how often it was started again
	AutoRestarts  int       `json:"auto_restarts,omitempty"`   // number of restarts by the restart policy
	Failures      int       `json:"failures,omitempty"`        // of these, since it last ran for long
	WasReady      bool      `json:"was_ready,omitempty"`       // this child has been ready
	NextStart     time.Time `json:"next_start,omitzero"`       // in backoff
	LogStart      int64     `json:"log_start,omitempty"`       // where in its log this child's output begins
	ErrorLogStart int64     `json:"error_log_start,omitempty"` // the same of stderr.log

	After []Dependency `json:"after,omitempty"` // in waiting: what has not held yet

	RestartID string `json:"restart_id,omitempty"` // id of the last requested restart, made by the caller
	Revision  int64  `json:"revision,omitempty"`   // number of changes to its name, restart policy or log limit

	// While starting, and after a start with unknown outcome:
	Asked  *Identity `json:"asked,omitempty"`  // the keeper that may have been asked to start this child; nil if unknown
	Unsure bool      `json:"unsure,omitempty"` // whether this child ever existed is unknown
}

// A Dependency is a process that another one is started after.
type Dependency struct {
	ID        string `json:"id"`
	Name      string `json:"name"`      // when that was asked for
	Condition string `json:"condition"` // an api.Condition
}

// A Run is the time that one child of a process lived.
type Run struct {
	StartedAt  time.Time `json:"started_at"`
	EndedAt    time.Time `json:"ended_at,omitzero"`
	ExitCode   *int      `json:"exit_code,omitempty"`
	ExitSignal string    `json:"exit_signal,omitempty"`
}
