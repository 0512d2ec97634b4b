package plugin

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
	"tandem/engine/mcp/toolkit"
)

const (
	execTimeoutMS = 30_000
	execLeastMS   = 100
	execMostMS    = 300_000

	// execChars is how many characters of each stream, and of each block of
	// text, are given unless more is asked for.
	execChars = 8000
	// execEnd is how many bytes of the head and of the tail are given of more, except in
	// the profile plugin.
	execEnd = 2000
)

type execInput struct {
	Command   toolkit.ShellLine `json:"command"`
	CWD       string            `json:"cwd,omitempty"`
	TimeoutMS *int              `json:"timeoutMs,omitempty" default:"30000" min:"100" max:"300000"`
	Env       toolkit.Env       `json:"env,omitempty"`
	Sandbox   sandboxInput      `json:"sandbox,omitempty" doc:"{filesystem:{denyRead,allowWrite,denyWrite},network:{allowedDomains,deniedDomains}}: lists; unlisted writes fail"`
	Kill      bool              `json:"kill,omitempty" doc:"at the timeout"`
	MaxOutput int               `json:"max_output,omitempty" default:"8000"`
}

func (in execInput) Subject(f *toolkit.Agent) toolkit.Subject {
	return toolkit.Subject{Command: string(in.Command), CWD: f.Folder(in.CWD), Env: in.Env}
}

// A CommandState is what exec tells beside the output.
type CommandState struct {
	ID         string `json:"id"`
	ExitCode   *int   `json:"exitCode,omitempty"` // none while it runs, and when a signal ended it
	Signal     string `json:"signal,omitempty"`
	TimedOut   bool   `json:"timedOut,omitempty"`
	DurationMS int64  `json:"durationMs"`

	NextCursor *toolkit.Cursor `json:"next_cursor,omitempty" schema:"-"` // of what goes on: since of process_log
}

func execCommand(ctx context.Context, f *toolkit.Agent, in execInput) (toolkit.Result, error) {
	if in.MaxOutput < 0 {
		return toolkit.Result{}, api.Errorf(api.CodeInvalid, "run command: max_output cannot be negative")
	}
	if err := toolkit.CheckLine("run command", string(in.Command), in.Env); err != nil {
		return toolkit.Result{}, err
	}
	confined, err := confinement(f, in.Sandbox, in.CWD)
	if err != nil {
		return toolkit.Result{}, err
	}
	timeout := execTimeoutMS
	if in.TimeoutMS != nil {
		timeout = min(max(*in.TimeoutMS, execLeastMS), execMostMS)
	}
	out, err := f.Exec(ctx, api.ExecInput{
		ID: api.NewID(), Command: shellArgv(f, string(in.Command)), CWD: f.Folder(in.CWD), Env: in.Env, Environ: f.ChildEnv(), Umask: f.Umask, Actor: f.Actor,
		Sandbox: confined, TimeoutMS: timeout, Kill: in.Kill, MaxOutput: max(in.MaxOutput, toolkit.MaxStream),
	})
	if err != nil {
		return toolkit.Result{}, f.StartError(in.CWD, err)
	}
	p := out.Process
	state := CommandState{ID: p.ID, ExitCode: p.ExitCode, Signal: p.ExitSignal, TimedOut: out.TimedOut, DurationMS: int64(math.Round(out.DurationMS))}
	if !p.State.Ended() {
		state.NextCursor = &toolkit.Cursor{At: out.StdoutCursor, Stderr: out.StderrCursor, Split: true}
		f.Seen.Set(p.ID, *state.NextCursor)
	}
	short := false
	if !f.UsesPluginFormat() {
		if short, err = shorten(ctx, f, &out, in.MaxOutput == 0); err != nil {
			return toolkit.Result{}, err
		}
	}
	if in.MaxOutput == 0 {
		in.MaxOutput = execChars
	}
	cut := short || out.StdoutDropped+out.StderrDropped > 0 || longer(out.Stdout, in.MaxOutput) || longer(out.Stderr, in.MaxOutput)
	end := ending(f, out, timeout)
	switch {
	case f.UsesPluginFormat():
	case cut && p.State.Ended():
		end += "\nAll of it: process_log id=" + p.ID + " since=0"
	case !cut && p.ExitCode != nil && *p.ExitCode == 0:
		if out.Stdout+out.Stderr != "" {
			end = "" // 0 goes without saying
		}
		end = withHint(withHint(end, unanswered(f, out)), leftRunning(f, out))
		return toolkit.Result{Content: execBlocks(out, in.MaxOutput, end)}.ForProcess(p.ID), nil
	}
	end = withHint(withHint(end, unanswered(f, out)), leftRunning(f, out))
	r := toolkit.Result{Content: execBlocks(out, in.MaxOutput, end)}.WithFacts(state).ForProcess(p.ID)
	if p.State.Ended() && (p.ExitCode == nil || *p.ExitCode != 0 || toolkit.IsTimedOut(out)) {
		r = r.AsFailure()
	}
	return r, nil
}

