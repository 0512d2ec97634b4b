package android

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/mcp/toolkit"
)

const (
	sessionSeconds     = 30  // of exec
	sessionSecondsMost = 300 // and at most
	// lastOutput is how much of a session that has ended is told to who has read
	// it all.
	lastOutput = 4 << 10
)

// localSessionInput are the arguments of both kinds of session.
type localSessionInput struct {
	Action    string            `json:"action" enum:"start,exec,write,read,resize,kill,list"`
	SessionID string            `json:"session_id,omitempty"`
	Command   toolkit.ShellLine `json:"command,omitempty"`
	Input     string            `json:"input,omitempty" doc:"sent to stdin unchanged"`
	CWD       string            `json:"cwd,omitempty"`
	Rows      int               `json:"rows,omitempty"`
	Cols      int               `json:"cols,omitempty"`
	Timeout   int               `json:"timeout,omitempty" doc:"seconds" default:"30" max:"300"`
	Env       toolkit.Env       `json:"env,omitempty"`
}

type termuxSessionInput localSessionInput

func (in localSessionInput) Subject(f *toolkit.Agent) toolkit.Subject {
	if in.Action == "start" || in.SessionID == "" {
		return toolkit.Subject{Command: string(in.Command) + in.Input, CWD: f.Folder(in.CWD), Env: in.Env}
	}
	return toolkit.Subject{Command: string(in.Command) + in.Input, Session: in.SessionID}
}

func (in termuxSessionInput) Subject(f *toolkit.Agent) toolkit.Subject {
	return localSessionInput(in).Subject(f)
}

// A shellBackend is one kind of session.
type shellBackend interface {
	start(ctx context.Context, f *toolkit.Agent, in localSessionInput) (api.Process, string, error)
	exec(ctx context.Context, f *toolkit.Agent, p api.Process, in localSessionInput) (sessionRan, error)
	write(ctx context.Context, f *toolkit.Agent, p api.Process, input string) error
	read(ctx context.Context, f *toolkit.Agent, p api.Process) (sessionOutput, error)
	resize(ctx context.Context, f *toolkit.Agent, p api.Process, cols, rows int) (sessionOK, error)
	kill(ctx context.Context, f *toolkit.Agent, p api.Process) error
	owns(p api.Process) bool
}

type sessionStarted struct {
	SessionID string `json:"session_id"`
	Output    string `json:"output"`
}

type sessionRan struct {
	sessionOutput
	ExitCode   *int    `json:"exit_code"`
	DurationMS float64 `json:"duration_ms"`
	TimedOut   bool    `json:"timed_out"`
	Waits      string  `json:"waits,omitempty"` // input or secret: the command goes on when it has that
}

type sessionOutput struct {
	Output  string `json:"output"`
	Alive   bool   `json:"alive"`
	Dropped int64  `json:"dropped,omitempty"` // bytes before output that are in the log only
	More    bool   `json:"more,omitempty"`    // the next read gives more at once
}

type sessionOK struct {
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"`
}

type sessionListed struct {
	SessionID string `json:"session_id"`
	Alive     bool   `json:"alive"`
	Idle      int    `json:"idle_seconds"`
	Uptime    int    `json:"uptime_seconds"`
}

func (a *android) localSession(ctx context.Context, f *toolkit.Agent, in localSessionInput) (toolkit.Result, error) {
	return sessionAction(ctx, f, pipeShell{&a.turns}, in)
}

func (a *android) termuxSession(ctx context.Context, f *toolkit.Agent, in termuxSessionInput) (toolkit.Result, error) {
	bash, err := a.bash()
	if err != nil {
		return toolkit.Result{}, err
	}
	return sessionAction(ctx, f, terminalShell{bash}, localSessionInput(in))
}

// sessionAction does what is asked for with one kind of session.
func sessionAction(ctx context.Context, f *toolkit.Agent, b shellBackend, in localSessionInput) (toolkit.Result, error) {
	switch in.Action {
	case "":
		return toolkit.Result{}, androidErrorf("missing_action", "action is empty")
	case "start":
		p, output, err := b.start(ctx, f, in)
		if err != nil {
			return toolkit.Result{}, err
		}
		return toolkit.AnswerJSON(sessionStarted{p.ID, output}).ForProcess(p.ID), nil
	case "list":
		return listSessions(ctx, f, b)
	case "exec", "write", "read", "resize", "kill":
	default:
		return toolkit.Result{}, androidErrorf("unknown_action", "unknown action %q; must be start, exec, write, read, resize, kill or list", in.Action)
	}
	p, err := findSession(ctx, f, b, in)
	if err != nil {
		return toolkit.Result{}, err
	}
	answer, err := onSession(ctx, f, b, p, in)
	if errors.Is(err, api.CodeEnded) {
		err = sessionDead(ctx, f, b, p)
	}
	if errors.Is(err, api.CodeConflict) {
		err = androidErrorf("session_busy", "%s; write with input \\u0003 (ctrl+c) interrupts the program and clears the line", api.AsError(err).Message)
	}
	if err != nil {
		return toolkit.Result{}, err
	}
	return toolkit.AnswerJSON(answer).ForProcess(p.ID), nil
}

