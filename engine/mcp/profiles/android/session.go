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
	defaultExecSeconds = 30 // for exec
	maxExecSeconds     = 300
	// lastOutputSize is how much output of an ended session is returned again once everything has
	// been read.
	lastOutputSize = 4 << 10
)

// localSessionInput holds the arguments for both kinds of session.
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

// A shellBackend is a kind of session.
type shellBackend interface {
	startSession(ctx context.Context, f *toolkit.Agent, in localSessionInput) (api.Process, string, error)
	execCommand(ctx context.Context, f *toolkit.Agent, p api.Process, in localSessionInput) (execResult, error)
	writeInput(ctx context.Context, f *toolkit.Agent, p api.Process, input string) error
	readOutput(ctx context.Context, f *toolkit.Agent, p api.Process) (sessionOutput, error)
	resizeTerminal(ctx context.Context, f *toolkit.Agent, p api.Process, cols, rows int) (statusResult, error)
	killSession(ctx context.Context, f *toolkit.Agent, p api.Process) error
	ownsSession(p api.Process) bool
}

type startResult struct {
	SessionID string `json:"session_id"`
	Output    string `json:"output"`
}

type execResult struct {
	sessionOutput
	ExitCode   *int    `json:"exit_code"`
	DurationMS float64 `json:"duration_ms"`
	TimedOut   bool    `json:"timed_out"`
	Waits      string  `json:"waits,omitempty"` // input or secret; the command continues after receiving it
}

type sessionOutput struct {
	Output  string `json:"output"`
	Alive   bool   `json:"alive"`
	Dropped int64  `json:"dropped,omitempty"` // bytes before output, available in the log only
	More    bool   `json:"more,omitempty"`    // the next read returns more at once
}

type statusResult struct {
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"`
}

type sessionEntry struct {
	SessionID string `json:"session_id"`
	Alive     bool   `json:"alive"`
	Idle      int    `json:"idle_seconds"`
	Uptime    int    `json:"uptime_seconds"`
}

func (a *android) localSession(ctx context.Context, f *toolkit.Agent, in localSessionInput) (toolkit.Result, error) {
	return runAction(ctx, f, pipeShell{&a.locks}, in)
}

func (a *android) termuxSession(ctx context.Context, f *toolkit.Agent, in termuxSessionInput) (toolkit.Result, error) {
	bash, err := a.findBash()
	if err != nil {
		return toolkit.Result{}, err
	}
	return runAction(ctx, f, terminalShell{bash}, localSessionInput(in))
}

// runAction performs an action on one kind of session.
func runAction(ctx context.Context, f *toolkit.Agent, b shellBackend, in localSessionInput) (toolkit.Result, error) {
	switch in.Action {
	case "":
		return toolkit.Result{}, androidErrorf("missing_action", "action is empty")
	case "start":
		p, output, err := b.startSession(ctx, f, in)
		if err != nil {
			return toolkit.Result{}, err
		}
		return toolkit.AnswerJSON(startResult{p.ID, output}).ForProcess(p.ID), nil
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
	answer, err := actOnSession(ctx, f, b, p, in)
	// The session may have ended since it was found.
	if errors.Is(err, api.CodeEnded) {
		err = deadError(ctx, f, b, p)
	}
	if errors.Is(err, api.CodeConflict) {
		err = androidErrorf("session_busy", "%s; write with input \\u0003 (ctrl+c) interrupts the program and clears the line", api.AsError(err).Message)
	}
	if err != nil {
		return toolkit.Result{}, err
	}
	return toolkit.AnswerJSON(answer).ForProcess(p.ID), nil
}

// actOnSession performs an action on one session.
func actOnSession(ctx context.Context, f *toolkit.Agent, b shellBackend, p api.Process, in localSessionInput) (any, error) {
	if p.State.Ended() && in.Action != "read" && in.Action != "kill" {
		return nil, deadError(ctx, f, b, p)
	}
	switch in.Action {
	case "exec":
		return b.execCommand(ctx, f, p, in)
	case "write":
		return statusResult{OK: true}, b.writeInput(ctx, f, p, in.Input)
	case "read":
		return b.readOutput(ctx, f, p)
	case "resize":
		return b.resizeTerminal(ctx, f, p, in.Cols, in.Rows)
	}
	if p.State.Ended() {
		return statusResult{OK: true, Detail: "it had ended already"}, nil
	}
	return statusResult{OK: true}, b.killSession(ctx, f, p)
}

// findSession validates the arguments and returns the named session.
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
	if errors.Is(err, api.CodeNotFound) || err == nil && !b.ownsSession(p) {
		return p, androidErrorf("session_not_found", "no such session: %s", in.SessionID)
	}
	return p, err
}

// deadError returns the error for an ended session, with its last output.
func deadError(ctx context.Context, f *toolkit.Agent, b shellBackend, p api.Process) error {
	e := androidErrorf("session_dead", "session %s has ended", p.ID)
	out, err := b.readOutput(ctx, f, p)
	// Another agent may have read the end already.
	if err == nil && out.Output == "" {
		out.Output, err = readLastOutput(ctx, f, p.ID)
	}
	if err == nil {
		e.Output = &out.Output
	}
	return e
}

