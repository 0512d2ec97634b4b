package api

import (
	"strings"
	"time"
)

// A Kind says what a process record is for clients.
type Kind string

const (
	KindSession Kind = "session" // a process with a terminal
	KindProcess Kind = "process" // a process that writes to a log file
)

// A State is where a process is in its life.
type State string

const (
	StateWaiting  State = "waiting"  // is started once what it comes after has come so far
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
	ID      string   `json:"id" jsonschema:"12 lower-case hex digits"`
	Kind    Kind     `json:"kind" jsonschema:"\"session\" with a terminal, \"process\" without"`
	Name    string   `json:"name" jsonschema:"unique among what has not ended"`
	State   State    `json:"state" jsonschema:"waiting, starting, running, backoff, stopping, stopped, exited or failed"`
	PID     int      `json:"pid" jsonschema:"process id; 0 unless a child is alive"`
	LastPID int      `json:"last_pid,omitempty" jsonschema:"without a child: the process id of the last one"`
	CWD     string   `json:"cwd" jsonschema:"where it was started; a session's follows what its program reports"`
	Command string   `json:"command" jsonschema:"program and arguments, quoted for a shell, with secrets replaced by ***"`
	Argv    []string `json:"argv" jsonschema:"program and arguments, with secrets replaced by ***"`
	Actor   string   `json:"actor" jsonschema:"who started it: \"person\" or \"agent:NAME\""`
	From    string   `json:"from,omitempty" jsonschema:"the machine that it was started from, as user@host, if that is another one"`
	LogPath string   `json:"log_path" jsonschema:"file of all its output, or of its standard output where standard error is kept apart"`

	ErrorLogPath string `json:"error_log_path,omitempty" jsonschema:"file of its standard error, where that is kept apart"`

	StartedAt time.Time  `json:"started_at" jsonschema:"when it was started last"`
	ExitedAt  *time.Time `json:"exited_at,omitempty" jsonschema:"when it ended"`

	ExitCode    *int         `json:"exit_code" jsonschema:"null while it runs, when a signal ended it, and when nobody saw it end"`
	ExitSignal  string       `json:"exit_signal,omitempty" jsonschema:"the signal that ended it, SIGKILL for example"`
	ExitUnknown bool         `json:"exit_unknown,omitempty" jsonschema:"it ended and nobody saw how"`
	Error       string       `json:"error,omitempty" jsonschema:"why it failed, in words"`
	WaitsFor    []Dependency `json:"waits_for,omitempty" jsonschema:"in waiting: what does not hold yet"`
	EndedBy     string       `json:"ended_by,omitempty" jsonschema:"of what was stopped: who asked for that, person or agent:NAME/VERSION"`

	Revision    int64        `json:"revision,omitempty" jsonschema:"grows with each process.update and session.rename"`
	KeepAlive   bool         `json:"keep_alive" jsonschema:"it is started again whenever it ends"`
	Supervision *Supervision `json:"supervision,omitempty" jsonschema:"how it is looked after; set for processes"`
	Metrics     *Metrics     `json:"metrics,omitempty" jsonschema:"what it uses, where that was asked for"`
	Terminal    *Terminal    `json:"terminal,omitempty" jsonschema:"set for sessions"`
	Agent       *CodingAgent `json:"agent,omitempty" jsonschema:"the coding agent that runs in a session, as far as it was recognised"`
	Owner       *Ownership   `json:"owner,omitempty" jsonschema:"set for what an agent started"`

	Project *ProjectEntry `json:"project,omitempty" jsonschema:"set for what a project file started"`
}

// A Condition is how far a process must have come before another one is started.
type Condition string

const (
	ConditionStarted   Condition = "started"                // it runs, or has run
	ConditionReady     Condition = "ready"                  // it is ready; without a readiness check: it runs
	ConditionCompleted Condition = "completed"              // it has ended
	ConditionSucceeded Condition = "completed_successfully" // it has ended with success
)

// A Dependency is a process that another one is started after.
type Dependency struct {
	ID        string    `json:"id" jsonschema:"id or name, or the beginning of one that no other has"`
	Name      string    `json:"name,omitempty" jsonschema:"its name when that was asked for; not for input"`
	Condition Condition `json:"condition,omitempty" jsonschema:"started, ready, completed or completed_successfully; default ready"`
}

// IsReady reports whether the process runs and has passed its readiness check.
func (p *Process) IsReady() bool { return p.checked() && *p.Supervision.Ready }

// IsUnready reports whether the process runs and has yet to pass its readiness check.
func (p *Process) IsUnready() bool { return p.checked() && !*p.Supervision.Ready }

func (p *Process) checked() bool {
	return p.State == StateRunning && p.Supervision != nil && p.Supervision.Ready != nil
}

// Awaits names what a process waits for before it is started.
func (p Process) Awaits() string {
	var names []string
	for _, d := range p.WaitsFor {
		names = append(names, d.Name)
	}
	return strings.Join(names, ", ")
}

// Progress is how far a program says it is.
type Progress struct {
	State   string `json:"state" jsonschema:"normal, error, busy (how far is unknown) or paused"`
	Percent int    `json:"percent,omitempty" jsonschema:"0 to 100"`
}

// A Terminal is the part of a Process that only a session has.
type Terminal struct {
	Cols    int    `json:"cols" jsonschema:"width in cells"`
	Rows    int    `json:"rows" jsonschema:"height in cells"`
	Title   string `json:"title" jsonschema:"set by the program, control characters removed"`
	Rang    bool   `json:"rang" jsonschema:"it rang since a viewer last typed"`
	Notice  string `json:"notice,omitempty" jsonschema:"the desktop notification that the program asked for last (OSC 9, 99, 777), until a viewer types"`
	Notices int    `json:"notices,omitempty" jsonschema:"how many it has asked for"`
	Viewers int    `json:"viewers" jsonschema:"number of attached clients"`
	Typist  string `json:"typist" jsonschema:"name of the client that typed last"`
	Bytes   int64  `json:"bytes_written" jsonschema:"length of the log: all output so far"`

	Keyboard string `json:"keyboard,omitempty" jsonschema:"who took the keyboard, so that agents may neither type nor change the session; empty: nobody"`
	Open     bool   `json:"open,omitempty" jsonschema:"the user lets agents type into it though it runs outside the sandbox that they are held to"`
	Waiting  string `json:"waiting,omitempty" jsonschema:"input or secret: the program waits for somebody to type, as far as that was looked at; prompt: its shell does"`

	Shell bool `json:"shell,omitempty" jsonschema:"whether its program is an interactive shell; programs left running in its background outlive the session"`

	Progress Progress `json:"progress,omitzero" jsonschema:"how far the program says it is (OSC 9;4)"`

	ActiveAt time.Time `json:"active_at,omitzero" jsonschema:"when it printed, was typed into or was read last"`
}
