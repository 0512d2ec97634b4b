package api

import "time"

// A Kind says which of the two faces of a process record a client sees.
type Kind string

const (
	KindSession Kind = "session" // a process with a terminal
	KindProcess Kind = "process" // a process that writes to a log file
)

// A State is where a process is in its life.
type State string

const (
	StateStarting State = "starting" // asked for, no pid yet
	StateRunning  State = "running"
	StateBackoff  State = "backoff"  // ended, waiting to be started again
	StateStopping State = "stopping" // asked to end, not gone yet
	StateStopped  State = "stopped"  // ended because somebody asked
	StateExited   State = "exited"   // ended by itself
	StateFailed   State = "failed"   // could not be started, or given up on
)

// Ended reports whether a process in state s has no live child and will not
// get one by itself.
func (s State) Ended() bool {
	return s == StateStopped || s == StateExited || s == StateFailed
}

// A Process is what the engine tells about one process record: a shell in a
// terminal, a background service or a one-shot command. Values are copies.
type Process struct {
	ID      string   `json:"id"`      // 12 lower-case hex digits
	Kind    Kind     `json:"kind"`    //
	Name    string   `json:"name"`    // unique among what has not ended
	State   State    `json:"state"`   //
	PID     int      `json:"pid"`     // 0 unless a child is alive
	CWD     string   `json:"cwd"`     // where it was started; a session's moves with OSC 7
	Command string   `json:"command"` // argv, quoted for a shell
	Argv    []string `json:"argv"`    //
	Actor   string   `json:"actor"`   // who started it: "person" or "agent:NAME"
	LogPath string   `json:"log_path"`

	StartedAt time.Time  `json:"started_at"`
	ExitedAt  *time.Time `json:"exited_at,omitempty"`

	// ExitCode is nil while the process runs, when a signal ended it, and when
	// its status is unknown, which ExitUnknown then says.
	ExitCode    *int   `json:"exit_code"`
	ExitSignal  string `json:"exit_signal,omitempty"`  // "SIGKILL"
	ExitUnknown bool   `json:"exit_unknown,omitempty"` // nobody of ours saw it end
	Error       string `json:"error,omitempty"`        // why it failed, in words

	Terminal *Terminal `json:"terminal,omitempty"` // set for sessions
}

// A Terminal is the part of a Process that only a session has.
type Terminal struct {
	Cols    int    `json:"cols"`
	Rows    int    `json:"rows"`
	Title   string `json:"title"`         // set by the program, control characters removed
	Rang    bool   `json:"rang"`          // a bell since a viewer last typed
	Viewers int    `json:"viewers"`       // attached clients
	Typist  string `json:"typist"`        // client name of who typed last
	Bytes   int64  `json:"bytes_written"` // length of the log: all output so far
}
