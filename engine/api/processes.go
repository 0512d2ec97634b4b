package api

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"time"
)

// A Policy says when a process that has ended is started again.
type Policy string

const (
	PolicyNo            Policy = "no"             // never
	PolicyOnFailure     Policy = "on-failure"     // when its exit status is no success
	PolicyAlways        Policy = "always"         // whatever its exit status, and after a reboot
	PolicyUnlessStopped Policy = "unless-stopped" // the same; what was stopped stays so
)

// Restart is what to do when a process ends by itself.
type Restart struct {
	Policy       Policy `json:"policy,omitempty" jsonschema:"no, on-failure, always or unless-stopped; default no"`
	Max          int    `json:"max,omitempty" jsonschema:"restarts without a healthy run in between before it counts as failed; 0 is no limit"`
	DelayMS      int    `json:"delay_ms,omitempty" jsonschema:"first delay, doubled each time up to 60000; default 100, of what is kept alive 2000"`
	SuccessCodes []int  `json:"success_codes,omitempty" jsonschema:"exit codes beside 0 that are a success"`
}

// Readiness says when a process counts as ready; what is set has to hold.
type Readiness struct {
	Log       string   `json:"log,omitempty" jsonschema:"regular expression that a line of its log matches"`
	Port      int      `json:"port,omitempty" jsonschema:"TCP port on the loopback interface that accepts connections"`
	HTTP      string   `json:"http,omitempty" jsonschema:"URL that answers with http_status"`
	Command   []string `json:"command,omitempty" jsonschema:"program and arguments that exit with 0"`
	TimeoutMS int      `json:"timeout_ms,omitempty" jsonschema:"after this it counts as failed; default 60000"`

	HTTPStatus  int               `json:"http_status,omitempty" jsonschema:"status that http must answer with; default: any from 200 to 299"`
	HTTPHeaders map[string]string `json:"http_headers,omitempty" jsonschema:"headers of the request to http"`
}

// Sandbox confines a process; its JSON is the public sandbox-runtime shape.
type Sandbox struct {
	Filesystem SandboxFilesystem `json:"filesystem" jsonschema:"which files may be read and written"`
	Network    *SandboxNetwork   `json:"network,omitempty" jsonschema:"which hosts may be reached; without it the network is not restricted"`
	Limits     *SandboxLimits    `json:"limits,omitempty" jsonschema:"resource limits"`
}

// UnmarshalJSON reads a sandbox strictly, whoever sends it: what is not known may
// be there to restrict.
func (s *Sandbox) UnmarshalJSON(text []byte) error {
	type plain Sandbox
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode((*plain)(s))
}

// SandboxFilesystem lists absolute paths; a folder stands for all below it. Its
// names, like those of SandboxNetwork, are the public shape's.
type SandboxFilesystem struct {
	DenyRead   []string `json:"denyRead" jsonschema:"may not be read; everything else may"`
	AllowWrite []string `json:"allowWrite" jsonschema:"may be written; nothing else may"`
	DenyWrite  []string `json:"denyWrite" jsonschema:"exceptions from allowWrite"`
}

// SandboxNetwork lists domains; "*.example.org" stands for all below it. An
// empty list of allowed domains switches the network off.
type SandboxNetwork struct {
	AllowedDomains []string `json:"allowedDomains" jsonschema:"may be reached, through a proxy of the engine"`
	DeniedDomains  []string `json:"deniedDomains" jsonschema:"exceptions from allowedDomains"`
}

// SandboxLimits are resource limits of the process and its children each; 0 is
// none.
type SandboxLimits struct {
	OpenFiles   uint64 `json:"open_files,omitempty" jsonschema:"open file descriptors"`
	Processes   uint64 `json:"processes,omitempty" jsonschema:"processes of the user"`
	MemoryBytes uint64 `json:"memory_bytes,omitempty" jsonschema:"address space in bytes"`
	CPUSeconds  uint64 `json:"cpu_seconds,omitempty" jsonschema:"processor time in seconds"`
}

