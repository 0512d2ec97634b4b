package api

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"time"
)

// A Policy decides when an exited process is restarted.
type Policy string

const (
	PolicyNo        Policy = "no"         // never
	PolicyOnFailure Policy = "on-failure" // if its exit status is not a success
	PolicyAlways    Policy = "always"     // after any exit, and after a reboot
)

// ParsePolicy parses the name of a policy. ok is false if there is no such policy.
func ParsePolicy(text string) (p Policy, ok bool) {
	switch p = Policy(text); p {
	case PolicyNo, PolicyOnFailure, PolicyAlways:
		return p, true
	case "unless-stopped": // Docker's, accepted for always
		return PolicyAlways, true
	}
	return "", false
}

// Restart says whether and when a process is started again after it has exited by itself.
type Restart struct {
	Policy       Policy `json:"policy,omitempty" jsonschema:"no, on-failure or always; default no"`
	Max          int    `json:"max,omitempty" jsonschema:"maximum consecutive restarts without a healthy run before it counts as failed; 0 is no limit"`
	DelayMS      int    `json:"delay_ms,omitempty" jsonschema:"milliseconds before the first restart, doubled each time up to 60000; default 100, or 2000 with keep_alive"`
	FixedDelay   bool   `json:"fixed_delay,omitempty" jsonschema:"each delay is \"delay_ms\""`
	SuccessCodes []int  `json:"success_codes,omitempty" jsonschema:"exit codes besides 0 that count as success"`
}

// Readiness says when a process counts as ready. All given conditions must be met.
type Readiness struct {
	Log       string   `json:"log,omitempty" jsonschema:"regular expression for a line of its log"`
	Port      int      `json:"port,omitempty" jsonschema:"TCP port that must accept connections on the loopback interface"`
	HTTP      string   `json:"http,omitempty" jsonschema:"URL that must respond with \"http_status\""`
	Command   []string `json:"command,omitempty" jsonschema:"program and arguments of a command that must exit with 0"`
	TimeoutMS int      `json:"timeout_ms,omitempty" jsonschema:"milliseconds until the check counts as failed; default 60000"`

	HTTPStatus  int               `json:"http_status,omitempty" jsonschema:"expected status of \"http\"; default: any from 200 to 299"`
	HTTPHeaders map[string]string `json:"http_headers,omitempty" jsonschema:"headers of the request to \"http\""`
}

// Sandbox confines a process. Its JSON has the public format of sandbox-runtime.
type Sandbox struct {
	Filesystem SandboxFilesystem `json:"filesystem" jsonschema:"access to files"`
	Network    *SandboxNetwork   `json:"network,omitempty" jsonschema:"access to hosts; without it the network is not restricted"`
	Limits     *SandboxLimits    `json:"limits,omitempty" jsonschema:"resource limits"`
}

// UnmarshalJSON rejects unknown fields, because one may be a restriction.
func (s *Sandbox) UnmarshalJSON(text []byte) error {
	type plain Sandbox
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode((*plain)(s))
}

// SandboxFilesystem lists absolute paths. A folder includes everything below it. The JSON names,
// like those of SandboxNetwork, are the same as in sandbox-runtime.
type SandboxFilesystem struct {
	DenyRead   []string `json:"denyRead" jsonschema:"paths that cannot be read; all others can"`
	AllowWrite []string `json:"allowWrite" jsonschema:"paths that can be written; no others can"`
	DenyWrite  []string `json:"denyWrite" jsonschema:"exceptions to allowWrite"`
}

// SandboxNetwork lists domains. "*.example.org" matches all domains below it. If AllowedDomains is
// empty, there is no network.
type SandboxNetwork struct {
	AllowedDomains []string `json:"allowedDomains" jsonschema:"reachable, through a proxy of the engine"`
	DeniedDomains  []string `json:"deniedDomains" jsonschema:"exceptions to allowedDomains: bad.example denies that name alone, *.bad.example its subdomains"`
}

// SandboxLimits are limits for the process and for each of its children. 0 means no limit.
type SandboxLimits struct {
	OpenFiles   uint64 `json:"open_files,omitempty" jsonschema:"maximum number of open file descriptors"`
	Processes   uint64 `json:"processes,omitempty" jsonschema:"maximum number of processes of the user"`
	MemoryBytes uint64 `json:"memory_bytes,omitempty" jsonschema:"maximum address space in bytes"`
	CPUSeconds  uint64 `json:"cpu_seconds,omitempty" jsonschema:"maximum processor time in seconds"`
}

