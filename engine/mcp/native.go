package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tandem/engine/api"
)

const (
	// bulk is how many bytes of output come back unless more is asked for:
	// under ten thousand tokens.
	bulk     = 32 << 10
	bulkMost = 16 << 20

	waitOnce    = 50 * time.Second // of one call to the engine
	waitDefault = 50 * time.Second // below what clients allow a call
	waitMost    = 10 * time.Minute
)

// nativeTools are the tools of the profile native that no seed document has.
func nativeTools() []tool {
	return append(nativeProcessTools(), append(nativeSessionTools(), historyTool())...)
}

// nativeProcessTools complete the process tools of the profile plugin.
func nativeProcessTools() []tool {
	only := []Profile{Native}
	return []tool{
		define[idInput, none](tool{name: "process_restart", effect: api.Destructive, profiles: only,
			doc: "Stop a process and start it anew."}, processRestart),
		define[processLogInput, logState](tool{name: "process_log", effect: api.Read, profiles: only,
			doc: "Read or grep a process's log: its end, or from since (the last next_cursor) on."}, processLog),
		define[processWaitInput, waitState](tool{name: "process_wait", effect: api.Read, profiles: only,
			doc: "Wait until a process exits, is ready, logs a match, listens or falls silent."}, processWait),
		stopOwnTool(),
	}
}

type idInput struct {
	ID string `json:"id"`
}

// stateLine tells in words how a process or session does.
func stateLine(p api.Process) string {
	line := fmt.Sprintf("%s (%s) is %s", p.Name, p.ID, p.State)
	switch {
	case p.ExitCode != nil:
		line += fmt.Sprintf(", exit code %d", *p.ExitCode)
	case p.ExitSignal != "":
		line += ", ended by " + p.ExitSignal
	case p.PID != 0:
		line += fmt.Sprintf(", pid %d", p.PID)
	}
	return line
}

func processRestart(ctx context.Context, f *face, in idInput) (result, error) {
	p, err := api.ProcessRestart.Call(ctx, f.engine, api.IDInput{ID: in.ID})
	if err != nil {
		return result{}, err
	}
	return text(stateLine(p) + ".").of(p.ID), nil
}

type processLogInput struct {
	ID        string `json:"id"`
	Since     *int64 `json:"since,omitempty" doc:"negative: from the end"`
	Tail      int    `json:"tail,omitempty"`
	Grep      string `json:"grep,omitempty"`
	Context   int    `json:"context,omitempty"`
	WaitMS    int    `json:"wait_ms,omitempty"`
	MaxOutput int    `json:"max_output,omitempty"`
}

// A logState says where in a log reading has come to.
type logState struct {
	NextCursor int64 `json:"next_cursor"` // since of the next call
	End        int64 `json:"end"`         // length of the log
	Dropped    int64 `json:"dropped"`     // bytes asked for that are no longer kept
}

func processLog(ctx context.Context, f *face, in processLogInput) (result, error) {
	most, err := bulkOf(in.MaxOutput)
	if err == nil {
		err = checkPatterns(in.Grep)
	}
	if err != nil {
		return result{}, err
	}
	ask := api.ProcessLogInput{ID: in.ID, Since: in.Since, Tail: in.Tail, Grep: in.Grep,
		Context: in.Context, WaitMS: in.WaitMS}
	if in.Since == nil && in.Tail == 0 && in.Grep == "" {
		end := -int64(most)
		ask.Since = &end
	}
	if in.Grep != "" {
		return grepLog(ctx, f, ask, most)
	}
	got, err := readLog(ctx, f, ask, most)
	if err != nil {
		return result{}, err
	}
	return got.result(), nil
}

// bulkOf is how much output a call wants.
func bulkOf(asked int) (int, error) {
	switch {
	case asked < 0:
		return 0, api.Errorf(api.CodeInvalid, "max_output cannot be negative")
	case asked == 0:
		return bulk, nil
	}
	return min(asked, bulkMost), nil
}

// grepLog answers with the lines that match.
func grepLog(ctx context.Context, f *face, ask api.ProcessLogInput, most int) (result, error) {
	ask.Max = 0
	out, err := api.ProcessLog.Call(ctx, f.engine, ask)
	if err != nil {
		return result{}, err
	}
	var b strings.Builder
	state := logState{NextCursor: out.NextCursor, End: out.End, Dropped: out.Dropped}
	shown := 0
	for i, m := range out.Matches {
		if i > 0 && ask.Context > 0 {
			b.WriteString("--\n")
		}
		for _, line := range m.Before {
			fmt.Fprintf(&b, "  %s\n", plainText(line))
		}
		fmt.Fprintf(&b, "%d: %s\n", m.Offset, plainText(m.Text))
		for _, line := range m.After {
			fmt.Fprintf(&b, "  %s\n", plainText(line))
		}
		if shown++; b.Len() > most && shown < len(out.Matches) {
			fmt.Fprintf(&b, "[%d more matches]\n", len(out.Matches)-shown)
			break
		}
	}
	if len(out.Matches) == 0 {
		b.WriteString("No line matches.")
	}
	return text(strings.TrimSuffix(b.String(), "\n")).with(state), nil
}

type processWaitInput struct {
	ID        string `json:"id"`
	Exit      bool   `json:"exit,omitempty"`
	Ready     bool   `json:"ready,omitempty"`
	Log       string `json:"log,omitempty"`
	Since     *int64 `json:"since,omitempty"`
	Port      int    `json:"port,omitempty"`
	IdleMS    int    `json:"idle_ms,omitempty"`
	TimeoutMS int    `json:"timeout_ms,omitempty"`
}

// A waitState says what a wait has come to.
type waitState struct {
	Met      string `json:"met"` // the condition that holds; "" after the time-out
	ExitCode *int   `json:"exit_code,omitempty"`
}

func processWait(ctx context.Context, f *face, in processWaitInput) (result, error) {
	ask := api.ProcessWaitInput{ID: in.ID, Exit: in.Exit, Ready: in.Ready, Log: in.Log, Since: in.Since, Port: in.Port, IdleMS: in.IdleMS}
	if !in.Exit && !in.Ready && in.Log == "" && in.Port == 0 && in.IdleMS == 0 {
		ask.Exit = true
	}
	err := checkPatterns(in.Log)
	if err != nil {
		return result{}, err
	}
	var out api.ProcessWaitOutput
	err = inTurns(in.TimeoutMS, func(timeoutMS int) (over bool, err error) {
		ask.TimeoutMS = timeoutMS
		out, err = api.ProcessWait.Call(ctx, f.engine, ask)
		return out.Met != "" || out.Process.State.Ended(), err
	})
	if err != nil {
		return result{}, err
	}
	state := waitState{Met: out.Met, ExitCode: out.Process.ExitCode}
	return text(waited(out.Met, out.Line, out.Process)).with(state).of(out.Process.ID), nil
}

// inTurns waits in calls that are as long as the engine lets one be.
func inTurns(timeoutMS int, wait func(timeoutMS int) (over bool, err error)) error {
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

// waited says in words what a wait has come to.
func waited(met, matched string, p api.Process) string {
	line := "Timed out; " + stateLine(p) + "."
	switch {
	case met == "" && p.State.Ended():
		line = "It ended before that; " + stateLine(p) + "."
	case met != "":
		line = "Met: " + met + "; " + stateLine(p) + "."
	}
	if matched != "" {
		line += "\n" + plainText(matched)
	}
	return line
}