// Metrics are what a process and all its descendants use.
type Metrics struct {
	CPUPercent float64 `json:"cpu_percent" jsonschema:"share of one core since the last look, in percent"`
	RSSBytes   int64   `json:"rss_bytes" jsonschema:"resident memory"`
	Threads    int     `json:"threads" jsonschema:"threads"`
	OpenFiles  int     `json:"open_files" jsonschema:"open file descriptors"`
	Processes  int     `json:"processes" jsonschema:"processes in the tree"`
	Ports      []int   `json:"ports" jsonschema:"TCP ports it listens on"`

	CPUHistory     []float64 `json:"cpu_history,omitempty" jsonschema:"cpu_percent in the last ten minutes up to now, oldest first"`
	RSSHistory     []int64   `json:"rss_history,omitempty" jsonschema:"rss_bytes in the same spans of time"`
	HistorySeconds []int     `json:"history_s,omitempty" jsonschema:"how long each span lasted, in seconds"`
}

// ProcessStartInput is the input of process.start.
type ProcessStartInput struct {
	Command []string          `json:"command" jsonschema:"program and arguments"`
	Name    string            `json:"name,omitempty" jsonschema:"default: the program's base name, made unique"`
	CWD     string            `json:"cwd,omitempty" jsonschema:"folder to start in; default: the home directory"`
	Env     map[string]string `json:"env,omitempty" jsonschema:"added to the engine's environment and the overlay of env.set"`
	Environ map[string]string `json:"environ,omitempty" jsonschema:"the environment to start from, the caller's for example; default: the engine's own"`
	Umask   string            `json:"umask,omitempty" jsonschema:"file mode creation mask in octal, such as 0022; default: the engine's"`
	Actor   string            `json:"actor,omitempty" jsonschema:"who starts it; default \"person\""`

	TTY  bool `json:"tty,omitempty" jsonschema:"give it a terminal, which makes it a session"`
	Cols int  `json:"cols,omitempty" jsonschema:"width of the terminal; default 80"`
	Rows int  `json:"rows,omitempty" jsonschema:"height of the terminal; default 24"`

	KeepAlive     bool       `json:"keep_alive,omitempty" jsonschema:"short for the restart policy always"`
	Restart       *Restart   `json:"restart,omitempty" jsonschema:"what to do when it ends by itself"`
	Ready         *Readiness `json:"ready,omitempty" jsonschema:"when it counts as ready"`
	StopSignal    string     `json:"stop_signal,omitempty" jsonschema:"default SIGTERM"`
	StopTimeoutMS int        `json:"stop_timeout_ms,omitempty" jsonschema:"from stop signal to SIGKILL; default 8000"`
	SplitLog      bool       `json:"split_log,omitempty" jsonschema:"keep standard output and error in files of their own"`
	LogLimit      int64      `json:"log_limit,omitempty" jsonschema:"bytes kept of its log; default 64 MiB"`
	Sandbox       *Sandbox   `json:"sandbox,omitempty" jsonschema:"confinement"`
	Transient     bool       `json:"transient,omitempty" jsonschema:"forget it some time after it has ended"`
	Stdin         bool       `json:"stdin,omitempty" jsonschema:"without a terminal: keep its standard input open for process.write"`
	Lease         Lease      `json:"lease,omitempty" jsonschema:"of what an agent starts: detached, session or forever; default detached"`

	Project *ProjectEntry `json:"project,omitempty" jsonschema:"the entry of a project file that it is started for"`
	After   []Dependency  `json:"after,omitempty" jsonschema:"start it once all of these have held; it waits until then, and fails if one of them no longer can"`
	ID      string        `json:"id,omitempty" jsonschema:"12 lower-case hex digits that no other has, by which the caller knows the process before the answer and may ask for it again; default: new ones"`
}

// ProcessListInput is the input of process.list.
type ProcessListInput struct {
	Metrics bool `json:"metrics,omitempty" jsonschema:"measure each process; the engine measures only what is asked for"`
}

// ProcessListOutput is the output of process.list: sessions and processes,
// oldest first.
type ProcessListOutput struct {
	Processes []Process `json:"processes" jsonschema:"all sessions and processes"`
}

// ProcessRestartInput is the input of process.restart.
type ProcessRestartInput struct {
	ID    string       `json:"id" jsonschema:"id or name, or the beginning of one that no other has"`
	After []Dependency `json:"after,omitempty" jsonschema:"of what has ended: as in process.start"`

	RestartID string `json:"restart_id,omitempty" jsonschema:"id made by the caller for this restart; a second call with the same id does not restart the process again"`
}

// ProcessStopInput is the input of process.stop.
type ProcessStopInput struct {
	ID     string `json:"id" jsonschema:"id or name, or the beginning of one that no other has"`
	Signal string `json:"signal,omitempty" jsonschema:"instead of the process's stop signal"`

	TimeoutMS int `json:"timeout_ms,omitempty" jsonschema:"from the signal to SIGKILL, instead of the process's own"`
}