// shorten leaves of both streams what a terminal would show, and if ends is set of long
// ones the head and tail; cut reports whether it has left out any of what would be shown.
func shorten(ctx context.Context, f *toolkit.Agent, out *api.ExecOutput, ends bool) (cut bool, err error) {
	for _, s := range []struct {
		name    string
		text    *string
		dropped *int64
	}{{"stdout", &out.Stdout, &out.StdoutDropped}, {"stderr", &out.Stderr, &out.StderrDropped}} {
		if *s.text = toolkit.KeepLastDrawn(*s.text); !ends {
			continue
		}
		whole, head := *s.text, *s.text
		text := toolkit.ShortenLines(whole)
		if *s.dropped > 0 {
			if head, err = logHead(ctx, f, out.Process.ID, s.name); err != nil {
				return cut, err
			}
		} else if len(text) <= execChars {
			cut = cut || len(text) < len(whole)
			*s.text = text
			continue
		}
		*s.text, cut = headAndTail(head, whole, *s.dropped, s.name), true
		*s.dropped = 0
	}
	return cut, nil
}

// logHead is the beginning of a stream.
func logHead(ctx context.Context, f *toolkit.Agent, id, stream string) (string, error) {
	since := int64(0)
	out, err := api.ProcessLog.Call(ctx, f.Engine, api.ProcessLogInput{ID: id, Stream: stream, Since: &since, Max: execChars})
	return toolkit.KeepLastDrawn(toolkit.StripSequences(out.Data)), err
}

// headAndTail is the beginning of one text and the end of another, with a note between them
// of how much is left out.
func headAndTail(head, text string, dropped int64, stream string) string {
	left := dropped + int64(utf8.RuneCountInString(text))
	head, tail := head[:min(execEnd, len(head))], text[max(0, len(text)-execEnd):]
	if end := strings.LastIndexByte(head, '\n') + 1; end > len(head)/2 {
		head = head[:end]
	}
	if begin := strings.IndexByte(tail, '\n') + 1; begin < len(tail)/2 {
		tail = tail[begin:]
	}
	head, tail = strings.ToValidUTF8(head, ""), strings.ToValidUTF8(tail, "")
	left -= int64(utf8.RuneCountInString(head) + utf8.RuneCountInString(tail))
	note := fmt.Sprintf("... (%s chars truncated from %s)\n", thousands(left), stream)
	head, tail = toolkit.ShortenLines(head), toolkit.ShortenLines(tail)
	return head + toolkit.NewlineBetween(head, note) + note + tail
}

// longer reports whether a text has more characters than a number.
func longer(s string, most int) bool { return len(s) > most && utf8.RuneCountInString(s) > most }

// shellArgv is how a line for a shell is run.
func shellArgv(f *toolkit.Agent, line string) []string {
	return []string{cmp.Or(f.Shell, lineShell()), "-c", line}
}

// lineShell is bash, or sh where there is none.
var lineShell = sync.OnceValue(func() string {
	if _, err := exec.LookPath("bash"); err != nil {
		return "sh"
	}
	return "bash"
})

