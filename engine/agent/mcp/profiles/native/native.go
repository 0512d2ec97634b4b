// Package native holds the tools of the native profile, Tandem's own. It shares many with the
// plugin profile.
package native

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/screen/vt/scan"
)

const (
	// maxWaitOutput is the maximum size of the output in a wait's result, in bytes. With the
	// matched line and the outcome, the result has up to 8 KiB.
	maxWaitOutput = 8<<10 - maxLine - 512
	// maxLine is the maximum size of one quoted line.
	maxLine = 2 << 10
	// maxMatches is the maximum number of matches in one result.
	maxMatches = 100
)

// Tools returns the tools only the native profile has.
func Tools() []toolkit.Tool {
	return append(nativeProcessTools(), append(append(nativeSessionTools(), agentTools()...), historyTool(), outputSearchTool(), machineListTool())...)
}

// nativeProcessTools returns the process tools missing from the plugin profile.
func nativeProcessTools() []toolkit.Tool {
	only := []toolkit.Profile{toolkit.Native}
	return []toolkit.Tool{
		toolkit.Define[toolkit.IDInput, toolkit.None](toolkit.Tool{Name: "process_restart", Effect: api.Destructive, Profiles: only,
			Doc: "Restart a process."}, restartProcess),
		toolkit.Define[ProcessLogInput, logState](toolkit.Tool{Name: "process_log", Effect: api.Read, Profiles: only, Large: true,
			Doc: "What a process printed since you last looked; grep and tail (lines) cover the whole log."}, readProcessLog),
		toolkit.Define[processWaitInput, waitState](toolkit.Tool{Name: "process_wait", Effect: api.Read, Profiles: only,
			Doc: "Wait until id or one of ids meets a condition (default: exit): log matches (earlier output counts), port listens, idle_ms of silence, ready (its project file's check)."}, waitForProcess),
		processStartTool(), stopOwnTool(), processListTool(),
	}
}

// stateLine describes the state of a process or session.
func stateLine(p api.Process) string {
	return fmt.Sprintf("%s (%s) is %s.", p.Name, p.ID, toolkit.StateText(p))
}

func restartProcess(ctx context.Context, f *toolkit.Agent, in toolkit.IDInput) (toolkit.Result, error) {
	p, err := api.ProcessRestart.Call(ctx, f.Engine, api.ProcessRestartInput{ID: in.ID, RestartID: api.NewID()})
	if err != nil {
		return toolkit.Result{}, err
	}
	return toolkit.Text(stateLine(p)).ForProcess(p.ID), nil
}

type ProcessLogInput struct {
	ID        string          `json:"id"`
	Stream    string          `json:"stream,omitempty" enum:"stdout,stderr" schema:"-"`
	Since     *toolkit.Cursor `json:"since,omitempty"`
	Tail      int             `json:"tail,omitempty"`
	Grep      string          `json:"grep,omitempty"`
	Context   int             `json:"context,omitempty"`
	WaitMS    int             `json:"wait_ms,omitempty"`
	MaxOutput int             `json:"max_output,omitempty" default:"32768"`
}

// A logState is the position in a log after a read.
type logState struct {
	NextCursor toolkit.Cursor `json:"next_cursor"`
}

// Unsaid implements toolkit.Brief. It leaves the position out, because the next read continues
// there by itself.
func (s logState) Unsaid() any { return struct{}{} }

func readProcessLog(ctx context.Context, f *toolkit.Agent, in ProcessLogInput) (toolkit.Result, error) {
	limit, err := outputLimit(in.MaxOutput)
	if err == nil {
		err = toolkit.CheckPatterns(in.Grep)
	}
	if err == nil && in.Since != nil && in.Tail > 0 {
		err = api.Errorf(api.CodeInvalid, "read log of %s: give since or tail, not both", in.ID)
	}
	if err != nil {
		return toolkit.Result{}, err
	}
	id, err := f.FullID(ctx, in.ID, api.ProcessGet)
	if err != nil {
		return toolkit.Result{}, err
	}
	query := toolkit.OutputQuery{Stream: in.Stream, Since: in.Since, Tail: in.Tail, WaitMS: in.WaitMS, Max: limit}
	if in.Grep != "" {
		return grepLog(ctx, f, id, in, query)
	}
	out, err := f.ReadOutput(ctx, id, query)
	if err != nil {
		return toolkit.Result{}, err
	}
	out = out.NoteDropped()
	text := out.Text + toolkit.NewlineBetween(out.Text, "[") + out.Status()
	// Only polling wastes calls: a call with wait_ms has waited already.
	if out.Text == "" && in.WaitMS == 0 && !out.Process.State.Ended() {
		text += countEmptyPoll(f, id, "process_wait")
	}
	return toolkit.Text(text).WithFacts(logState{out.Next}).ForProcess(id), nil
}

// maxEmptyPolls is how many empty polls in a row an agent may make before it is told how to wait.
const maxEmptyPolls = 3