// Metrics is the resource usage of a process together with all its descendants.
type Metrics struct {
	CPUPercent float64 `json:"cpu_percent" jsonschema:"share of one core since the last measurement, in percent"`
	RSSBytes   int64   `json:"rss_bytes" jsonschema:"resident memory in bytes"`
	Threads    int     `json:"threads" jsonschema:"number of threads"`
	OpenFiles  int     `json:"open_files" jsonschema:"number of open file descriptors"`
	Processes  int     `json:"processes" jsonschema:"number of processes in the tree"`
	Ports      []int   `json:"ports" jsonschema:"TCP ports on which it listens"`

	WaitsForInput bool `json:"waits_for_input,omitempty" jsonschema:"it is waiting for input, and nobody writes to its standard input"`

	LeftPIDs []int `json:"left_pids,omitempty" jsonschema:"the processes that an exited process started and left running"`

	CPUHistory     []float64 `json:"cpu_history,omitempty" jsonschema:"\"cpu_percent\" in the last ten minutes up to now, oldest first"`
	RSSHistory     []int64   `json:"rss_history,omitempty" jsonschema:"\"rss_bytes\" over the same intervals"`
	HistorySeconds []int     `json:"history_s,omitempty" jsonschema:"length of each interval in seconds"`
}

// ProcessStartInput is the input of process.start.
type ProcessStartInput struct {
	Command []string          `json:"command" jsonschema:"program and arguments"`
	Name    string            `json:"name,omitempty" jsonschema:"default: the program's base name, made unique"`
	CWD     string            `json:"cwd,omitempty" jsonschema:"folder to start in; default: the home directory"`
	Env     map[string]string `json:"env,omitempty" jsonschema:"variables added to the engine's environment and to those set with env.set"`
	Environ map[string]string `json:"environ,omitempty" jsonschema:"the base environment, for example the caller's; default: the engine's own" audit:"-"`
	Umask   string            `json:"umask,omitempty" jsonschema:"file mode creation mask in octal, such as 0022; default: the engine's" audit:"-"`
	Actor   string            `json:"actor,omitempty" jsonschema:"who starts it; default \"person\"" audit:"-"`

	TTY bool `json:"tty,omitempty" jsonschema:"run it in a terminal, as a session"`

	Private bool `json:"private,omitempty" jsonschema:"with a terminal: keep its screen, output, title, folder, command and input only in memory; only the user may ask for it"`

	Cols int `json:"cols,omitempty" jsonschema:"width of the terminal; default 80"`
	Rows int `json:"rows,omitempty" jsonschema:"height of the terminal; default 24"`

	KeepAlive     bool       `json:"keep_alive,omitempty" jsonschema:"short for the restart policy \"always\""`
	Restart       *Restart   `json:"restart,omitempty" jsonschema:"restart policy after it exits by itself"`
	Ready         *Readiness `json:"ready,omitempty" jsonschema:"readiness check"`
	StopSignal    string     `json:"stop_signal,omitempty" jsonschema:"default SIGTERM"`
	StopTimeoutMS int        `json:"stop_timeout_ms,omitempty" jsonschema:"milliseconds from the stop signal to SIGKILL; default 8000"`
	SplitLog      bool       `json:"split_log,omitempty" jsonschema:"log standard output and error to separate files"`
	LogLimit      int64      `json:"log_limit,omitempty" jsonschema:"maximum size of its log in bytes; default 64 MiB"`
	Sandbox       *Sandbox   `json:"sandbox,omitempty" jsonschema:"confinement"`
	Transient     bool       `json:"transient,omitempty" jsonschema:"delete its record some time after it exits"`
	Stdin         bool       `json:"stdin,omitempty" jsonschema:"keep the standard input of a process without a terminal open for process.write"`
	NoStdin       bool       `json:"no_stdin,omitempty" jsonschema:"use /dev/null as the standard input of a process without a terminal; default for transient processes, otherwise it is open and silent"`
	Lease         Lease      `json:"lease,omitempty" jsonschema:"if started by an agent: detached, session or forever; default detached"`

	Project *ProjectEntry `json:"project,omitempty" jsonschema:"the entry of a project file for which it is started"`
	After   []Dependency  `json:"after,omitempty" jsonschema:"start it once all of these are met; it waits until then, and fails if one can no longer be met"`
	ID      string        `json:"id,omitempty" jsonschema:"unique id of 12 lower-case hex digits, chosen by the caller so that it can retry the call; default: a new one"`
}

