package toolkit

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/rendered"
	"tandem/engine/vt/scan"
)

const (
	// StreamMost bounds how much of one stream of output a result holds.
	StreamMost = 1 << 20
	// UntilDone is the time-out of a call that waits as long as it takes.
	UntilDone = 24 * time.Hour
	// StopTimeout is the time from SIGTERM to SIGKILL, in milliseconds.
	StopTimeout = 5000
)

// ExitCode is the exit code of what has ended, 128 and the signal's number of
// what a signal ended, as shells have it; ok is false if nobody knows.
func ExitCode(p api.Process) (code int, ok bool) {
	if p.ExitCode != nil {
		return *p.ExitCode, true
	}
	if n := unix.SignalNum(p.ExitSignal); n > 0 {
		return 128 + int(n), true
	}
	return 0, false
}

// ExitText is ExitCode in words.
func ExitText(p api.Process) string {
	if code, ok := ExitCode(p); ok {
		return strconv.Itoa(code)
	}
	return "unknown"
}

// Lasted is how long a process ran, or has run.
func Lasted(p api.Process) time.Duration {
	end := time.Now()
	if p.ExitedAt != nil {
		end = *p.ExitedAt
	}
	return max(end.Sub(p.StartedAt), 0)
}

// CannotStart is why a program could not be started, after its name.
func CannotStart(argv []string, err error) string {
	message := api.AsError(err).Message
	if len(argv) > 0 {
		if why, ok := strings.CutPrefix(message, "start "+strconv.Quote(argv[0])+": "); ok {
			return Brief(argv[0]) + ": " + why
		}
	}
	return message
}

// Printed is the end of what a process has printed to one of its streams, at
// most StreamMost bytes; dropped counts those before it. Of a process that does
// not keep its streams apart stdout is all.
func (f *Agent) Printed(ctx context.Context, p api.Process, stream string) (output string, dropped int64, err error) {
	if p.Supervision == nil || !p.Supervision.SplitLog {
		if stream == "stderr" {
			return "", 0, nil
		}
		stream = ""
	}
	since := int64(-StreamMost)
	var b strings.Builder
	for {
		in := api.ProcessLogInput{ID: p.ID, Stream: stream, Since: &since, Max: StreamMost}
		out, err := api.ProcessLog.Call(ctx, f.Engine, in)
		if err != nil {
			return "", 0, err
		}
		if b.Len() == 0 {
			dropped = out.Start
		}
		b.WriteString(out.Data)
		if out.NextCursor <= max(since, out.Start) || out.NextCursor >= out.End || b.Len() >= 2*StreamMost {
			return Stripped(b.String()), dropped, nil
		}
		since = out.NextCursor
	}
}

// CutNote says what of a log is not in a result, and where it is.
func CutNote(dropped int64, path string) string {
	if dropped <= 0 {
		return ""
	}
	return "[" + strconv.FormatInt(dropped, 10) + " bytes before this are in " + cmp.Or(path, "the log") + "]\n"
}

// LastLines is the end of text: so many lines, and whether there were more.
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

// JSONText is a value as JSON that leaves <, > and & readable.
func JSONText(v any) string {
	b, err := Encode(v)
	if err != nil {
		return "null" // nothing that tools answer with does that
	}
	return string(b)
}

// LineBetween ends a line that what follows shall not go on.
func LineBetween(before, after string) string {
	if before == "" || after == "" || strings.HasSuffix(before, "\n") {
		return ""
	}
	return "\n"
}

// AnswerJSON answers with a value as JSON text and structured.
func AnswerJSON(v any) Result { return Text(JSONText(v)).As(v) }

// AwaitPrompt waits until a session's shell is at its prompt, or is silent for
// a while. That it is neither is no error: the caller looks at what there is.
func AwaitPrompt(ctx context.Context, f *Agent, id string) {
	start := int64(0)
	in := api.SessionWaitInput{ID: id, Prompt: true, Exit: true, TimeoutMS: int(firstPrompt.Milliseconds())}
	if out, err := api.SessionWait.Call(ctx, f.Engine, in); err == nil && out.Met != "" {
		return
	}
	_, _ = api.ProcessWait.Call(ctx, f.Engine, api.ProcessWaitInput{
		ID: id, Since: &start, IdleMS: int(firstSilence.Milliseconds()), TimeoutMS: int(firstPrompt.Milliseconds()),
	})
}

// Overdue reports whether a command was ended because its time was over, and
// had not ended by itself at that moment.
func Overdue(out api.ExecOutput) bool {
	return out.TimedOut && (out.Process.State == api.StateStopped || !out.Process.State.Ended())
}

// CommandShell runs command lines: bash, or sh where there is none.
func CommandShell() string {
	if _, err := exec.LookPath("bash"); err != nil {
		return "/bin/sh"
	}
	return "bash"
}

// WholeLength is how much of data does not end within a character or a control
// sequence.
func WholeLength(data []byte) int {
	end := scan.CompleteLen(data)
	for i := end - 1; i >= 0 && end-i <= CutMost; i-- {
		if data[i] == esc {
			if _, whole := rendered.Sequence(data[i:end]); !whole {
				return i
			}
			break
		}
	}
	return end
}

// Started is what an agent is told of what it has started.
type Started struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	PID   int    `json:"pid,omitempty"`
	Waits string `json:"waits,omitempty"` // of a session: input, secret, or prompt: the next command
}

func (s Started) String() string { return fmt.Sprintf("Started %s (%s).", s.Name, s.ID) }

// InTurns waits in calls that are as long as the engine lets one be.
func InTurns(timeoutMS int, wait func(timeoutMS int) (over bool, err error)) error {
	timeout := time.Duration(timeoutMS) * time.Millisecond
	switch {
	case timeoutMS < 0:
		return api.Errorf(api.CodeInvalid, "wait: timeout_ms cannot be negative")
	case timeoutMS == 0:
		timeout = waitDefault
	}
	end := time.Now().Add(min(timeout, waitMost))
	for {
		left := min(time.Until(end), waitOnce)
		over, err := wait(max(1, int(left.Milliseconds())))
		if over || err != nil || time.Until(end) < time.Millisecond {
			return err
		}
	}
}

type IDInput struct {
	ID string `json:"id"`
}

// CommandLine is the argv for a line: the words themselves where a shell has
// nothing to do, so that the program is known for what it is.
func CommandLine(line string) []string {
	line = strings.TrimSpace(line)
	switch {
	case line == "":
		return nil
	case strings.ContainsAny(line, "|&;<>()$`\\\"'*?[]#~=%!{}\n"):
		return []string{"/bin/sh", "-c", line}
	}
	return strings.Fields(line)
}

const (
	waitOnce    = 50 * time.Second // of one call to the engine
	waitDefault = 50 * time.Second // below what clients allow a call
	waitMost    = 10 * time.Minute

	// firstPrompt is how long a shell may take to its first prompt, and
	// firstSilence what counts as one where it does not tell.
	firstPrompt  = 5 * time.Second
	firstSilence = 500 * time.Millisecond
)

// Exec runs a command and strips terminal sequences from its output.
func (f *Agent) Exec(ctx context.Context, in api.ExecInput) (api.ExecOutput, error) {
	out, err := api.Exec.Call(ctx, f.Engine, in)
	out.Stdout, out.Stderr = Stripped(out.Stdout), Stripped(out.Stderr)
	return out, err
}