// ProcessStopAllInput is the input of process.stop_all.
type ProcessStopAllInput struct {
	Signal   string `json:"signal,omitempty" jsonschema:"instead of each process's stop signal"`
	Sessions bool   `json:"sessions,omitempty" jsonschema:"end sessions too"`
}

// ProcessStopAllOutput is the output of process.stop_all.
type ProcessStopAllOutput struct {
	Stopped []Process `json:"stopped" jsonschema:"what was running and is stopped now"`
}

// ProcessSignalInput is the input of process.signal.
type ProcessSignalInput struct {
	ID     string `json:"id" jsonschema:"id or name, or the beginning of one that no other has"`
	Signal string `json:"signal" jsonschema:"name or number: SIGHUP, HUP, 1"`
}

// ProcessUpdateInput is the input of process.update; what is null stays.
type ProcessUpdateInput struct {
	ID        string   `json:"id" jsonschema:"id or name, or the beginning of one that no other has"`
	Name      *string  `json:"name,omitempty" jsonschema:"another name"`
	KeepAlive *bool    `json:"keep_alive,omitempty" jsonschema:"start it again whenever it ends, or not"`
	Restart   *Restart `json:"restart,omitempty" jsonschema:"another restart policy"`
	LogLimit  *int64   `json:"log_limit,omitempty" jsonschema:"bytes kept of its log"`

	Revision int64 `json:"revision,omitempty" jsonschema:"revision of the process that this change is based on; conflict if changed since; 0 for any"`
}

// ProcessLogInput is the input of process.log. Without since, from_line and
// tail it starts at the oldest byte kept.
type ProcessLogInput struct {
	ID       string `json:"id" jsonschema:"id or name, or the beginning of one that no other has"`
	Stream   string `json:"stream,omitempty" jsonschema:"where they are kept apart: stdout (the default), stderr, or both together in the order in which they were written, to a tenth of a second and as far as the engine saw that, else stdout first"`
	Since    *int64 `json:"since,omitempty" jsonschema:"absolute offset in bytes; negative counts from the end"`
	FromLine *int64 `json:"from_line,omitempty" jsonschema:"line kept, from 0; negative counts from the end"`
	Tail     int    `json:"tail,omitempty" jsonschema:"only the last lines, this many"`
	Max      int    `json:"max,omitempty" jsonschema:"bytes at most; default 64 KiB, at most 1 MiB"`
	Grep     string `json:"grep,omitempty" jsonschema:"regular expression (RE2); then matches are given instead of data"`
	Context  int    `json:"context,omitempty" jsonschema:"lines around each match"`
	Backward bool   `json:"backward,omitempty" jsonschema:"search from since, or the end, towards the start"`
	Limit    int    `json:"limit,omitempty" jsonschema:"matches at most; default 100"`
	Count    bool   `json:"count,omitempty" jsonschema:"with grep and one stream: tell how many lines match in all of the log, and before since"`
	WaitMS   int    `json:"wait_ms,omitempty" jsonschema:"when there is nothing yet, wait this long for more; at most 50000"`
	Exact    bool   `json:"exact,omitempty" jsonschema:"give data that is not UTF-8 as data_bytes"`
	Times    bool   `json:"times,omitempty" jsonschema:"tell when data was written, as far as the engine saw that"`

	SinceStderr *int64 `json:"since_stderr,omitempty" jsonschema:"beside since, with stream both: the offset in standard error; default: its oldest byte"`
}

