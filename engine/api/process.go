package api

import (
	"strings"
	"time"
)

// A Kind distinguishes sessions from processes.
type Kind string

const (
	KindSession Kind = "session" // a process with a terminal
	KindProcess Kind = "process" // a process that writes to a log file
)

// A State is a stage in the life of a process.
type State string

const (
	StateWaiting  State = "waiting"  // waits for its dependencies before it starts
	StateStarting State = "starting" // requested, no pid yet
	StateRunning  State = "running"
	StateBackoff  State = "backoff"  // exited, waits to be restarted
	StateStopping State = "stopping" // asked to exit, still running
	StateStopped  State = "stopped"  // exited on request
	StateExited   State = "exited"   // exited by itself
	StateFailed   State = "failed"   // could not be started, or exceeded its restarts
)

// Ended reports whether a process in this state has no child, and will not be restarted
// automatically.
func (s State) Ended() bool {
	return s == StateStopped || s == StateExited || s == StateFailed
}

// A Process describes one session or process: a shell in a terminal, a background service or a
// one-shot command. Values are copies.
type Process struct {
	ID      string   `json:"id" jsonschema:"12 lower-case hex digits"`
	Kind    Kind     `json:"kind" jsonschema:"\"session\" with a terminal, \"process\" without"`
	Name    string   `json:"name" jsonschema:"unique among running sessions and processes"`
	State   State    `json:"state" jsonschema:"waiting, starting, running, backoff, stopping, stopped, exited or failed"`
	PID     int      `json:"pid" jsonschema:"process id; 0 unless a child is alive"`
	LastPID int      `json:"last_pid,omitempty" jsonschema:"process id of the last child, if none is alive"`
	CWD     string   `json:"cwd" jsonschema:"folder it was started in; for a session, the one last reported by its program"`
	Command string   `json:"command" jsonschema:"program and arguments, quoted for a shell, with secrets replaced by ***"`
	Argv    []string `json:"argv" jsonschema:"program and arguments, with secrets replaced by ***"`
	Actor   string   `json:"actor" jsonschema:"who started it: person, agent:NAME, or tandem for itself"`
	From    string   `json:"from,omitempty" jsonschema:"the machine it was started from, as user@host, if not this one"`
	LogPath string   `json:"log_path" jsonschema:"file of all its output, or of its standard output if standard error has its own file"`

	ErrorLogPath string `json:"error_log_path,omitempty" jsonschema:"file of its standard error, if separate"`

	StartedAt time.Time  `json:"started_at" jsonschema:"time of its last start"`
	ExitedAt  *time.Time `json:"exited_at,omitempty" jsonschema:"when it exited"`

	ExitCode    *int         `json:"exit_code" jsonschema:"null while it runs, if a signal killed it, and if its exit was not observed"`
	ExitSignal  string       `json:"exit_signal,omitempty" jsonschema:"the signal that killed it, for example SIGKILL"`
	ExitUnknown bool         `json:"exit_unknown,omitempty" jsonschema:"its exit status was not observed"`
	Error       string       `json:"error,omitempty" jsonschema:"why it failed"`
	WaitsFor    []Dependency `json:"waits_for,omitempty" jsonschema:"the dependencies not met yet, while the process waits"`
	EndedBy     string       `json:"ended_by,omitempty" jsonschema:"who requested its stop: person (the user) or agent:NAME/VERSION"`

	Revision    int64        `json:"revision,omitempty" jsonschema:"increased by each process.update and session.rename"`
	KeepAlive   bool         `json:"keep_alive" jsonschema:"it is restarted whenever it exits"`
	Supervision *Supervision `json:"supervision,omitempty" jsonschema:"its supervision; set for processes"`
	Metrics     *Metrics     `json:"metrics,omitempty" jsonschema:"its resource usage, if requested"`
	Terminal    *Terminal    `json:"terminal,omitempty" jsonschema:"set for sessions"`
	Agent       *CodingAgent `json:"agent,omitempty" jsonschema:"the coding agent in a session, if one was recognised"`
	Owner       *Ownership   `json:"owner,omitempty" jsonschema:"set if started by an agent"`

	Project *ProjectEntry `json:"project,omitempty" jsonschema:"set if started by a project file"`

	Interrupted *Interruption `json:"interrupted,omitempty" jsonschema:"set for a session that a reboot or crash ended, until it is restored or dismissed"`
}

// ShownName returns the name of the process in dashboards: its own name or, for a session that
// nobody has named, the program that runs in it.
func (p *Process) ShownName() string {
	if p.Terminal != nil && p.Terminal.AutoNamed && p.Terminal.Running != "" {
		return p.Terminal.Running
	}
	return p.Name
}

// IsPrivate reports whether the process is a private session.
func (p *Process) IsPrivate() bool { return p.Terminal != nil && p.Terminal.Private }

// WithoutContent returns the process without what it runs, where, and what it shows. Callers that may
// not use a private session get this of it.
func (p Process) WithoutContent() Process {
	out := Process{
		ID: p.ID, Kind: p.Kind, Name: p.Name, State: p.State, Actor: p.Actor, StartedAt: p.StartedAt,
		ExitedAt: p.ExitedAt, ExitCode: p.ExitCode, ExitSignal: p.ExitSignal, ExitUnknown: p.ExitUnknown,
		Revision: p.Revision, Argv: []string{},
	}
	if p.Terminal != nil {
		out.Terminal = &Terminal{Cols: p.Terminal.Cols, Rows: p.Terminal.Rows, Private: p.Terminal.Private, Keyboard: p.Terminal.Keyboard}
	}
	return out
}

