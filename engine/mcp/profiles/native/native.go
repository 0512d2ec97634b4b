// Package native holds the tools of the profile native, which are Tandem's own.
package native

import (
	"context"
	"fmt"
	"strings"

	"tandem/engine/api"
	"tandem/engine/mcp/toolkit"
	"tandem/engine/vt/scan"
)

const (
	// waitBulk bounds the output in the result of a wait, in bytes. With the matched line and the
	// outcome, the result has up to 8 KiB.
	waitBulk = 8<<10 - lineMost - 512
	// lineMost is how much a result repeats of one line.
	lineMost = 2 << 10
	// grepMost is how many matches a search gives at once.
	grepMost = 100
)

// Tools returns the tools of the profile native that no seed document has.
func Tools() []toolkit.Tool {
	return append(nativeProcessTools(), append(append(nativeSessionTools(), agentTools()...), historyTool(), machineListTool())...)
}

// nativeProcessTools complete the process tools of the profile plugin.
func nativeProcessTools() []toolkit.Tool {
	only := []toolkit.Profile{toolkit.Native}
	return []toolkit.Tool{
		toolkit.Define[toolkit.IDInput, toolkit.None](toolkit.Tool{Name: "process_restart", Effect: api.Destructive, Profiles: only,
			Doc: "Restart a process."}, processRestart),
		toolkit.Define[ProcessLogInput, logState](toolkit.Tool{Name: "process_log", Effect: api.Read, Profiles: only, Large: true,
			Doc: "What a process printed since you last looked; grep and tail (lines) cover the whole log."}, processLog),
		toolkit.Define[processWaitInput, waitState](toolkit.Tool{Name: "process_wait", Effect: api.Read, Profiles: only,
			Doc: "Wait until any given condition (default: exit) holds: exit, a log match (earlier output counts), listening on port, idle_ms of silence, or ready (its project file's check)."}, processWait),
		processStartTool(), stopOwnTool(), processListTool(),
	}
}

// stateLine tells in words how a process or session does.
func stateLine(p api.Process) string {
	line := fmt.Sprintf("%s (%s) is %s", p.Name, p.ID, p.State)
	switch {
	case p.ExitCode != nil || p.ExitSignal != "":
		line += ", " + outcome(p)
	case p.State == api.StateWaiting:
		line += " for " + p.DependencyNames()
	case p.PID != 0:
		line += fmt.Sprintf(", pid %d", p.PID)
	}
	return line
}

