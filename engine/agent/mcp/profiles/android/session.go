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

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

const (
	defaultExecSeconds = 30 // for exec
	maxExecSeconds     = 300
	// lastOutputSize is how much output of an ended session is returned again once everything has
	// been read.
	lastOutputSize = 4 << 10
	// maxExecData is how much output of one command is returned.
	maxExecData = 8 * toolkit.MaxStream
)

// localSessionInput holds the arguments for sessions with and without a terminal.
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
	return runAction(ctx, f, pipeShell{}, in)
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
		return startSession(ctx, f, b, in)
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
		err = deadError(ctx, f, p)
	}
	if errors.Is(err, api.CodeConflict) {
		err = androidErrorf("session_busy", "%s; %s", api.AsError(err).Message, b.busyHint())
	}
	if err != nil {
		return toolkit.Result{}, err
	}
	return toolkit.AnswerJSON(answer).ForProcess(p.ID), nil
}

// actOnSession performs an action on one session.
func actOnSession(ctx context.Context, f *toolkit.Agent, b shellBackend, p api.Process, in localSessionInput) (any, error) {
	if p.State.Ended() && in.Action != "read" && in.Action != "kill" {
		return nil, deadError(ctx, f, p)
	}
	switch in.Action {
	case "exec":
		return execCommand(ctx, f, p, in)
	case "write":
		return statusResult{OK: true}, b.writeInput(ctx, f, p, in.Input)
	case "read":
		return readOutput(ctx, f, p, 0)
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
	if errors.Is(err, api.CodeNotFound) || err == nil && (!b.ownsSession(p) || !p.IsCalled(in.SessionID)) {
		return p, androidErrorf("session_not_found", "no such session: %s", in.SessionID)
	}
	return p, err
}

// deadError returns the error for an ended session, with its last output.
func deadError(ctx context.Context, f *toolkit.Agent, p api.Process) error {
	e := androidErrorf("session_dead", "session %s has ended", p.ID)
	out, err := readOutput(ctx, f, p, 0)
	// Another agent may have read the end already.
	if err == nil && out.Output == "" {
		out.Output, err = readLastOutput(ctx, f, p)
	}
	if err == nil {
		e.Output = &out.Output
	}
	return e
}

// readLastOutput returns the end of a session's output, read or not.
func readLastOutput(ctx context.Context, f *toolkit.Agent, p api.Process) (string, error) {
	raw, err := f.ReadRaw(ctx, p.ID, -lastOutputSize, lastOutputSize)
	return outputText(p, raw.Text), err
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

// outputText returns a session's output as text. The output of a terminal keeps the escape
// sequences of the program, which draw its screen. Without a terminal all sequences are removed, as
// from the output of other commands.
func outputText(p api.Process, raw string) string {
	if p.Terminal == nil {
		return toolkit.StripSequences(raw)
	}
	return shellMarks().ReplaceAllString(raw, "")
}

func startSession(ctx context.Context, f *toolkit.Agent, b shellBackend, in localSessionInput) (toolkit.Result, error) {
	in.CWD = api.AbsolutePath(in.CWD, b.startFolder(f), f.Options.Home)
	p, output, err := b.startShell(ctx, f, in)
	if err != nil {
		return toolkit.Result{}, err
	}
	return toolkit.AnswerJSON(startResult{p.ID, output}).ForProcess(p.ID), nil
}

// execCommand runs a command and returns all output since the last read. The terminal's echo is
// replaced by the command itself, because it also shows what Tandem types around the command.
func execCommand(ctx context.Context, f *toolkit.Agent, p api.Process, in localSessionInput) (any, error) {
	ran, err := api.SessionExec.Call(ctx, f.Engine, api.SessionExecInput{
		ID: p.ID, Command: string(in.Command), TimeoutMS: in.timeoutSeconds() * 1000, MaxOutput: 1,
	})
	if err != nil {
		return nil, err
	}
	var before sessionOutput
	seen, _ := f.Seen.At(p.ID)
	if ran.OutputStart > max(ran.Start, seen.At) {
		if ran.Start > seen.At {
			if before, err = readOutput(ctx, f, p, ran.Start); err != nil {
				return nil, err
			}
		}
		before.Output += strings.ReplaceAll(string(in.Command), "\n", "\r\n") + "\r\n"
		f.Seen.Set(p.ID, toolkit.Cursor{At: ran.OutputStart})
	}
	out, err := readOutput(ctx, f, p, ran.NextCursor)
	if out.Dropped == 0 {
		out.Output, out.Dropped = before.Output+out.Output, before.Dropped
	} else {
		out.Dropped += before.Dropped + int64(len(before.Output))
	}
	out.Alive = ran.Alive
	return execResult{
		sessionOutput: out, ExitCode: ran.ExitCode, DurationMS: math.Round(ran.DurationMS), Waits: ran.Waits,
		TimedOut: ran.TimedOut,
	}, err
}

// readOutput returns the output of a session since the last read: at most MaxStream bytes or, if
// end is not 0, everything up to that offset.
func readOutput(ctx context.Context, f *toolkit.Agent, p api.Process, end int64) (sessionOutput, error) {
	seen, _ := f.Seen.At(p.ID)
	since, limit := seen.At, toolkit.MaxStream
	if end > 0 {
		since = max(since, end-maxExecData) // of endless output, keep the end
		limit = max(int(end-since), 1)
	}
	raw, err := f.ReadRaw(ctx, p.ID, since, limit)
	if err != nil {
		return sessionOutput{}, err
	}
	f.Seen.Set(p.ID, toolkit.Cursor{At: raw.Next})
	return sessionOutput{Output: outputText(p, raw.Text), Alive: raw.Alive, Dropped: since - seen.At + raw.Dropped, More: end == 0 && raw.Full}, nil
}