// onSession does what is asked for with one session.
func onSession(ctx context.Context, f *toolkit.Agent, b shellBackend, p api.Process, in localSessionInput) (any, error) {
	if p.State.Ended() && in.Action != "read" && in.Action != "kill" {
		return nil, sessionDead(ctx, f, b, p)
	}
	switch in.Action {
	case "exec":
		return b.exec(ctx, f, p, in)
	case "write":
		return sessionOK{OK: true}, b.write(ctx, f, p, in.Input)
	case "read":
		return b.read(ctx, f, p)
	case "resize":
		return b.resize(ctx, f, p, in.Cols, in.Rows)
	}
	if p.State.Ended() {
		return sessionOK{OK: true, Detail: "it had ended already"}, nil
	}
	return sessionOK{OK: true}, b.kill(ctx, f, p)
}

// findSession checks the arguments and finds the session that they name.
func findSession(ctx context.Context, f *toolkit.Agent, b shellBackend, in localSessionInput) (api.Process, error) {
	switch {
	case in.SessionID == "":
		return api.Process{}, androidErrorf("missing_session_id", "%s needs session_id", in.Action)
	case in.Action == "exec" && strings.TrimSpace(string(in.Command)) == "":
		return api.Process{}, androidErrorf("missing_command", "exec needs command")
	case in.Action == "write" && in.Input == "":
		return api.Process{}, androidErrorf("missing_input", "write needs input")
	case in.Timeout < 0 || in.Rows < 0 || in.Cols < 0:
		return api.Process{}, androidErrorf("invalid_arguments", "timeout, rows and cols cannot be negative")
	}
	p, err := api.ProcessGet.Call(ctx, f.Engine, api.IDInput{ID: in.SessionID})
	if errors.Is(err, api.CodeNotFound) || err == nil && !b.owns(p) {
		return p, androidErrorf("session_not_found", "no such session: %s", in.SessionID)
	}
	return p, err
}

// sessionDead says that a session has ended, with what it printed last.
func sessionDead(ctx context.Context, f *toolkit.Agent, b shellBackend, p api.Process) error {
	e := androidErrorf("session_dead", "session %s has ended", p.ID)
	out, err := b.read(ctx, f, p)
	if err == nil && out.Output == "" {
		out.Output, err = lastPrinted(ctx, f, p.ID)
	}
	if err == nil {
		e.Output = &out.Output
	}
	return e
}

// lastPrinted is the end of what a session has printed, whoever has read it.
func lastPrinted(ctx context.Context, f *toolkit.Agent, id string) (string, error) {
	since := int64(-lastOutput)
	out, err := api.ProcessLog.Call(ctx, f.Engine, api.ProcessLogInput{ID: id, Since: &since, Max: lastOutput})
	text := marksText().ReplaceAllString(out.Data, "")
	return EndMark().ReplaceAllString(text, ""), err
}

// seconds is how long exec waits.
func (in localSessionInput) seconds() int {
	if in.Timeout == 0 {
		return sessionSeconds
	}
	return min(in.Timeout, sessionSecondsMost)
}

func listSessions(ctx context.Context, f *toolkit.Agent, b shellBackend) (toolkit.Result, error) {
	out, err := api.ProcessList.Call(ctx, f.Engine, api.ProcessListInput{})
	if err != nil {
		return toolkit.Result{}, err
	}
	sessions := []sessionListed{}
	for _, p := range out.Processes {
		if b.owns(p) && !p.State.Ended() {
			sessions = append(sessions, sessionListed{p.ID, true, int(idleFor(p).Seconds()), int(toolkit.RunTime(p).Seconds())})
		}
	}
	return toolkit.AnswerJSON(struct {
		Sessions []sessionListed `json:"sessions"`
	}{sessions}), nil
}

// idleFor is the time since a session last printed or was written to. Where it
// has no terminal its standard input is a FIFO beside its log, and both tell
// when that was.
func idleFor(p api.Process) time.Duration {
	last := p.StartedAt
	if p.Terminal != nil {
		if p.Terminal.ActiveAt.After(last) {
			last = p.Terminal.ActiveAt
		}
		return max(time.Since(last), 0)
	}
	for _, path := range []string{p.LogPath, filepath.Join(filepath.Dir(p.LogPath), "stdin")} {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return max(time.Since(last), 0)
}

// marksText finds what shells tell Tandem about themselves.
var marksText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\](133|633|7);[^\x07\x1b]*(\x07|\x1b\\\\)") })