// ProcessLogOutput is the output of process.log.
type ProcessLogOutput struct {
	Data       string     `json:"data" jsonschema:"the log from start on; what is not UTF-8 is replaced"`
	DataBytes  string     `json:"data_bytes,omitempty" jsonschema:"in base64, instead of data that is not UTF-8, if exact was asked for"`
	Start      int64      `json:"start" jsonschema:"absolute offset of data"`
	NextCursor int64      `json:"next_cursor" jsonschema:"since of the next call"`
	End        int64      `json:"end" jsonschema:"absolute offset behind the last byte written so far"`
	Dropped    int64      `json:"dropped" jsonschema:"bytes before the oldest one kept"`
	Matches    []LogMatch `json:"matches,omitempty" jsonschema:"lines that match grep"`
	WithinLine bool       `json:"within_line,omitempty" jsonschema:"start is inside a line, which is longer than the 1 MiB that counts as one with tail and from_line"`
	Total      int        `json:"total,omitempty" jsonschema:"lines of the whole log that match, if count was asked for"`
	Before     int        `json:"before,omitempty" jsonschema:"those of them that begin before the place where the search began"`
	Times      []LogTime  `json:"times,omitempty" jsonschema:"when parts of data were written, oldest first"`
	State      State      `json:"state" jsonschema:"the process's state"`

	Parts  []LogPart `json:"parts,omitempty" jsonschema:"of both streams: what data is made of, in order"`
	Stderr *LogPlace `json:"stderr,omitempty" jsonschema:"of both streams: the offsets in standard error; those beside it are in standard output"`
}

func (o *ProcessLogOutput) Bulk() []Member {
	return []Member{
		{Name: "data", Text: &o.Data},
		{Name: "data_bytes", Text: &o.DataBytes},
	}
}

// A LogPart is a part of the data of both streams that one of them printed.
type LogPart struct {
	Stream string     `json:"stream" jsonschema:"stdout or stderr"`
	Bytes  int        `json:"bytes" jsonschema:"length of the part"`
	At     *time.Time `json:"at,omitempty" jsonschema:"when it was written, if the engine saw that"`
}

// A LogPlace is where in a log an answer about it lies.
type LogPlace struct {
	Start      int64 `json:"start" jsonschema:"absolute offset of what is given"`
	NextCursor int64 `json:"next_cursor" jsonschema:"since_stderr of the next call"`
	End        int64 `json:"end" jsonschema:"absolute offset behind the last byte written so far"`
	Dropped    int64 `json:"dropped" jsonschema:"bytes before the oldest one kept"`
}

// A LogTime tells when what a log has from an offset on, up to that of the next
// one, was written: within a tenth of a second for what was written last.
type LogTime struct {
	Offset int64     `json:"offset" jsonschema:"absolute offset"`
	At     time.Time `json:"at" jsonschema:"when that was written"`
}

// Bytes is the log from Start on: exactly, if that was asked for.
func (o ProcessLogOutput) Bytes() ([]byte, error) { return exactly(o.Data, o.DataBytes) }

// exactly is what came as text, or in base64 where it is none.
func exactly(text, encoded string) ([]byte, error) {
	if encoded == "" {
		return []byte(text), nil
	}
	b, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, Errorf(CodeInternal, "decode output: %v", err)
	}
	return b, nil
}

// A LogMatch is a line of a log that a search has found.
type LogMatch struct {
	Stream string   `json:"stream,omitempty" jsonschema:"of both streams: stdout or stderr"`
	Offset int64    `json:"offset" jsonschema:"absolute offset of the line"`
	Text   string   `json:"text" jsonschema:"the line"`
	Before []string `json:"before,omitempty" jsonschema:"lines before it"`
	After  []string `json:"after,omitempty" jsonschema:"lines after it"`

	CutBefore int `json:"cut_before,omitempty" jsonschema:"bytes of the line left out before text"`
	CutAfter  int `json:"cut_after,omitempty" jsonschema:"bytes of the line left out after text"`
}

// ProcessWaitInput is the input of process.wait: the call answers as soon as
// one of the conditions that are set holds.
type ProcessWaitInput struct {
	ID        string `json:"id" jsonschema:"id or name, or the beginning of one that no other has"`
	Exit      bool   `json:"exit,omitempty" jsonschema:"it has ended"`
	Ready     bool   `json:"ready,omitempty" jsonschema:"it is ready"`
	Log       string `json:"log,omitempty" jsonschema:"a line of its log, from since on, matches this regular expression"`
	Stream    string `json:"stream,omitempty" jsonschema:"stdout or stderr, where they are kept apart: look for log only there; default: both"`
	Since     *int64 `json:"since,omitempty" jsonschema:"offset where the search for log begins; default: start of the output of its present run"`
	Port      int    `json:"port,omitempty" jsonschema:"TCP port that it, or a process that it started, must listen on"`
	IdleMS    int    `json:"idle_ms,omitempty" jsonschema:"it has written nothing for this long"`
	Input     bool   `json:"input,omitempty" jsonschema:"it, or what it has started, reads the standard input that process.write writes to, and there is nothing to read"`
	TimeoutMS int    `json:"timeout_ms,omitempty" jsonschema:"default and at most 50000 for one call"`

	SinceStderr *int64 `json:"since_stderr,omitempty" jsonschema:"beside since, for both streams: the offset in standard error"`
}