// readLastOutput returns the end of a session's output, read or not.
func readLastOutput(ctx context.Context, f *toolkit.Agent, id string) (string, error) {
	since := int64(-lastOutputSize)
	out, err := api.ProcessLog.Call(ctx, f.Engine, api.ProcessLogInput{ID: id, Since: &since, Max: lastOutputSize})
	text := shellMarks().ReplaceAllString(out.Data, "")
	return EndMark().ReplaceAllString(text, ""), err
}

func (in localSessionInput) timeoutSeconds() int {
	if in.Timeout == 0 {
		return defaultExecSeconds
	}
	return min(in.Timeout, maxExecSeconds)
}

func listSessions(ctx context.Context, f *toolkit.Agent, b shellBackend) (toolkit.Result, error) {
	out, err := api.ProcessList.Call(ctx, f.Engine, api.ProcessListInput{})
	if err != nil {
		return toolkit.Result{}, err
	}
	sessions := []sessionEntry{}
	for _, p := range out.Processes {
		if b.ownsSession(p) && !p.State.Ended() {
			sessions = append(sessions, sessionEntry{p.ID, true, int(idleFor(p).Seconds()), int(toolkit.RunTime(p).Seconds())})
		}
	}
	return toolkit.AnswerJSON(struct {
		Sessions []sessionEntry `json:"sessions"`
	}{sessions}), nil
}

// idleFor returns the time since a session last printed or received input. Without a terminal, its
// input is a FIFO beside its log, and the modification times of both count.
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

// shellMarks matches escape sequences sent by shells for Tandem's use.
var shellMarks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\](133|633|7);[^\x07\x1b]*(\x07|\x1b\\\\)") })

// A terminalShell is a shell in a terminal.
type terminalShell struct{ shell string }

func (terminalShell) ownsSession(p api.Process) bool { return p.Terminal != nil }

func (t terminalShell) startSession(ctx context.Context, f *toolkit.Agent, in localSessionInput) (api.Process, string, error) {
	cwd, err := resolveCWD(f, in.CWD, f.Options.Home)
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
	out, err := t.readOutput(ctx, f, p)
	return p, out.Output, err
}

func (t terminalShell) execCommand(ctx context.Context, f *toolkit.Agent, p api.Process, in localSessionInput) (execResult, error) {
	ran, err := api.SessionExec.Call(ctx, f.Engine, api.SessionExecInput{
		ID: p.ID, Command: string(in.Command), TimeoutMS: in.timeoutSeconds() * 1000, MaxOutput: 1,
	})
	if err != nil {
		return execResult{}, err
	}
	out, err := t.readUntil(ctx, f, p, ran.NextCursor)
	out.Alive, out.Output = ran.Alive, removePasteMarks(out.Output, string(in.Command))
	return execResult{
		sessionOutput: out, ExitCode: ran.ExitCode, DurationMS: math.Round(ran.DurationMS), Waits: ran.Waits,
		TimedOut: ran.TimedOut,
	}, err
}

// cursorMoves matches the sequences readline sends before redrawing a line.
var cursorMoves = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^([\b\r]|\x1b\\[[0-9;]*[A-DJKm])*$") })

// removePasteMarks removes readline's highlighting of a pasted line from output: readline draws it
// inverted, moves back, and draws it again.
func removePasteMarks(output, line string) string {
	before, after, found := strings.Cut(output, "\x1b[7m"+line+"\x1b[27m")
	if i := strings.Index(after, line); found && i >= 0 && cursorMoves().MatchString(after[:i]) {
		return before + after[i:]
	}
	return output
}

func (terminalShell) writeInput(ctx context.Context, f *toolkit.Agent, p api.Process, input string) error {
	return api.TypeInto(ctx, f.Engine, api.SessionWriteInput{ID: p.ID, Text: input})
}

func (t terminalShell) readOutput(ctx context.Context, f *toolkit.Agent, p api.Process) (sessionOutput, error) {
	return t.readUntil(ctx, f, p, 0)
}

// readUntil returns the output since the last read, at least up to offset to unless there is no
// more.
func (terminalShell) readUntil(ctx context.Context, f *toolkit.Agent, p api.Process, to int64) (sessionOutput, error) {
	var b strings.Builder
	var dropped int64
	seen, _ := f.Seen.At(p.ID)
	// The log may hold more than one read returns.
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
			output := shellMarks().ReplaceAllString(b.String(), "")
			return sessionOutput{Output: output, Alive: !out.State.Ended(), Dropped: dropped, More: b.Len() >= toolkit.MaxStream}, nil
		}
	}
}

func (terminalShell) resizeTerminal(ctx context.Context, f *toolkit.Agent, p api.Process, cols, rows int) (statusResult, error) {
	if cols == 0 {
		cols = p.Terminal.Cols
	}
	if rows == 0 {
		rows = p.Terminal.Rows
	}
	_, err := api.SessionResize.Call(ctx, f.Engine, api.SessionResizeInput{ID: p.ID, Cols: cols, Rows: rows})
	return statusResult{OK: true}, err
}

func (terminalShell) killSession(ctx context.Context, f *toolkit.Agent, p api.Process) error {
	_, err := api.SessionKill.Call(ctx, f.Engine, api.IDInput{ID: p.ID})
	return err
}