// outcome tells how what has ended did.
func outcome(p api.Process) string {
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

func processRestart(ctx context.Context, f *toolkit.Agent, in toolkit.IDInput) (toolkit.Result, error) {
	p, err := api.ProcessRestart.Call(ctx, f.Engine, api.ProcessRestartInput{ID: in.ID, RestartID: api.NewID()})
	if err != nil {
		return toolkit.Result{}, err
	}
	return toolkit.Text(stateLine(p) + ".").ForProcess(p.ID), nil
}

type ProcessLogInput struct {
	ID        string          `json:"id"`
	Stream    string          `json:"stream,omitempty" enum:"stdout,stderr"`
	Since     *toolkit.Cursor `json:"since,omitempty"`
	Tail      int             `json:"tail,omitempty"`
	Grep      string          `json:"grep,omitempty"`
	Context   int             `json:"context,omitempty"`
	WaitMS    int             `json:"wait_ms,omitempty"`
	MaxOutput int             `json:"max_output,omitempty" default:"32768"`
}

// A logState says where in a log reading has come to.
type logState struct {
	NextCursor toolkit.Cursor `json:"next_cursor"`
}

func processLog(ctx context.Context, f *toolkit.Agent, in ProcessLogInput) (toolkit.Result, error) {
	most, err := BulkOf(in.MaxOutput)
	if err == nil {
		err = toolkit.CheckPatterns(in.Grep)
	}
	if err == nil && in.Since != nil && in.Tail > 0 {
		err = api.Errorf(api.CodeInvalid, "read log of %s: give since or tail, not both", in.ID)
	}
	if err != nil {
		return toolkit.Result{}, err
	}
	p, err := api.ProcessGet.Call(ctx, f.Engine, api.IDInput{ID: in.ID})
	if err != nil {
		return toolkit.Result{}, err
	}
	wish := toolkit.OutputQuery{Stream: in.Stream, Since: in.Since, Tail: in.Tail, WaitMS: in.WaitMS, Max: most}
	if in.Grep != "" {
		return grepLog(ctx, f, p, in, wish)
	}
	out, err := f.ReadOutput(ctx, p, wish)
	if err != nil {
		return toolkit.Result{}, err
	}
	said := out.Text + toolkit.NewlineBetween(out.Text, "[") + out.Status()
	if out.Text == "" && in.WaitMS == 0 && !out.Process.State.Ended() {
		said += idled(f, p.ID, "process_wait")
	}
	return toolkit.Text(said).WithFacts(logState{out.Next}).ForProcess(p.ID), nil
}

// looksMost is how often in a row an agent looks in vain before it is told how to wait.
const looksMost = 3

// idled counts a look at which there was nothing new, and says how to wait from the third on.
func idled(f *toolkit.Agent, id, wait string) string {
	if f.Seen.CountEmptyPoll(id) < looksMost {
		return ""
	}
	return "\n[nothing new; use " + f.Options.ToolPrefix + wait + " instead of looking again]"
}

// BulkOf is how much output a call wants.
func BulkOf(asked int) (int, error) {
	switch {
	case asked < 0:
		return 0, api.Errorf(api.CodeInvalid, "max_output cannot be negative")
	case asked == 0:
		return toolkit.DefaultBodySize, nil
	}
	return min(asked, toolkit.MaxSize) - min(asked/4, toolkit.DefaultSize-toolkit.DefaultBodySize), nil // leaves room for notes
}

// grepLog answers with the lines that match, from since on or all. It moves
// nothing of what the agent has seen.
func grepLog(ctx context.Context, f *toolkit.Agent, p api.Process, in ProcessLogInput, w toolkit.OutputQuery) (toolkit.Result, error) {
	if w.Since == nil && w.Tail == 0 {
		w.Since = &toolkit.Cursor{}
	}
	ask := f.LogInput(p, w)
	ask.Grep, ask.Context, ask.Exact, ask.Limit = in.Grep, in.Context, false, grepMost
	out, err := api.ProcessLog.Call(ctx, f.Engine, ask)
	if err != nil {
		return toolkit.Result{}, err
	}
	var b strings.Builder
	more := "" // how to get the matches that are not given
	if len(out.Matches) == grepMost {
		more = "[more from here on: since=" + toolkit.NextCursor(ask, out).String() + "]\n"
	}
	size := 0
	for i, m := range out.Matches {
		block := matchText(m)
		if i > 0 && ask.Context > 0 {
			block = "--\n" + block
		}
		if size += toolkit.JSONSize(block); i > 0 && size > w.Max {
			more = fmt.Sprintf("[more from here on: since=%d]\n", m.Offset)
			if out.Stderr != nil { // a place in both streams is not one match's
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
	return toolkit.Text(strings.TrimSuffix(b.String(), "\n")).WithFacts(logState{toolkit.NextCursor(ask, out)}), nil
}

// matchText is a line that matches, with those around it.
func matchText(m api.LogMatch) string {
	var b strings.Builder
	for _, line := range m.Before {
		fmt.Fprintf(&b, "  %s\n", toolkit.PlainText(line))
	}
	if m.Stream == "stderr" {
		b.WriteString("stderr ")
	}
	fmt.Fprintf(&b, "%d: %s\n", m.Offset, toolkit.PlainText(m.Text))
	for _, line := range m.After {
		fmt.Fprintf(&b, "  %s\n", toolkit.PlainText(line))
	}
	return b.String()
}

type processWaitInput struct {
	ID        string          `json:"id"`
	Exit      bool            `json:"exit,omitempty"`
	Ready     bool            `json:"ready,omitempty"`
	Log       string          `json:"log,omitempty"`
	Stream    string          `json:"stream,omitempty" enum:"stdout,stderr"`
	Since     *toolkit.Cursor `json:"since,omitempty"`
	Port      int             `json:"port,omitempty"`
	IdleMS    int             `json:"idle_ms,omitempty"`
	TimeoutMS int             `json:"timeout_ms,omitempty"`
}

// A waitState says what a wait has come to.
type waitState struct {
	Met      string `json:"met"` // the condition that holds; "" after the time-out
	ExitCode *int   `json:"exit_code,omitempty"`
}

func processWait(ctx context.Context, f *toolkit.Agent, in processWaitInput) (toolkit.Result, error) {
	ask := api.ProcessWaitInput{ID: in.ID, Exit: in.Exit, Ready: in.Ready, Log: in.Log, Stream: in.Stream, Port: in.Port, IdleMS: in.IdleMS}
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
	out, err := await(ctx, f, ask, in.TimeoutMS)
	if err != nil {
		return toolkit.Result{}, err
	}
	state := waitState{Met: out.Met, ExitCode: out.Process.ExitCode}
	var printed toolkit.Output
	if (out.Met == "log" || out.CrashLoop || out.Process.State.Ended()) && out.Process.Kind == api.KindProcess {
		if printed, err = f.ReadOutput(ctx, out.Process, toolkit.OutputQuery{Stream: in.Stream, Max: waitBulk}); err != nil {
			return toolkit.Result{}, err
		}
	}
	return toolkit.Text(cameOf(out, in.Port, printed.Text)).WithFacts(state).ForProcess(out.Process.ID), nil
}

// await waits until a condition holds, none can any more, or the time is over.
func await(ctx context.Context, f *toolkit.Agent, ask api.ProcessWaitInput, timeoutMS int) (out api.ProcessWaitOutput, err error) {
	err = toolkit.WaitInTurns(timeoutMS, func(turnMS int) (over bool, err error) {
		ask.TimeoutMS = turnMS
		out, err = api.ProcessWait.Call(ctx, f.Engine, ask)
		return out.IsFinal(), err
	})
	return out, err
}

// cameOf says what a wait has come to, and below what was printed meanwhile.
func cameOf(out api.ProcessWaitOutput, port int, printed string) string {
	said := waited(out.Met, out.Process)
	if out.CrashLoop {
		said = fmt.Sprintf("It keeps exiting: %s, restarts: %d.", outcome(out.Process), out.Process.Supervision.Automatic)
	}
	said += inUse(port, out.PortHolder) + matchedLine(out.Line, printed) + "\n" + toolkit.ShortenLines(printed)
	return strings.TrimSuffix(said, "\n")
}

// inUse names the holder of the port that was waited for.
func inUse(port int, holder string) string {
	if holder == "" {
		return ""
	}
	return fmt.Sprintf(" Port %d is in use by %s.", port, scan.Visible(holder))
}

// matchedLine is the line that a wait was for, unless it is among what is shown.
func matchedLine(line, shown string) string {
	if line = toolkit.PlainText(line); line == "" || strings.Contains("\n"+shown, "\n"+line+"\n") {
		return ""
	}
	return "\n" + toolkit.HeadAndTail(line, lineMost, "")
}

// waited says in words what a wait has come to.
func waited(met string, p api.Process) string {
	switch {
	case met == "" && p.State.Ended():
		return "It exited before that; " + outcome(p) + "."
	case met == "" && p.State == api.StateWaiting:
		return "Timed out; it is waiting for " + p.DependencyNames() + "."
	case met == "" && p.State == api.StateBackoff:
		return "Timed out; it is waiting to be restarted."
	case met == "":
		return "Timed out; it is " + string(p.State) + "."
	case p.State.Ended():
		return "Met: " + met + ", " + outcome(p) + "."
	}
	return "Met: " + met + "."
}