// ProcessWaitOutput is the output of process.wait.
type ProcessWaitOutput struct {
	Met     string  `json:"met" jsonschema:"the condition that holds: exit, ready, log, port, idle or input; empty after the time-out"`
	Line    string  `json:"line,omitempty" jsonschema:"the line that matched log"`
	Process Process `json:"process" jsonschema:"the process now"`

	OpenCheck  string `json:"open_check,omitempty" jsonschema:"the readiness check that had not passed when the wait for ready timed out"`
	PortHolder string `json:"port_holder,omitempty" jsonschema:"program that held the port when the wait for it failed"`
	CrashLoop  bool   `json:"crash_loop,omitempty" jsonschema:"the wait ended because the process exits soon after each start"`
}

// Over reports whether waiting again would be of no use.
func (o ProcessWaitOutput) Over() bool {
	return o.Met != "" || o.CrashLoop || o.Process.State.Ended()
}

// ExecInput is the input of exec.
type ExecInput struct {
	Command   []string          `json:"command" jsonschema:"program and arguments"`
	CWD       string            `json:"cwd,omitempty" jsonschema:"folder to run in; default: the home directory"`
	Env       map[string]string `json:"env,omitempty" jsonschema:"added to the engine's environment and the overlay of env.set"`
	Environ   map[string]string `json:"environ,omitempty" jsonschema:"the environment to start from, the caller's for example; default: the engine's own"`
	Umask     string            `json:"umask,omitempty" jsonschema:"file mode creation mask in octal, such as 0022; default: the engine's"`
	TimeoutMS int               `json:"timeout_ms,omitempty" jsonschema:"default 30000"`
	Kill      bool              `json:"kill,omitempty" jsonschema:"after the time-out end it and all it started, with SIGTERM and 2 seconds later SIGKILL, instead of letting it go on as a process"`
	Daemon    *Daemon           `json:"daemon,omitempty" jsonschema:"after the time-out it is a daemon, which is not forgotten when it has ended"`
	MaxOutput int               `json:"max_output,omitempty" jsonschema:"bytes kept of each stream, its end; default 64 KiB, at most 16 MiB"`
	Exact     bool              `json:"exact,omitempty" jsonschema:"give output that is not UTF-8 as stdout_bytes and stderr_bytes"`
	Sandbox   *Sandbox          `json:"sandbox,omitempty" jsonschema:"confinement"`
	Actor     string            `json:"actor,omitempty" jsonschema:"who runs it; default \"person\""`
	Name      string            `json:"name,omitempty" jsonschema:"default: the program's base name, made unique"`
	ID        string            `json:"id,omitempty" jsonschema:"12 lower-case hex digits that no other has, by which the caller knows the process before the answer and may ask for it again; default: new ones"`
}

// A Daemon is a command that had not ended in the time its caller had for it.
type Daemon struct {
	Lines int `json:"lines" jsonschema:"how many lines of each stream its caller wants to see"`
}

// ExecOutput is the output of exec. Process tells the exit status; after a
// time-out it goes on under its id.
type ExecOutput struct {
	Process       Process `json:"process" jsonschema:"what was run"`
	Stdout        string  `json:"stdout" jsonschema:"end of its standard output"`
	Stderr        string  `json:"stderr" jsonschema:"end of its standard error"`
	StdoutBytes   string  `json:"stdout_bytes,omitempty" jsonschema:"in base64, instead of a stdout that is not UTF-8, if exact was asked for"`
	StderrBytes   string  `json:"stderr_bytes,omitempty" jsonschema:"in base64, instead of a stderr that is not UTF-8, if exact was asked for"`
	StdoutDropped int64   `json:"stdout_dropped" jsonschema:"bytes before stdout that are in the log only"`
	StderrDropped int64   `json:"stderr_dropped" jsonschema:"bytes before stderr that are in the log only"`
	StdoutCursor  int64   `json:"stdout_cursor" jsonschema:"absolute offset behind stdout: since of process.log"`
	StderrCursor  int64   `json:"stderr_cursor" jsonschema:"absolute offset behind stderr: since_stderr of process.log"`
	TimedOut      bool    `json:"timed_out" jsonschema:"it had not ended in time"`
	DurationMS    float64 `json:"duration_ms" jsonschema:"how long it ran, or has run"`
	Left          int     `json:"left,omitempty" jsonschema:"number of processes it started that were running after its exit"`
}

