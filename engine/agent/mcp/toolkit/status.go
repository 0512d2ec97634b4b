package toolkit

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
	"tandem/engine/base/shell"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/scan"
)

const (
	// MaxStream is the maximum size of one output stream in a result.
	MaxStream = 1 << 20
	// NoTimeout is the timeout of calls without a limit.
	NoTimeout = 24 * time.Hour
	// StopTimeout is the time from SIGTERM to SIGKILL, in milliseconds.
	StopTimeout = 5000
)

// ExitCode returns the exit code of an exited process, or 128 plus the signal's number if a signal
// killed it, as in shells. ok is false if it is unknown.
func ExitCode(p api.Process) (code int, ok bool) {
	if p.ExitCode != nil {
		return *p.ExitCode, true
	}
	if n := unix.SignalNum(p.ExitSignal); n > 0 {
		return 128 + int(n), true
	}
	return 0, false
}

func ExitText(p api.Process) string {
	if code, ok := ExitCode(p); ok {
		return strconv.Itoa(code)
	}
	return "unknown"
}

// Outcome describes how a process exited, and who stopped it.
func Outcome(p api.Process) string {
	text := exitOutcome(p)
	if p.EndedBy != "" {
		text += ", stopped by " + ActorName(p.EndedBy)
	}
	return text
}

// ActorName returns the name of an actor in texts.
func ActorName(actor string) string { return scan.Visible(api.ActorName(actor)) }

func exitOutcome(p api.Process) string {
	switch {
	case p.ExitCode != nil:
		return fmt.Sprintf("exit code %d", *p.ExitCode)
	case p.ExitSignal != "":
		return "ended by " + p.ExitSignal
	case p.Error != "":
		return "failed: " + p.Error
	}
	return "exit code unknown"
}

// StateText describes the state of a process or session.
func StateText(p api.Process) string {
	text := string(p.State)
	if p.State == api.StateStopped && p.EndedBy != "" {
		text += " by " + ActorName(p.EndedBy)
	}
	switch {
	case p.ExitCode != nil || p.ExitSignal != "":
		text += ", " + exitOutcome(p)
	case p.State == api.StateWaiting:
		text += " for " + p.DependencyNames()
	case p.PID != 0:
		text += fmt.Sprintf(", pid %d", p.PID)
		if p.WaitsForInput() {
			text += ", waits for input that will not come (end its command with </dev/null to avoid that)"
		}
	}
	if p.HasRemains() {
		text += ", left running: " + PIDs(p.Metrics.LeftPIDs)
	}
	return text
}

// PIDs lists the processes that an exited one left running.
func PIDs(left []int) string {
	const most = 5
	text := "pid "
	for i, pid := range left[:min(len(left), most)] {
		if i > 0 {
			text += ", "
		}
		text += strconv.Itoa(pid)
	}
	if len(left) > most {
		text += fmt.Sprintf(" and %d more", len(left)-most)
	}
	return text
}

// RunTime returns how long a process has run.
func RunTime(p api.Process) time.Duration {
	end := time.Now()
	if p.ExitedAt != nil {
		end = *p.ExitedAt
	}
	return max(end.Sub(p.StartedAt), 0)
}

// StartFailure returns why the program in argv could not be started, preceded by its name.
func StartFailure(argv []string, err error) string {
	message := api.AsError(err).Message
	if len(argv) > 0 {
		if why, ok := strings.CutPrefix(message, "start "+strconv.Quote(argv[0])+": "); ok {
			return Abbreviate(argv[0]) + ": " + why
		}
	}
	return message
}

// StreamOutput returns the end of one output stream of a process, at most MaxStream bytes. dropped
// is the number of bytes before it. If the log is not split, everything counts as stdout.
func (f *Agent) StreamOutput(ctx context.Context, p api.Process, stream string) (output string, dropped int64, err error) {
	if p.Supervision == nil || !p.Supervision.SplitLog {
		if stream == "stderr" {
			return "", 0, nil
		}
		stream = ""
	}
	since := int64(-MaxStream)
	out, err := api.ProcessLog.Call(ctx, f.Engine, api.ProcessLogInput{ID: p.ID, Stream: stream, Since: &since, Max: MaxStream})
	return StripSequences(out.Data), out.Start, err
}

// StartProcess starts a process as the agent.
func (f *Agent) StartProcess(ctx context.Context, in api.ProcessStartInput) (api.Process, error) {
	in.ID, in.Environ, in.Umask, in.Actor = api.NewID(), f.ChildEnv(), f.Umask, f.Actor
	return api.ProcessStart.Call(ctx, f.Engine, in)
}

// StartSession starts a session as the agent.
func (f *Agent) StartSession(ctx context.Context, in api.SessionStartInput) (api.Process, error) {
	in.ID, in.Environ, in.Umask, in.Actor = api.NewID(), f.ChildEnv(), f.Umask, f.Actor
	return api.SessionStart.Call(ctx, f.Engine, in)
}

// Streams returns both output streams of a command, each after a note if its beginning is missing.
func Streams(out api.ExecOutput) (stdout, stderr string) {
	return NoteOmitted(out.StdoutDropped, out.Process.LogPath) + out.Stdout, NoteOmitted(out.StderrDropped, out.Process.ErrorLogPath) + out.Stderr
}

