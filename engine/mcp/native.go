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
		define[idInput, processState](tool{name: "process_restart", effect: api.Destructive, profiles: only,
			doc: "Stop a process if it runs and start it anew."}, processRestart),
		define[processLogInput, logState](tool{name: "process_log", effect: api.Read, profiles: only,
			doc: "Read or grep a process's log. Without since or tail: its end. Pass next_cursor as since for what is new."}, processLog),
		define[processWaitInput, waitState](tool{name: "process_wait", effect: api.Read, profiles: only,
			doc: "Wait until a process exits, is ready, logs a match, listens or falls silent. Use instead of polling."}, processWait),
	}
}

type idInput struct {
	ID string `json:"id" doc:"id or name"`
}

// A processState is how a process or session does.
type processState struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	State      string `json:"state"`
	PID        int    `json:"pid,omitempty"`
	ExitCode   *int   `json:"exit_code,omitempty"`
	ExitSignal string `json:"exit_signal,omitempty"`
}

func stateOf(p api.Process) processState {
	return processState{ID: p.ID, Name: p.Name, State: string(p.State), PID: p.PID, ExitCode: p.ExitCode, ExitSignal: p.ExitSignal}
}

// line tells it in words.
func (s processState) line() string {
	line := fmt.Sprintf("%s (%s) is %s", s.Name, s.ID, s.State)
	switch {
	case s.ExitCode != nil:
		line += fmt.Sprintf(", exit code %d", *s.ExitCode)
	case s.ExitSignal != "":
		line += ", ended by " + s.ExitSignal
	case s.PID != 0:
		line += fmt.Sprintf(", pid %d", s.PID)
	}
	return line
}

func processRestart(ctx context.Context, f *face, in idInput) (result, error) {
	p, err := api.ProcessRestart.Call(ctx, f.engine, api.IDInput{ID: in.ID})
	if err != nil {
		return result{}, err
	}
	state := stateOf(p)
	return text(state.line() + ".").with(state).of(p.ID), nil
}

type processLogInput struct {
	ID        string `json:"id" doc:"id or name"`
	Since     *int64 `json:"since,omitempty" doc:"byte offset; negative: from the end"`
	Tail      int    `json:"tail,omitempty" doc:"last lines"`
	Stream    string `json:"stream,omitempty" enum:"stdout,stderr"`
	Grep      string `json:"grep,omitempty" doc:"RE2"`
	Context   int    `json:"context,omitempty" doc:"lines around matches"`
	Backward  bool   `json:"backward,omitempty" doc:"newest matches first"`
	WaitMS    int    `json:"wait_ms,omitempty" doc:"wait for new output"`
	MaxOutput int    `json:"max_output,omitempty" doc:"bytes, default 32768"`
	Raw       bool   `json:"raw,omitempty" doc:"keep control sequences"`
}

// A logState says where in a log reading has come to.
type logState struct {
	Start      int64  `json:"start" doc:"offset of the text"`
	NextCursor int64  `json:"next_cursor" doc:"since of the next call"`
	End        int64  `json:"end" doc:"length of the log"`
	Dropped    int64  `json:"dropped" doc:"bytes no longer kept"`
	State      string `json:"state"`
	Matches    int    `json:"matches,omitempty"`
}

func processLog(ctx context.Context, f *face, in processLogInput) (result, error) {
	most, err := bulkOf(in.MaxOutput)
	if err != nil {
		return result{}, err
	}
	ask := api.ProcessLogInput{ID: in.ID, Stream: in.Stream, Since: in.Since, Tail: in.Tail, Grep: in.Grep,
		Context: in.Context, Backward: in.Backward, WaitMS: in.WaitMS, Exact: true}
	if in.Since == nil && in.Tail == 0 && in.Grep == "" {
		end := -int64(most)
		ask.Since = &end
	}
	if in.Grep != "" {
		return grepLog(ctx, f, ask, most)
	}
	got, err := readLog(ctx, f, ask, most, in.Raw)
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
	state := logState{Start: out.Start, NextCursor: out.NextCursor, End: out.End, Dropped: out.Dropped, State: string(out.State)}
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
		state.Matches++
		if b.Len() > most {
			fmt.Fprintf(&b, "[%d more matches]\n", len(out.Matches)-state.Matches)
			break
		}
	}
	if len(out.Matches) == 0 {
		b.WriteString("No line matches.")
	}
	return text(strings.TrimSuffix(b.String(), "\n")).with(state), nil
}

type processWaitInput struct {
	ID        string `json:"id" doc:"id or name"`
	Exit      bool   `json:"exit,omitempty"`
	Ready     bool   `json:"ready,omitempty"`
	Log       string `json:"log,omitempty" doc:"RE2 that a line matches"`
	Since     *int64 `json:"since,omitempty" doc:"offset to look for log from; default the whole log"`
	Port      int    `json:"port,omitempty" doc:"TCP, loopback"`
	IdleMS    int    `json:"idle_ms,omitempty" doc:"no output for this long"`
	TimeoutMS int    `json:"timeout_ms,omitempty" doc:"default 50000"`
}

// A waitState says what a wait has come to.
type waitState struct {
	Met        string `json:"met" doc:"the condition that holds; empty: timed out"`
	Text       string `json:"text,omitempty" doc:"what matched"`
	State      string `json:"state"`
	ExitCode   *int   `json:"exit_code,omitempty"`
	Secret     bool   `json:"secret,omitempty" doc:"it asks for a password"`
	NextCursor int64  `json:"next_cursor,omitempty" doc:"since of the next call"`
}

func processWait(ctx context.Context, f *face, in processWaitInput) (result, error) {
	ask := api.ProcessWaitInput{ID: in.ID, Exit: in.Exit, Ready: in.Ready, Log: in.Log, Since: in.Since, Port: in.Port, IdleMS: in.IdleMS}
	if !in.Exit && !in.Ready && in.Log == "" && in.Port == 0 && in.IdleMS == 0 {
		ask.Exit = true
	}
	var out api.ProcessWaitOutput
	err := inTurns(in.TimeoutMS, func(timeoutMS int) (over bool, err error) {
		ask.TimeoutMS = timeoutMS
		out, err = api.ProcessWait.Call(ctx, f.engine, ask)
		return out.Met != "" || out.Process.State.Ended(), err
	})
	if err != nil {
		return result{}, err
	}
	state := waitState{Met: out.Met, Text: out.Line, State: string(out.Process.State), ExitCode: out.Process.ExitCode}
	return waited(state, out.Process), nil
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
func waited(w waitState, p api.Process) result {
	line := "Timed out; " + stateOf(p).line() + "."
	switch {
	case w.Met == "" && p.State.Ended():
		line = "It ended before that; " + stateOf(p).line() + "."
	case w.Met != "":
		line = "Met: " + w.Met + "; " + stateOf(p).line() + "."
	}
	if w.Secret {
		line += " It asks for a password: have the person type it."
	}
	if w.Text != "" {
		line += "\n" + plainText(w.Text)
		w.Text = ""
	}
	return text(line).with(w).of(p.ID)
}
