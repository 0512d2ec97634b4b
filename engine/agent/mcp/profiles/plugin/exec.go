package plugin

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/base/shell"
)

const (
	defaultExecTimeoutMS = 30_000
	minExecTimeoutMS     = 100
	maxExecTimeoutMS     = 300_000

	// maxExecChars is the maximum number of characters of each stream and text block, unless a call
	// asks for more.
	maxExecChars = 8000
	// maxExecEnd is how many bytes of the head and of the tail of longer output are returned,
	// except in the plugin profile.
	maxExecEnd = 2000
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

// A CommandState holds the facts about a command besides its output.
type CommandState struct {
	ID         string `json:"id"`
	ExitCode   *int   `json:"exitCode,omitempty"` // nil while it runs, and if a signal killed it
	Signal     string `json:"signal,omitempty"`
	TimedOut   bool   `json:"timedOut,omitempty"`
	DurationMS int64  `json:"durationMs"`

	NextCursor *toolkit.Cursor `json:"next_cursor,omitempty" schema:"-"` // the value to pass to process_log as since, for a command still running

	whole bool // the profile's document lists the facts
}

// Unsaid implements toolkit.Brief. It leaves out the id and the outcome, which the text states
// where they matter.
func (s CommandState) Unsaid() any {
	if s.whole {
		return s
	}
	var slow struct {
		DurationMS int64 `json:"durationMs,omitempty"`
	}
	if s.DurationMS >= 1000 && !s.TimedOut {
		slow.DurationMS = s.DurationMS
	}
	return slow
}

func runCommand(ctx context.Context, f *toolkit.Agent, in execInput) (toolkit.Result, error) {
	if in.MaxOutput < 0 {
		return toolkit.Result{}, api.Errorf(api.CodeInvalid, "run command: max_output cannot be negative")
	}
	if err := toolkit.CheckLine("run command", string(in.Command), in.Env); err != nil {
		return toolkit.Result{}, err
	}
	sandbox, err := parseSandbox(f, in.Sandbox, in.CWD)
	if err != nil {
		return toolkit.Result{}, err
	}
	timeout := min(max(toolkit.ValueOr(in.TimeoutMS, defaultExecTimeoutMS), minExecTimeoutMS), maxExecTimeoutMS)
	out, err := f.Exec(ctx, api.ExecInput{
		Command: shellArgv(f, string(in.Command)), CWD: f.Folder(in.CWD), Env: in.Env, Sandbox: sandbox,
		TimeoutMS: timeout, Kill: in.Kill, MaxOutput: max(in.MaxOutput, toolkit.MaxStream),
	})
	if err != nil {
		return toolkit.Result{}, f.StartError(in.CWD, err)
	}
	p := out.Process
	state := CommandState{ID: p.ID, ExitCode: p.ExitCode, Signal: p.ExitSignal, TimedOut: out.TimedOut, DurationMS: int64(math.Round(out.DurationMS)), whole: f.UsesPluginFormat()}
	// The rest of its output is read with process_log, so remember the position.
	if !p.State.Ended() {
		state.NextCursor = &toolkit.Cursor{At: out.StdoutCursor, Stderr: out.StderrCursor, Split: true}
		f.Seen.Set(p.ID, *state.NextCursor)
	}
	stdout, cut, err := shapeStream(ctx, f, p.ID, stream{"stdout", out.Stdout, out.StdoutDropped}, in.MaxOutput)
	if err != nil {
		return toolkit.Result{}, err
	}
	stderr, cutErrors, err := shapeStream(ctx, f, p.ID, stream{"stderr", out.Stderr, out.StderrDropped}, in.MaxOutput)
	if err != nil {
		return toolkit.Result{}, err
	}
	cut = cut || cutErrors
	end := endingLine(f, out, timeout)
	// Success goes without saying.
	succeeded := !f.UsesPluginFormat() && !cut && p.ExitCode != nil && *p.ExitCode == 0
	switch {
	case succeeded && stdout+stderr != "":
		end = ""
	case cut && p.State.Ended() && !f.UsesPluginFormat():
		end += "\nAll of it: process_log id=" + p.ID + " since=0"
	}
	end = withHint(end, childrenHint(f, out))
	r := toolkit.Result{Content: execBlocks(stdout, stderr, end)}.ForProcess(p.ID)
	if succeeded {
		return r, nil
	}
	// A command still running is no failure.
	if p.State.Ended() && (p.ExitCode == nil || *p.ExitCode != 0 || toolkit.IsTimedOut(out)) {
		r = r.AsFailure()
	}
	return r.WithFacts(state), nil
}

// A stream is the end of an output stream, with the number of bytes before it.
type stream struct {
	name    string
	text    string
	dropped int64
}

// shapeStream returns a stream as shown to an agent: its end, up to limit characters. If limit is
// 0, the plugin profile uses its default, and other profiles show the head and tail of long output.
// cut reports whether anything visible is left out.
func shapeStream(ctx context.Context, f *toolkit.Agent, id string, s stream, limit int) (text string, cut bool, err error) {
	if !f.UsesPluginFormat() {
		s.text = toolkit.KeepLastDrawn(s.text)
	}
	if f.UsesPluginFormat() || limit > 0 {
		text, cut = s.lastChars(cmp.Or(limit, maxExecChars))
		return text, cut, nil
	}
	text = toolkit.ShortenLines(s.text)
	if s.dropped == 0 && len(text) <= maxExecChars {
		return text, len(text) < len(s.text), nil
	}
	head := s.text
	// The stream lost its beginning on the way; fetch it from the log.
	if s.dropped > 0 {
		if head, err = readLogHead(ctx, f, id, s.name); err != nil {
			return "", false, err
		}
	}
	return s.keepHeadAndTail(head), true, nil
}

// readLogHead returns the beginning of a stream.
func readLogHead(ctx context.Context, f *toolkit.Agent, id, stream string) (string, error) {
	since := int64(0)
	out, err := api.ProcessLog.Call(ctx, f.Engine, api.ProcessLogInput{ID: id, Stream: stream, Since: &since, Max: maxExecChars})
	return toolkit.KeepLastDrawn(toolkit.StripSequences(out.Data)), err
}

// keepHeadAndTail returns the start of the text head, a note on the number of characters omitted,
// and the end of the stream.
func (s stream) keepHeadAndTail(head string) string {
	head, tail := toolkit.WholeLines(head[:min(maxExecEnd, len(head))], s.text[max(0, len(s.text)-maxExecEnd):])
	left := s.dropped + int64(utf8.RuneCountInString(s.text)-utf8.RuneCountInString(head)-utf8.RuneCountInString(tail))
	head, tail = toolkit.ShortenLines(head), toolkit.ShortenLines(tail)
	note := s.noteLeft(left)
	return head + toolkit.NewlineBetween(head, note) + note + tail
}

// lastChars returns the end of the stream, up to limit characters, after a note on the size of the
// rest.
func (s stream) lastChars(limit int) (text string, cut bool) {
	excess := 0
	// Counting bytes first avoids decoding short texts.
	if len(s.text) > limit {
		excess = max(0, utf8.RuneCountInString(s.text)-limit)
	}
	if excess == 0 && s.dropped == 0 {
		return s.text, false
	}
	rest := s.text
	// Cut whole characters, counted as the note counts them.
	for range excess {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	return s.noteLeft(s.dropped+int64(excess)) + rest, true
}

// noteLeft states how many characters of the stream are left out.
func (s stream) noteLeft(n int64) string {
	return fmt.Sprintf("... (%s chars truncated from %s)\n", groupThousands(n), s.name)
}

// shellArgv returns the argv for a shell line.
func shellArgv(f *toolkit.Agent, line string) []string {
	return []string{cmp.Or(f.Shell, shell.CommandShell()), "-c", line}
}

// endingLine describes how a command exited, or that it still runs.
func endingLine(f *toolkit.Agent, out api.ExecOutput, timeoutMS int) string {
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
		return fmt.Sprintf("Timed out after %d ms; it continues as process %s. %s", timeoutMS, p.ID, restHint(f, p))
	}
	if out.TimedOut {
		how = fmt.Sprintf("Timed out after %d ms and was killed. %s", timeoutMS, how)
	}
	return how
}

// childrenHint names the processes that a command left running.
func childrenHint(f *toolkit.Agent, out api.ExecOutput) string {
	if len(out.LeftPIDs) == 0 || f.UsesPluginFormat() {
		return ""
	}
	them := "it"
	if len(out.LeftPIDs) > 1 {
		them = "them"
	}
	return fmt.Sprintf("[left running: %s; %sprocess_stop %s stops %s]", toolkit.PIDs(out.LeftPIDs), f.Options.ToolPrefix, out.Process.ID, them)
}

func withHint(end, hint string) string { return end + toolkit.NewlineBetween(end, hint) + hint }

// restHint says how to get the further output of a running command.
func restHint(f *toolkit.Agent, p api.Process) string {
	if prefix := f.Options.ToolPrefix; f.Options.Offers("process_log", toolkit.Native) {
		return prefix + "process_wait waits for it; " + prefix + "process_log returns later output."
	}
	return fmt.Sprintf("Log: %s and %s", p.LogPath, filepath.Base(p.ErrorLogPath))
}

// execBlocks returns stdout, stderr and the ending, in one block if they are short, otherwise in
// one each, so that clients truncating blocks keep the end of each.
func execBlocks(stdout, stderr, ending string) []sdk.Content {
	if stderr != "" {
		stderr = "stderr:\n" + stderr
	}
	parts := slices.DeleteFunc([]string{stdout, stderr, ending}, func(part string) bool { return part == "" })
	var blocks []sdk.Content
	for _, part := range joinShort(parts) {
		blocks = append(blocks, &sdk.TextContent{Text: part})
	}
	return blocks
}

// joinShort joins parts on separate lines if the result is short.
func joinShort(parts []string) []string {
	whole := ""
	for _, part := range parts {
		if whole += toolkit.NewlineBetween(whole, part); len(whole)+len(part) > utf8.UTFMax*maxExecChars {
			return parts
		}
		whole += part
	}
	if utf8.RuneCountInString(whole) > maxExecChars {
		return parts
	}
	return []string{whole}
}

// groupThousands formats a number with a comma before every three digits.
func groupThousands(n int64) string {
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