// ProcessListInput is the input of process.list.
type ProcessListInput struct {
	Metrics bool `json:"metrics,omitempty" jsonschema:"measure each process; otherwise none is measured"`

	Hosts    []string `json:"hosts,omitempty" jsonschema:"machines to ask, all at once; an empty name means this machine; default: only this machine"`
	Machines bool     `json:"machines,omitempty" jsonschema:"add the processes of all connected machines, as last known, without waiting"`
}

// ProcessListOutput is the output of process.list: sessions and processes, the oldest first.
type ProcessListOutput struct {
	Processes []Process   `json:"processes" jsonschema:"all sessions and processes; those of other machines last, with ids like box/4f2a"`
	Missing   []HostError `json:"missing,omitempty" jsonschema:"machines in \"hosts\" that did not answer"`
}

// ProcessRestartInput is the input of process.restart.
type ProcessRestartInput struct {
	ID    string       `json:"id" jsonschema:"id, unique prefix of an id, or name"`
	After []Dependency `json:"after,omitempty" jsonschema:"dependencies, as in process.start; a running process ignores them"`

	RestartID string `json:"restart_id,omitempty" jsonschema:"id made by the caller for this restart; a second call with the same id does not restart the process again" audit:"-"`
}

// ProcessStopInput is the input of process.stop.
type ProcessStopInput struct {
	ID     string `json:"id" jsonschema:"id, unique prefix of an id, or name"`
	Signal string `json:"signal,omitempty" jsonschema:"signal instead of its own stop signal"`

	TimeoutMS int `json:"timeout_ms,omitempty" jsonschema:"milliseconds from the signal to SIGKILL; default: the process's own stop timeout"`
}

// ProcessStopAllInput is the input of process.stop_all.
type ProcessStopAllInput struct {
	Signal   string `json:"signal,omitempty" jsonschema:"signal instead of each process's own stop signal"`
	Sessions bool   `json:"sessions,omitempty" jsonschema:"stop sessions too"`
	Own      bool   `json:"own,omitempty" jsonschema:"stop only what the calling client started"`
}

// ProcessStopAllOutput is the output of process.stop_all.
type ProcessStopAllOutput struct {
	Stopped []Process `json:"stopped" jsonschema:"the processes stopped by this call"`
	Others  []Process `json:"others,omitempty" jsonschema:"running processes that were not stopped: those of others, if \"own\" is set; for an agent with a sandbox, those outside it"`
}

// ProcessSignalInput is the input of process.signal.
type ProcessSignalInput struct {
	ID     string `json:"id" jsonschema:"id, unique prefix of an id, or name"`
	Signal string `json:"signal" jsonschema:"name or number: SIGHUP, HUP, 1"`
}

// ProcessUpdateInput is the input of process.update. Fields that are null do not change.
type ProcessUpdateInput struct {
	ID        string   `json:"id" jsonschema:"id, unique prefix of an id, or name"`
	Name      *string  `json:"name,omitempty" jsonschema:"its new name"`
	KeepAlive *bool    `json:"keep_alive,omitempty" jsonschema:"whether to restart it whenever it exits"`
	Restart   *Restart `json:"restart,omitempty" jsonschema:"its new restart policy"`
	LogLimit  *int64   `json:"log_limit,omitempty" jsonschema:"maximum size of its log in bytes"`

	Revision int64 `json:"revision,omitempty" jsonschema:"revision of the process that this change is based on; fails with conflict if it has changed since; 0 for any revision"`
}