// NoteOmitted states how much of a log is missing from a result, and its path.
func NoteOmitted(dropped int64, path string) string {
	if dropped <= 0 {
		return ""
	}
	return "[" + strconv.FormatInt(dropped, 10) + " bytes before this are in " + cmp.Or(path, "the log") + "]\n"
}

// LastLines returns the last n lines of a text, and whether there were more.
func LastLines(text string, n int) (lines string, cut bool) {
	if n == 0 {
		return "", text != ""
	}
	at := len(strings.TrimSuffix(text, "\n"))
	for ; n > 0; n-- {
		if at = strings.LastIndexByte(text[:at], '\n'); at < 0 {
			return text, false
		}
	}
	return text[at+1:], true
}

// JSONText encodes a value without escaping <, > and &.
func JSONText(v any) string {
	b, err := Encode(v)
	if err != nil {
		return "null" // values of tools can always be encoded
	}
	return string(b)
}

// NewlineBetween returns what separates two texts on their own lines: a newline, or "" if head
// already ends in one or if one of the texts is empty.
func NewlineBetween(head, tail string) string {
	if head == "" || tail == "" || strings.HasSuffix(head, "\n") {
		return ""
	}
	return "\n"
}

// AnswerJSON returns a value as JSON text and as structured content.
func AnswerJSON(v any) Result { return Text(JSONText(v)).WithSameFacts(v) }

// AwaitPrompt waits until a session's shell shows its prompt or is silent for a while, and reports
// whether it still runs. A timeout is not an error: the caller uses the session anyway.
func AwaitPrompt(ctx context.Context, f *Agent, id string) (alive bool) {
	timeoutMS := int(firstPromptTimeout.Milliseconds())
	out, err := api.SessionWait.Call(ctx, f.Engine, api.SessionWaitInput{ID: id, Prompt: true, Exit: true, TimeoutMS: timeoutMS})
	if err == nil && out.Met == "" {
		out, err = api.SessionWait.Call(ctx, f.Engine, api.SessionWaitInput{ID: id, IdleMS: int(firstPromptSilence.Milliseconds()), TimeoutMS: timeoutMS})
	}
	return err != nil || !out.Process.State.Ended()
}

// IsTimedOut reports whether a command ran past its timeout and had not exited by itself at that
// moment.
func IsTimedOut(out api.ExecOutput) bool {
	return out.TimedOut && (out.Process.State == api.StateStopped || !out.Process.State.Ended())
}

// ValueOr returns the value of an optional argument, or the default.
func ValueOr[T any](given *T, value T) T {
	if given != nil {
		return *given
	}
	return value
}

// CompleteLength returns the length of data without an incomplete character or control sequence at
// the end.
func CompleteLength(data []byte) int {
	end := scan.CompleteLen(data)
	for i := end - 1; i >= 0 && end-i <= MaxIncomplete; i-- {
		if data[i] == esc {
			if _, whole := styled.Sequence(data[i:end]); !whole {
				return i
			}
			break
		}
	}
	return end
}

// A StartedResult tells an agent about a started process or session.
type StartedResult struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	PID   int    `json:"pid,omitempty"`
	Waits string `json:"waits,omitempty"` // of a session: input, secret, or prompt (the next command)
}

// Unsaid implements Brief: the text has the id, the name and the state.
func (s StartedResult) Unsaid() any {
	return struct {
		PID int `json:"pid,omitempty"`
	}{s.PID}
}

func (s StartedResult) String() string { return fmt.Sprintf("Started %s (%s).", s.Name, s.ID) }

// WaitInTurns repeats a wait in calls short enough for the engine until wait reports that it is
// over, or the timeout has passed. A timeout of 0 means defaultWait.
func WaitInTurns[Out any](timeoutMS int, wait func(turnMS int) (out Out, over bool, err error)) (Out, error) {
	if timeoutMS < 0 {
		var none Out
		return none, api.Errorf(api.CodeInvalid, "wait: timeout_ms cannot be negative")
	}
	timeout := cmp.Or(time.Duration(timeoutMS)*time.Millisecond, defaultWait)
	return retry.RepeatUntil(min(timeout, maxWait), wait)
}

type IDInput struct {
	ID string `json:"id"`
}

// Argv returns the argv for a line. It avoids the shell if possible, so that the process
// list shows the program itself.
func Argv(line string) []string {
	line = strings.TrimSpace(line)
	words, ok := shell.Words(line)
	if !ok && line != "" {
		return []string{"/bin/sh", "-c", line}
	}
	return words
}

const (
	defaultWait = 50 * time.Second // less than clients' own limits
	maxWait     = 10 * time.Minute

	// firstPromptTimeout limits the wait for a new shell's first prompt, and firstPromptSilence is
	// the silence taken for a prompt if the shell does not report one.
	firstPromptTimeout = 5 * time.Second
	firstPromptSilence = 500 * time.Millisecond
)

// Exec runs a command as the agent and strips terminal sequences from its output.
func (f *Agent) Exec(ctx context.Context, in api.ExecInput) (api.ExecOutput, error) {
	in.ID, in.Environ, in.Umask, in.Actor = api.NewID(), f.ChildEnv(), f.Umask, f.Actor
	out, err := api.Exec.Call(ctx, f.Engine, in)
	out.Stdout, out.Stderr = StripSequences(out.Stdout), StripSequences(out.Stderr)
	return out, err
}