// A Condition is a state that a process must reach before a dependent process starts.
type Condition string

const (
	ConditionStarted   Condition = "started"                // runs, or has run
	ConditionReady     Condition = "ready"                  // is ready; without a readiness check: runs
	ConditionCompleted Condition = "completed"              // has exited
	ConditionSucceeded Condition = "completed_successfully" // has exited with success
)

// A Dependency is a process that another one waits for before it starts.
type Dependency struct {
	ID        string    `json:"id" jsonschema:"id, unique prefix of an id, or name"`
	Name      string    `json:"name,omitempty" jsonschema:"its name when it was declared; output only"`
	Condition Condition `json:"condition,omitempty" jsonschema:"started, ready, completed or completed_successfully; default ready"`
}

// MinIDPrefix is the minimum length of a prefix of an id in a call that changes something.
const MinIDPrefix = 4

// IsCalled reports whether a call that changes something may name this process so: by its whole
// name or id, or by a prefix of the id with at least MinIDPrefix characters. Looking a process up
// accepts prefixes of names too. So use IsCalled after looking it up, before changing it by its id.
func (p *Process) IsCalled(what string) bool {
	return p.Name == what || p.ID == what || len(what) >= MinIDPrefix && strings.HasPrefix(p.ID, what)
}

// IsReady reports whether the process is running and has passed its readiness check.
func (p *Process) IsReady() bool { return p.hasReadiness() && *p.Supervision.Ready }

// IsUnready reports whether the process is running and has not passed its readiness check yet.
func (p *Process) IsUnready() bool { return p.hasReadiness() && !*p.Supervision.Ready }

// WaitsForInput reports whether the process waits for standard input that nobody can write. It is
// false if the process was not measured.
func (p *Process) WaitsForInput() bool {
	return p.State == StateRunning && p.Metrics != nil && p.Metrics.WaitsForInput
}

// HasRemains reports whether the process has ended, but programs that it started are still running.
// It is false if the process was not measured.
func (p *Process) HasRemains() bool {
	return p.State.Ended() && p.Metrics != nil && p.Metrics.Processes > 0
}

// ActorName returns the name of an actor for texts that agents read.
func ActorName(actor string) string {
	if actor == Person {
		return "the user"
	}
	return strings.TrimPrefix(actor, AgentPrefix)
}

// IsAlive reports whether the process, or a program that it started, is still running.
func (p *Process) IsAlive() bool { return !p.State.Ended() || p.HasRemains() }

func (p *Process) hasReadiness() bool {
	return p.State == StateRunning && p.Supervision != nil && p.Supervision.Ready != nil
}

// DependencyNames returns the names of the processes that p still waits for.
func (p Process) DependencyNames() string {
	var names []string
	for _, d := range p.WaitsFor {
		names = append(names, d.Name)
	}
	return strings.Join(names, ", ")
}

// Progress is the progress reported by a program.
type Progress struct {
	State   string `json:"state" jsonschema:"normal, error, busy (progress unknown) or paused"`
	Percent int    `json:"percent,omitempty" jsonschema:"0 to 100"`
}

// A Terminal has those fields of a Process that only sessions have.
type Terminal struct {
	Cols    int    `json:"cols" jsonschema:"width in cells"`
	Rows    int    `json:"rows" jsonschema:"height in cells"`
	Title   string `json:"title" jsonschema:"title set by the program, control characters removed"`
	Rang    bool   `json:"rang" jsonschema:"the bell rang while no viewer had the focus, and no viewer has had it or typed since"`
	Notice  string `json:"notice,omitempty" jsonschema:"the program's last desktop notification (OSC 9, 99 or 777); cleared when a viewer types"`
	Notices int    `json:"notices,omitempty" jsonschema:"number of desktop notifications by the program"`
	Viewers int    `json:"viewers" jsonschema:"number of attached clients"`
	Typist  string `json:"typist" jsonschema:"name of the last client to type"`
	Bytes   int64  `json:"bytes_written" jsonschema:"length of the log: all output so far"`

	Keyboard string `json:"keyboard,omitempty" jsonschema:"who blocked agents from typing into the session or changing it; empty: agents are allowed"`
	Open     bool   `json:"open,omitempty" jsonschema:"the user lets sandboxed agents type into it although it runs outside their sandbox"`
	Waiting  string `json:"waiting,omitempty" jsonschema:"input or secret: the program waits for typed input, if that was checked; prompt: its shell waits for a command"`

	AutoNamed bool `json:"auto_named,omitempty" jsonschema:"the user has not named this session: it is named after its shell (bash, bash-2), and dashboards show the running command instead"`

	Running string `json:"running,omitempty" jsonschema:"command that its shell runs, with secrets replaced by ***; empty at the prompt"`

	Private bool `json:"private,omitempty" jsonschema:"its screen, output, title, folder, command and input are kept only in memory, and only the user may use it"`

	Shell bool `json:"shell,omitempty" jsonschema:"whether its program is an interactive shell; programs left running in its background outlive the session"`

	Progress Progress `json:"progress,omitzero" jsonschema:"progress reported by the program (OSC 9;4)"`

	ActiveAt time.Time `json:"active_at,omitzero" jsonschema:"time of the last output, input or read"`
}