// ProcessLogInput is the input of process.log. If since, from_line and tail are all missing, it
// reads from the oldest byte kept.
type ProcessLogInput struct {
	ID       string `json:"id" jsonschema:"id, unique prefix of an id, or name"`
	Stream   string `json:"stream,omitempty" jsonschema:"if the streams have separate files: stdout (the default), stderr, or both in the order written, to a tenth of a second; stdout first if the engine did not observe the order"`
	Since    *int64 `json:"since,omitempty" jsonschema:"absolute offset in bytes; negative counts from the end"`
	FromLine *int64 `json:"from_line,omitempty" jsonschema:"first line, from 0 for the oldest one kept; negative counts from the end"`
	Tail     int    `json:"tail,omitempty" jsonschema:"number of last lines to return"`
	Max      int    `json:"max,omitempty" jsonschema:"maximum bytes; default 64 KiB, at most 1 MiB"`
	Grep     string `json:"grep,omitempty" jsonschema:"regular expression (RE2); returns \"matches\" instead of \"data\""`
	Context  int    `json:"context,omitempty" jsonschema:"number of lines before and after each match"`
	Backward bool   `json:"backward,omitempty" jsonschema:"search backwards from \"since\", or from the end"`
	Limit    int    `json:"limit,omitempty" jsonschema:"maximum number of matches; default 100"`
	Count    bool   `json:"count,omitempty" jsonschema:"if \"grep\" is given and \"stream\" is not both: count the matching lines of the whole log, and those before the offset in \"since\""`
	WaitMS   int    `json:"wait_ms,omitempty" jsonschema:"milliseconds to wait for output if there is none yet; at most 50000"`
	Exact    bool   `json:"exact,omitempty" jsonschema:"return data that is not UTF-8 as \"data_bytes\""`
	Times    bool   `json:"times,omitempty" jsonschema:"report when the data was written, if the engine observed it"`

	SinceStderr *int64 `json:"since_stderr,omitempty" jsonschema:"if \"since\" is given and \"stream\" is both: the offset in standard error; default: its oldest byte"`
}

// ProcessLogOutput is the output of process.log.
type ProcessLogOutput struct {
	Data       string     `json:"data" jsonschema:"the log from \"start\" on; invalid UTF-8 is replaced"`
	DataBytes  string     `json:"data_bytes,omitempty" jsonschema:"\"data\" in base64, if it is not UTF-8 and \"exact\" is set"`
	Start      int64      `json:"start" jsonschema:"absolute offset of \"data\""`
	NextCursor int64      `json:"next_cursor" jsonschema:"pass this as \"since\" in the next call"`
	End        int64      `json:"end" jsonschema:"absolute offset after the last byte written so far"`
	Dropped    int64      `json:"dropped" jsonschema:"bytes before the oldest one kept"`
	Matches    []LogMatch `json:"matches,omitempty" jsonschema:"lines matching \"grep\""`
	WithinLine bool       `json:"within_line,omitempty" jsonschema:"\"start\" is inside a line longer than 1 MiB, the maximum for \"tail\" and \"from_line\""`
	Total      int        `json:"total,omitempty" jsonschema:"number of matching lines in the whole log, if \"count\" is set"`
	Before     int        `json:"before,omitempty" jsonschema:"number of matching lines before the start of the search"`
	Times      []LogTime  `json:"times,omitempty" jsonschema:"when parts of \"data\" were written, oldest first"`
	State      State      `json:"state" jsonschema:"the process's state"`
	Process    *Process   `json:"process,omitempty" jsonschema:"the process, once it has exited"`

	Parts  []LogPart `json:"parts,omitempty" jsonschema:"the parts of \"data\", in order, if both streams were read"`
	Stderr *LogPlace `json:"stderr,omitempty" jsonschema:"the offsets in standard error, if both streams were read; the others are in standard output"`
}

func (o *ProcessLogOutput) Bulk() []Member {
	return []Member{
		{Name: "data", Text: &o.Data},
		{Name: "data_bytes", Text: &o.DataBytes},
	}
}

// A LogPart is a part of the merged data from one of the two streams.
type LogPart struct {
	Stream string     `json:"stream" jsonschema:"stdout or stderr"`
	Bytes  int        `json:"bytes" jsonschema:"length of the part in bytes"`
	At     *time.Time `json:"at,omitempty" jsonschema:"when it was written, if the engine observed it"`
}