// countEmptyPoll counts a poll without anything new, and returns a hint to wait once there are too
// many.
func countEmptyPoll(f *toolkit.Agent, id, wait string) string {
	if f.Seen.CountEmptyPoll(id) < maxEmptyPolls {
		return ""
	}
	return "\n[nothing new; use " + f.Options.ToolPrefix + wait + " instead of looking again]"
}

// outputLimit returns the size for output in a result with the requested maximum.
func outputLimit(asked int) (int, error) {
	switch {
	case asked < 0:
		return 0, api.Errorf(api.CodeInvalid, "max_output cannot be negative")
	case asked == 0:
		return toolkit.DefaultBodySize, nil
	}
	return min(asked, toolkit.MaxSize) - min(asked/4, toolkit.DefaultSize-toolkit.DefaultBodySize), nil // leaves room for notes
}

// grepLog returns the matching lines since a position, or of the whole log. It does not mark output
// as seen.
func grepLog(ctx context.Context, f *toolkit.Agent, id string, in ProcessLogInput, w toolkit.OutputQuery) (toolkit.Result, error) {
	// A search covers the whole log, not just what is unseen.
	if w.Since == nil && w.Tail == 0 {
		w.Since = &toolkit.Cursor{}
	}
	ask := f.LogInput(id, w)
	ask.Grep, ask.Context, ask.Exact, ask.Limit = in.Grep, in.Context, false, maxMatches
	out, err := api.ProcessLog.Call(ctx, f.Engine, ask)
	if err != nil {
		return toolkit.Result{}, err
	}
	pattern, err := regexp.Compile(in.Grep)
	if err != nil {
		return toolkit.Result{}, err
	}
	var b strings.Builder
	more := "" // how to get the remaining matches
	if len(out.Matches) == maxMatches {
		more = "[more from here on: since=" + toolkit.NextCursor(out).String() + "]\n"
	}
	size := 0
	for i, m := range out.Matches {
		block := formatMatch(m, pattern)
		if i > 0 && ask.Context > 0 {
			block = "--\n" + block
		}
		if size += toolkit.JSONSize(block); i > 0 && size > w.Max {
			more = fmt.Sprintf("[more from here on: since=%d]\n", m.Offset)
			if out.Stderr != nil { // a match's offset is a position in one stream only
				more = fmt.Sprintf("[%d more matches: max_output gives more]\n", len(out.Matches)-i)
			}
			break
		}
		b.WriteString(toolkit.HeadAndTail(block, w.Max, "max_output gives more"))
	}
	b.WriteString(more)
	if len(out.Matches) == 0 {
		b.WriteString("No line matches.")
	}
	return toolkit.Text(strings.TrimSuffix(b.String(), "\n")).WithFacts(logState{toolkit.NextCursor(out)}), nil
}

// formatMatch formats a matching line and its context, and cuts long lines around the match.
func formatMatch(m api.LogMatch, pattern *regexp.Regexp) string {
	var b strings.Builder
	for _, line := range m.Before {
		fmt.Fprintf(&b, "  %s\n", toolkit.AroundMatch(toolkit.PlainText(line), pattern))
	}
	if m.Stream == "stderr" {
		b.WriteString("stderr ")
	}
	fmt.Fprintf(&b, "%d: %s\n", m.Offset, toolkit.AroundMatch(toolkit.PlainText(m.Text), pattern))
	for _, line := range m.After {
		fmt.Fprintf(&b, "  %s\n", toolkit.AroundMatch(toolkit.PlainText(line), pattern))
	}
	return b.String()
}

type processWaitInput struct {
	ID        string          `json:"id,omitempty"`
	IDs       []string        `json:"ids,omitempty"`
	Exit      bool            `json:"exit,omitempty"`
	Ready     bool            `json:"ready,omitempty"`
	Log       string          `json:"log,omitempty"`
	Stream    string          `json:"stream,omitempty" enum:"stdout,stderr" schema:"-"`
	Since     *toolkit.Cursor `json:"since,omitempty" schema:"-"`
	Port      int             `json:"port,omitempty"`
	IdleMS    int             `json:"idle_ms,omitempty"`
	TimeoutMS int             `json:"timeout_ms,omitempty"`
}

// A waitState is the outcome of a wait.
type waitState struct {
	Met      string `json:"met"` // the condition met; "" after a timeout
	ExitCode *int   `json:"exit_code,omitempty"`
}

// Unsaid implements toolkit.Brief.
func (s waitState) Unsaid() any { return struct{}{} }