// ending says how a command ended, or that it has not.
func ending(f *toolkit.Agent, out api.ExecOutput, timeoutMS int) string {
	p := out.Process
	var how string
	switch {
	case p.ExitCode != nil:
		how = fmt.Sprintf("Exit code: %d", *p.ExitCode)
	case p.ExitSignal != "":
		how = "Signal: " + p.ExitSignal
	case p.State == api.StateFailed:
		how = "Failed: " + p.Error
	case p.State.Ended():
		how = "Exit code: unknown"
	default:
		return fmt.Sprintf("Timed out after %d ms; it continues as process %s. %s", timeoutMS, p.ID, whereRest(f, p))
	}
	if out.TimedOut {
		how = fmt.Sprintf("Timed out after %d ms and was killed. %s", timeoutMS, how)
	}
	return how
}

// unanswered says what runs a command that has ended with a question: its standard input
// was empty.
func unanswered(f *toolkit.Agent, out api.ExecOutput) string {
	const tool = "session_start"
	if f.UsesPluginFormat() || !out.Process.State.Ended() || !asks(out.Stdout) && !asks(out.Stderr) || !f.Options.Offers(tool, toolkit.Native) {
		return ""
	}
	return "[it asked for input and had none: " + f.Options.ToolPrefix + tool + " runs it where you can answer]"
}

// leftRunning says that a command has left processes running, which no list has.
func leftRunning(f *toolkit.Agent, out api.ExecOutput) string {
	if out.Left == 0 || f.UsesPluginFormat() {
		return ""
	}
	left := "1 process that it started keeps running"
	if out.Left > 1 {
		left = fmt.Sprintf("%d processes that it started keep running", out.Left)
	}
	return "[" + left + "; " + f.Options.ToolPrefix + "process_start starts what can be listed and stopped]"
}

// asks reports whether what was printed ends as questions do.
func asks(printed string) bool {
	return strings.HasSuffix(printed, "?") || slices.ContainsFunc([]string{"? ", ": ", "] ", ") "}, func(end string) bool { return strings.HasSuffix(printed, end) })
}

func withHint(end, hint string) string { return end + toolkit.NewlineBetween(end, hint) + hint }

// whereRest says how to get what a command that goes on will print.
func whereRest(f *toolkit.Agent, p api.Process) string {
	next, known := f.Seen.At(p.ID)
	if tool := "process_log"; known && f.Options.Offers(tool, toolkit.Native) {
		return fmt.Sprintf("%s returns later output (next_cursor %s).", f.Options.ToolPrefix+tool, next)
	}
	return fmt.Sprintf("Log: %s and %s", p.LogPath, filepath.Base(p.ErrorLogPath))
}

// execBlocks are stdout, stderr and the ending: in one block if they fit, else
// in one each, so that the end of each is seen.
func execBlocks(out api.ExecOutput, most int, ending string) []sdk.Content {
	var parts []string
	if s := lastChars(out.Stdout, out.StdoutDropped, most, "stdout"); s != "" {
		parts = append(parts, s)
	}
	if s := lastChars(out.Stderr, out.StderrDropped, most, "stderr"); s != "" {
		parts = append(parts, "stderr:\n"+s)
	}
	if ending != "" {
		parts = append(parts, ending)
	}
	parts = together(parts)
	blocks := make([]sdk.Content, len(parts))
	for i, part := range parts {
		blocks[i] = &sdk.TextContent{Text: part}
	}
	return blocks
}

// together puts parts in one, each on a line of its own, if that is short.
func together(parts []string) []string {
	whole := ""
	for _, part := range parts {
		if whole += toolkit.NewlineBetween(whole, part); len(whole)+len(part) > utf8.UTFMax*execChars {
			return parts
		}
		whole += part
	}
	if utf8.RuneCountInString(whole) > execChars {
		return parts
	}
	return []string{whole}
}

// lastChars is the end of a stream, with a note of how much is before it.
func lastChars(s string, dropped int64, most int, stream string) string {
	if len(s) <= most && dropped == 0 {
		return s
	}
	excess := utf8.RuneCountInString(s) - most
	if excess <= 0 && dropped == 0 {
		return s
	}
	rest := s
	for range excess {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	return fmt.Sprintf("... (%s chars truncated from %s)\n%s", thousands(dropped+int64(max(excess, 0))), stream, rest)
}

// thousands is a number with a comma before every three digits.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}