func (o *ExecOutput) Bulk() []Member {
	return []Member{
		{Name: "stdout", Text: &o.Stdout},
		{Name: "stderr", Text: &o.Stderr},
		{Name: "stdout_bytes", Text: &o.StdoutBytes},
		{Name: "stderr_bytes", Text: &o.StderrBytes},
	}
}

// Output is what it printed last to standard output and error: exactly, if
// that was asked for.
func (o ExecOutput) Output() (stdout, stderr []byte, err error) {
	if stdout, err = exactly(o.Stdout, o.StdoutBytes); err != nil {
		return nil, nil, err
	}
	stderr, err = exactly(o.Stderr, o.StderrBytes)
	return stdout, stderr, err
}

// EnvInput names a variable of the overlay for what is started from now on.
type EnvInput struct {
	Name   string `json:"name" jsonschema:"[A-Za-z_][A-Za-z0-9_]*"`
	Client bool   `json:"client,omitempty" jsonschema:"in the overlay of the calling client, which counts for what it starts itself and goes with it"`
	Reveal bool   `json:"reveal,omitempty" jsonschema:"show the value even if it or the name looks like a secret"`
}

// EnvSetInput is the input of env.set.
type EnvSetInput struct {
	Name  string `json:"name" jsonschema:"[A-Za-z_][A-Za-z0-9_]*"`
	Value string `json:"value" jsonschema:"its value for what is started from now on"`

	Client bool `json:"client,omitempty" jsonschema:"in the overlay of the calling client alone"`
}

// EnvListInput is the input of env.list.
type EnvListInput struct {
	Reveal bool `json:"reveal,omitempty" jsonschema:"show values even where they or the names look like secrets"`
}

// EnvVar is one variable of the overlay.
type EnvVar struct {
	Name     string `json:"name" jsonschema:"the variable's name"`
	Value    string `json:"value" jsonschema:"its value; empty if redacted"`
	Redacted bool   `json:"redacted,omitempty" jsonschema:"the value is not shown because it or the name looks like a secret"`
	Client   bool   `json:"client,omitempty" jsonschema:"it is in the overlay of the calling client alone"`
}

// EnvListOutput is the output of env.list, sorted by name.
type EnvListOutput struct {
	Variables []EnvVar `json:"variables" jsonschema:"the overlay"`
}

// A ProcessRun is the time that one child of a process lived.
type ProcessRun struct {
	StartedAt  time.Time  `json:"started_at" jsonschema:"when it was started"`
	EndedAt    *time.Time `json:"ended_at,omitempty" jsonschema:"when it ended; null while it runs"`
	ExitCode   *int       `json:"exit_code,omitempty" jsonschema:"null when it runs, is not known, or a signal ended it"`
	ExitSignal string     `json:"exit_signal,omitempty" jsonschema:"the signal that ended it"`
}

// Supervision is the part of a Process that tells how it is looked after.
type Supervision struct {
	Restart   Restart      `json:"restart" jsonschema:"what happens when it ends by itself"`
	Restarts  int          `json:"restarts" jsonschema:"how often it was started again"`
	Automatic int          `json:"auto_restarts" jsonschema:"number of restarts by its restart policy"`
	Runs      []ProcessRun `json:"runs,omitempty" jsonschema:"its last runs, 20 at most, oldest first"`
	Ready     *bool        `json:"ready,omitempty" jsonschema:"whether it is ready; null without a readiness check"`
	NextStart *time.Time   `json:"next_start,omitempty" jsonschema:"in backoff: when it is started again"`
	LastLines []string     `json:"last_lines,omitempty" jsonschema:"the end of its log, when it failed or is in backoff"`
	SplitLog  bool         `json:"split_log,omitempty" jsonschema:"standard output and error are in files of their own"`
	Sandboxed bool         `json:"sandboxed,omitempty" jsonschema:"it is confined"`
	Transient bool         `json:"transient,omitempty" jsonschema:"it is forgotten some time after it has ended"`
	Stdin     bool         `json:"stdin,omitempty" jsonschema:"process.write writes to its standard input"`
	Daemon    *Daemon      `json:"daemon,omitempty" jsonschema:"it is a one-shot command that had not ended in time"`
}