func waitForProcess(ctx context.Context, f *toolkit.Agent, in processWaitInput) (toolkit.Result, error) {
	ask := api.ProcessWaitInput{ID: in.ID, Exit: in.Exit, Ready: in.Ready, Log: in.Log, Stream: in.Stream, Port: in.Port, IdleMS: in.IdleMS}
	// A plain 0 means the start of both streams, unless one is selected.
	if in.Since != nil {
		ask.Since = &in.Since.At
		if in.Since.Split || in.Since.At == 0 && in.Stream != "stdout" && in.Stream != "stderr" {
			ask.SinceStderr = &in.Since.Stderr
		}
	}
	if !in.Exit && !in.Ready && in.Log == "" && in.Port == 0 && in.IdleMS == 0 {
		ask.Exit = true
	}
	if err := toolkit.CheckPatterns(in.Log); err != nil {
		return toolkit.Result{}, err
	}
	ids := in.IDs
	if in.ID != "" {
		ids = append([]string{in.ID}, ids...)
	}
	if len(ids) == 0 {
		return toolkit.Result{}, api.Errorf(api.CodeInvalid, "wait for process: which one? give id or ids")
	}
	out, err := awaitFirst(ctx, f, ids, ask, in.TimeoutMS)
	if err != nil {
		return toolkit.Result{}, err
	}
	state := waitState{Met: out.Met, ExitCode: out.Process.ExitCode}
	var printed toolkit.Output
	if (out.Met == "log" || out.CrashLoop || out.Process.State.Ended()) && out.Process.Kind == api.KindProcess {
		if printed, err = f.ReadOutput(ctx, out.Process.ID, toolkit.OutputQuery{Stream: in.Stream, Max: maxWaitOutput}); err != nil {
			return toolkit.Result{}, err
		}
	}
	text := waitResult(out, in.Port, printed.NoteDropped().Text)
	switch {
	case len(ids) > 1 && out.IsFinal():
		text = fmt.Sprintf("%s (%s): %s", out.Process.Name, out.Process.ID, text)
	case len(ids) > 1:
		text = "Timed out; no condition is met."
	}
	return toolkit.Text(text).WithFacts(state).ForProcess(out.Process.ID), nil
}

// awaitFirst waits as awaitProcess does for several processes, and returns the first outcome.
func awaitFirst(ctx context.Context, f *toolkit.Agent, ids []string, ask api.ProcessWaitInput, timeoutMS int) (api.ProcessWaitOutput, error) {
	type outcome struct {
		out api.ProcessWaitOutput
		err error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	outcomes := make(chan outcome, len(ids))
	for _, id := range ids {
		go func(ask api.ProcessWaitInput) {
			ask.ID = id
			out, err := awaitProcess(ctx, f, ask, timeoutMS)
			outcomes <- outcome{out, err}
		}(ask)
	}
	var first outcome
	for range ids {
		if first = <-outcomes; first.err != nil || first.out.IsFinal() {
			break
		}
	}
	return first.out, first.err
}

// awaitProcess waits until a condition is met, none can be met any more, or the wait times out.
func awaitProcess(ctx context.Context, f *toolkit.Agent, ask api.ProcessWaitInput, timeoutMS int) (api.ProcessWaitOutput, error) {
	return toolkit.WaitInTurns(timeoutMS, func(turnMS int) (api.ProcessWaitOutput, bool, error) {
		ask.TimeoutMS = turnMS
		out, err := api.ProcessWait.Call(ctx, f.Engine, ask)
		return out, out.IsFinal(), err
	})
}

// waitResult describes the outcome of a wait, followed by the output printed meanwhile.
func waitResult(out api.ProcessWaitOutput, port int, printed string) string {
	text := waitOutcome(out.Met, out.Process)
	if out.CrashLoop {
		text = fmt.Sprintf("It keeps exiting: %s, restarts: %d.", toolkit.Outcome(out.Process), out.Process.Supervision.Automatic)
	}
	text += portHolderNote(port, out.PortHolder) + quoteMatch(out.Line, printed) + "\n" + toolkit.ShortenLines(printed)
	return strings.TrimSuffix(text, "\n")
}

// portHolderNote names the program using the awaited port.
func portHolderNote(port int, holder string) string {
	if holder == "" {
		return ""
	}
	return fmt.Sprintf(" Port %d is in use by %s.", port, scan.Visible(holder))
}

// quoteMatch returns the matched line unless the output already shows it.
func quoteMatch(line, shown string) string {
	if line = toolkit.PlainText(line); line == "" || strings.Contains("\n"+shown, "\n"+line+"\n") {
		return ""
	}
	return "\n" + toolkit.HeadAndTail(line, maxLine, "")
}

// waitOutcome describes the outcome of a wait in a sentence.
func waitOutcome(met string, p api.Process) string {
	switch {
	case met == "" && p.State.Ended():
		return "It exited before that; " + toolkit.Outcome(p) + "."
	case met == "" && p.State == api.StateWaiting:
		return "Timed out; it is waiting for " + p.DependencyNames() + "."
	case met == "" && p.State == api.StateBackoff:
		return "Timed out; it is waiting to be restarted."
	case met == "":
		return "Timed out; it is " + string(p.State) + "."
	case p.State.Ended():
		return "Met: " + met + ", " + toolkit.Outcome(p) + "."
	}
	return "Met: " + met + "."
}