// A LogPlace has the offsets of an answer in a log.
type LogPlace struct {
	Start      int64 `json:"start" jsonschema:"absolute offset of the returned data"`
	NextCursor int64 `json:"next_cursor" jsonschema:"pass this as \"since_stderr\" in the next call"`
	End        int64 `json:"end" jsonschema:"absolute offset after the last byte written so far"`
	Dropped    int64 `json:"dropped" jsonschema:"bytes before the oldest one kept"`
}

// A LogTime is the time at which a log was written, from Offset up to the Offset of the next
// LogTime. For recent output, it is exact to a tenth of a second.
type LogTime struct {
	Offset int64     `json:"offset" jsonschema:"absolute offset at which the part begins"`
	At     time.Time `json:"at" jsonschema:"when the part was written"`
}

// Bytes returns the log from Start on. If the input had Exact set, it returns the exact bytes.
func (o ProcessLogOutput) Bytes() ([]byte, error) { return decodeExact(o.Data, o.DataBytes) }

// decodeExact returns text or, if the output was not UTF-8, decodes it from base64.
func decodeExact(text, encoded string) ([]byte, error) {
	if encoded == "" {
		return []byte(text), nil
	}
	b, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, Errorf(CodeInternal, "decode output: %v", err)
	}
	return b, nil
}

// A LogMatch is a line of a log found by a search.
type LogMatch struct {
	Stream string   `json:"stream,omitempty" jsonschema:"stdout or stderr, if both streams were searched"`
	Offset int64    `json:"offset" jsonschema:"absolute offset of the line"`
	Text   string   `json:"text" jsonschema:"the line"`
	Before []string `json:"before,omitempty" jsonschema:"lines before it"`
	After  []string `json:"after,omitempty" jsonschema:"lines after it"`

	CutBefore int `json:"cut_before,omitempty" jsonschema:"number of bytes of the line left out before \"text\""`
	CutAfter  int `json:"cut_after,omitempty" jsonschema:"number of bytes of the line left out after \"text\""`
}

// ProcessWaitInput is the input of process.wait. The call returns as soon as one of the given
// conditions is met.
type ProcessWaitInput struct {
	ID        string `json:"id" jsonschema:"id, unique prefix of an id, or name"`
	Exit      bool   `json:"exit,omitempty" jsonschema:"wait until the process has exited"`
	Ready     bool   `json:"ready,omitempty" jsonschema:"wait until it is ready"`
	Log       string `json:"log,omitempty" jsonschema:"wait until a line of its log, from \"since\" on, matches this regular expression"`
	Stream    string `json:"stream,omitempty" jsonschema:"if the streams have separate files: search only stdout or stderr for the expression in \"log\"; default: both"`
	Since     *int64 `json:"since,omitempty" jsonschema:"offset at which the search for \"log\" starts; default: the start of its present run"`
	Port      int    `json:"port,omitempty" jsonschema:"wait until it, or a process started by it, listens on this TCP port"`
	IdleMS    int    `json:"idle_ms,omitempty" jsonschema:"wait until it has written nothing for this many milliseconds"`
	Input     bool   `json:"input,omitempty" jsonschema:"wait until it, or a process started by it, waits for input from process.write"`
	TimeoutMS int    `json:"timeout_ms,omitempty" jsonschema:"milliseconds to wait; default and maximum 50000 per call"`

	SinceStderr *int64 `json:"since_stderr,omitempty" jsonschema:"if \"since\" is given and both streams are searched: the offset in standard error"`
}

// ProcessWaitOutput is the output of process.wait.
type ProcessWaitOutput struct {
	Met     string  `json:"met" jsonschema:"the condition met: exit, ready, log, port, idle or input; empty after the timeout"`
	Line    string  `json:"line,omitempty" jsonschema:"the line matching \"log\""`
	Process Process `json:"process" jsonschema:"the process after the wait"`

	OpenCheck  string `json:"open_check,omitempty" jsonschema:"the readiness check that was still failing when the wait timed out"`
	PortHolder string `json:"port_holder,omitempty" jsonschema:"the program that used the port when the wait for it failed"`
	CrashLoop  bool   `json:"crash_loop,omitempty" jsonschema:"the wait ended because the process exits soon after each start"`
}

// IsFinal reports whether it would be useless to wait again.
func (o ProcessWaitOutput) IsFinal() bool {
	return o.Met != "" || o.CrashLoop || o.Process.State.Ended()
}