// A terminalShell is a shell in a terminal.
type terminalShell struct{ shell string }

func (terminalShell) owns(p api.Process) bool { return p.Terminal != nil }

func (t terminalShell) start(ctx context.Context, f *toolkit.Agent, in localSessionInput) (api.Process, string, error) {
	cwd, err := androidCWD(f, in.CWD, f.Options.Home)
	if err != nil {
		return api.Process{}, "", err
	}
	p, err := api.SessionStart.Call(ctx, f.Engine, api.SessionStartInput{
		ID: api.NewID(), Command: []string{t.shell}, CWD: cwd, Env: in.Env, Environ: f.ChildEnv(), Umask: f.Umask, Actor: f.Actor, Cols: in.Cols, Rows: in.Rows,
	})
	if err != nil {
		return p, "", err
	}
	toolkit.AwaitPrompt(ctx, f, p.ID)
	out, err := t.read(ctx, f, p)
	return p, out.Output, err
}

func (t terminalShell) exec(ctx context.Context, f *toolkit.Agent, p api.Process, in localSessionInput) (sessionRan, error) {
	ran, err := api.SessionExec.Call(ctx, f.Engine, api.SessionExecInput{
		ID: p.ID, Command: string(in.Command), TimeoutMS: in.seconds() * 1000, MaxOutput: 1,
	})
	if err != nil {
		return sessionRan{}, err
	}
	out, err := t.readTo(ctx, f, p, ran.NextCursor)
	out.Alive, out.Output = ran.Alive, pastedPlain(out.Output, string(in.Command))
	return sessionRan{
		sessionOutput: out, ExitCode: ran.ExitCode, DurationMS: math.Round(ran.DurationMS), Waits: ran.Waits,
		TimedOut: ran.TimedOut,
	}, err
}

// movesOnly is what readline sends to draw a line once more.
var movesOnly = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^([\b\r]|\x1b\\[[0-9;]*[A-DJKm])*$") })

// pastedPlain takes out of a session's output how readline marks a line that
// was pasted: it draws it inverted, goes back, and draws it once more.
func pastedPlain(output, line string) string {
	before, after, found := strings.Cut(output, "\x1b[7m"+line+"\x1b[27m")
	if i := strings.Index(after, line); found && i >= 0 && movesOnly().MatchString(after[:i]) {
		return before + after[i:]
	}
	return output
}

func (terminalShell) write(ctx context.Context, f *toolkit.Agent, p api.Process, input string) error {
	return api.TypeInto(ctx, f.Engine, api.SessionWriteInput{ID: p.ID, Text: input})
}

func (t terminalShell) read(ctx context.Context, f *toolkit.Agent, p api.Process) (sessionOutput, error) {
	return t.readTo(ctx, f, p, 0)
}

// readTo gives what was printed since the last reading, at least up to an
// offset if there is no more.
func (terminalShell) readTo(ctx context.Context, f *toolkit.Agent, p api.Process, to int64) (sessionOutput, error) {
	var b strings.Builder
	var dropped int64
	seen, _ := f.Seen.At(p.ID)
	for since := seen.At; ; {
		out, err := api.SessionRead.Call(ctx, f.Engine, api.SessionReadInput{ID: p.ID, Since: since, Max: toolkit.MaxStream})
		if err != nil {
			return sessionOutput{}, err
		}
		b.WriteString(out.Data)
		dropped += out.Dropped
		done := out.NextCursor == since || b.Len() >= toolkit.MaxStream || to > 0 && out.NextCursor >= to
		since = out.NextCursor
		f.Seen.Set(p.ID, toolkit.Cursor{At: since})
		if done {
			output := marksText().ReplaceAllString(b.String(), "")
			return sessionOutput{Output: output, Alive: !out.State.Ended(), Dropped: dropped, More: b.Len() >= toolkit.MaxStream}, nil
		}
	}
}

func (terminalShell) resize(ctx context.Context, f *toolkit.Agent, p api.Process, cols, rows int) (sessionOK, error) {
	if cols == 0 {
		cols = p.Terminal.Cols
	}
	if rows == 0 {
		rows = p.Terminal.Rows
	}
	_, err := api.SessionResize.Call(ctx, f.Engine, api.SessionResizeInput{ID: p.ID, Cols: cols, Rows: rows})
	return sessionOK{OK: true}, err
}

func (terminalShell) kill(ctx context.Context, f *toolkit.Agent, p api.Process) error {
	_, err := api.SessionKill.Call(ctx, f.Engine, api.IDInput{ID: p.ID})
	return err
}