// ExecInput is the input of exec.
type ExecInput struct {
	Command       []string          `json:"command" jsonschema:"program and arguments"`
	CWD           string            `json:"cwd,omitempty" jsonschema:"folder to run in; default: the home directory"`
	Env           map[string]string `json:"env,omitempty" jsonschema:"variables added to the engine's environment and to those set with env.set"`
	Environ       map[string]string `json:"environ,omitempty" jsonschema:"the base environment, for example the caller's; default: the engine's own" audit:"-"`
	Umask         string            `json:"umask,omitempty" jsonschema:"file mode creation mask in octal, such as 0022; default: the engine's" audit:"-"`
	TimeoutMS     int               `json:"timeout_ms,omitempty" jsonschema:"milliseconds until the timeout; default 30000"`
	Kill          bool              `json:"kill,omitempty" jsonschema:"after the timeout, stop it and everything it started (SIGTERM, then SIGKILL 2 seconds later) instead of keeping it as a process; applies even if the caller has disconnected"`
	CallerGraceMS int               `json:"caller_grace_ms,omitempty" jsonschema:"stop it once its caller has been disconnected for this many milliseconds; a repeated call with its id counts as the caller's return; default: never"`
	Daemon        *Daemon           `json:"daemon,omitempty" jsonschema:"after the timeout keep it as a daemon, whose record stays after it exits"`
	MaxOutput     int               `json:"max_output,omitempty" jsonschema:"maximum bytes of each stream, from its end; default 64 KiB, at most 16 MiB"`
	Exact         bool              `json:"exact,omitempty" jsonschema:"return output that is not UTF-8 as \"stdout_bytes\" and \"stderr_bytes\""`
	Sandbox       *Sandbox          `json:"sandbox,omitempty" jsonschema:"confinement"`
	Actor         string            `json:"actor,omitempty" jsonschema:"who runs it; default \"person\"" audit:"-"`
	Name          string            `json:"name,omitempty" jsonschema:"default: the program's base name, made unique"`
	ID            string            `json:"id,omitempty" jsonschema:"unique id of 12 lower-case hex digits, chosen by the caller so that it can retry the call; default: a new one"`
}

// A Daemon marks a command that was still running after the timeout of its exec call.
type Daemon struct {
	Lines int `json:"lines" jsonschema:"number of lines of each stream for its caller"`
}

// ExecOutput is the output of exec. Process has the exit status. After a timeout, the process keeps
// running under its id.
type ExecOutput struct {
	Process       Process `json:"process" jsonschema:"the process that was run"`
	Stdout        string  `json:"stdout" jsonschema:"end of its standard output"`
	Stderr        string  `json:"stderr" jsonschema:"end of its standard error"`
	StdoutBytes   string  `json:"stdout_bytes,omitempty" jsonschema:"\"stdout\" in base64, if it is not UTF-8 and \"exact\" is set"`
	StderrBytes   string  `json:"stderr_bytes,omitempty" jsonschema:"\"stderr\" in base64, if it is not UTF-8 and \"exact\" is set"`
	StdoutDropped int64   `json:"stdout_dropped" jsonschema:"number of bytes before \"stdout\", available in the log only"`
	StderrDropped int64   `json:"stderr_dropped" jsonschema:"number of bytes before \"stderr\", available in the log only"`
	StdoutCursor  int64   `json:"stdout_cursor" jsonschema:"absolute offset after \"stdout\"; give it to process.log as \"since\""`
	StderrCursor  int64   `json:"stderr_cursor" jsonschema:"absolute offset after \"stderr\"; give it to process.log as \"since_stderr\""`
	TimedOut      bool    `json:"timed_out" jsonschema:"it was still running after the timeout"`
	DurationMS    float64 `json:"duration_ms" jsonschema:"run time in milliseconds; if the command is still running, the time so far"`
	LeftPIDs      []int   `json:"left_pids,omitempty" jsonschema:"processes started by it and still running after its exit"`
}

func (o *ExecOutput) Bulk() []Member {
	return []Member{
		{Name: "stdout", Text: &o.Stdout},
		{Name: "stderr", Text: &o.Stderr},
		{Name: "stdout_bytes", Text: &o.StdoutBytes},
		{Name: "stderr_bytes", Text: &o.StderrBytes},
	}
}

// Output returns the ends of standard output and standard error. If the input had Exact set, it
// returns the exact bytes.
func (o ExecOutput) Output() (stdout, stderr []byte, err error) {
	if stdout, err = decodeExact(o.Stdout, o.StdoutBytes); err != nil {
		return nil, nil, err
	}
	stderr, err = decodeExact(o.Stderr, o.StderrBytes)
	return stdout, stderr, err
}

// EnvInput names an environment variable for programs started from now on.
type EnvInput struct {
	Name   string `json:"name" jsonschema:"name of the variable: [A-Za-z_][A-Za-z0-9_]*"`
	Client bool   `json:"client,omitempty" jsonschema:"use the calling client's own variables, which apply to what it starts until it disconnects; env.get then also looks at the shared ones"`
	Reveal bool   `json:"reveal,omitempty" jsonschema:"return the value even if it or the name looks like a secret"`
}

// EnvSetInput is the input of env.set.
type EnvSetInput struct {
	Name  string `json:"name" jsonschema:"name of the variable: [A-Za-z_][A-Za-z0-9_]*"`
	Value string `json:"value" jsonschema:"its value for future sessions and processes"`

	Client bool `json:"client,omitempty" jsonschema:"set only for the calling client"`
}

// EnvListInput is the input of env.list.
type EnvListInput struct {
	Reveal bool `json:"reveal,omitempty" jsonschema:"return values even if they or the names look like secrets"`
}

// EnvVar is one variable of the overlay.
type EnvVar struct {
	Name     string `json:"name" jsonschema:"the variable's name"`
	Value    string `json:"value" jsonschema:"its value; empty if redacted"`
	Redacted bool   `json:"redacted,omitempty" jsonschema:"the value is left out because it or the name looks like a secret"`
	Client   bool   `json:"client,omitempty" jsonschema:"it is set only for the calling client"`
}

// EnvListOutput is the output of env.list, sorted by name.
type EnvListOutput struct {
	Variables []EnvVar `json:"variables" jsonschema:"the variables set for future sessions and processes"`
}

// A ProcessRun is one run of a process, from start to exit.
type ProcessRun struct {
	StartedAt  time.Time  `json:"started_at" jsonschema:"when it was started"`
	EndedAt    *time.Time `json:"ended_at,omitempty" jsonschema:"when it exited; null while it runs"`
	ExitCode   *int       `json:"exit_code,omitempty" jsonschema:"null if it runs, if unknown, or if a signal killed it"`
	ExitSignal string     `json:"exit_signal,omitempty" jsonschema:"the signal that killed it"`
}

// Supervision has those fields of a Process that are about restarts, readiness and input.
type Supervision struct {
	Restart    Restart      `json:"restart" jsonschema:"restart policy"`
	Restarts   int          `json:"restarts" jsonschema:"number of restarts"`
	Automatic  int          `json:"auto_restarts" jsonschema:"number of restarts by its restart policy"`
	Runs       []ProcessRun `json:"runs,omitempty" jsonschema:"its last runs, at most 20, oldest first"`
	Ready      *bool        `json:"ready,omitempty" jsonschema:"whether it is ready; null without a readiness check"`
	NextStart  *time.Time   `json:"next_start,omitempty" jsonschema:"in backoff: time of the next start"`
	LastLines  []string     `json:"last_lines,omitempty" jsonschema:"the end of its log, if it failed or is in backoff"`
	SplitLog   bool         `json:"split_log,omitempty" jsonschema:"standard output and error have separate log files"`
	Sandboxed  bool         `json:"sandboxed,omitempty" jsonschema:"it runs in a sandbox"`
	Transient  bool         `json:"transient,omitempty" jsonschema:"its record is deleted some time after it exits"`
	Unanswered bool         `json:"unanswered,omitempty" jsonschema:"it is a one-shot command whose caller disconnected before it got the result"`
	Stdin      bool         `json:"stdin,omitempty" jsonschema:"process.write writes to its standard input"`
	NoStdin    bool         `json:"no_stdin,omitempty" jsonschema:"its standard input is /dev/null"`
	Daemon     *Daemon      `json:"daemon,omitempty" jsonschema:"it is a one-shot command still running after its timeout"`
}

// Milliseconds returns a duration in milliseconds, as in outputs. It is exact to the microsecond.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
