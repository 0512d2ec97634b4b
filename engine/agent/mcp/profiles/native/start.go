package native

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tandem/engine/agent/mcp/profiles/plugin"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

// startCheckMS is how long process_start waits to see whether the process exits at once.
const startCheckMS = 300

// processStartTool is offered without the plugin profile, whose tool of the same name returns every
// field of the new process.
func processStartTool() toolkit.Tool {
	t := toolkit.Define[startInput, startState](toolkit.Tool{Name: "process_start", Effect: api.Destructive, Profiles: []toolkit.Profile{toolkit.Native},
		Doc: `Start a long-lived process. "replace" first stops its namesake. "keepAlive" restarts it until process_stop. "wait": log or port, see process_wait.`}, startProcess)
	return t
}

type startInput struct {
	plugin.StartInput
	Replace bool       `json:"replace,omitempty"`
	Wait    *startWait `json:"wait,omitempty"`
}

// A startWait is a condition to wait for after a start, as in process_wait. The wait also ends when
// the process exits.
type startWait struct {
	Log       string `json:"log,omitempty"`
	Port      int    `json:"port,omitempty"`
	TimeoutMS int    `json:"timeout_ms,omitempty"`
}

func (w *startWait) validate() error {
	switch {
	case w == nil:
		return nil
	case w.Port < 0 || w.Port > 65535:
		return api.Errorf(api.CodeInvalid, "start process: wait.port %d must be 1 to 65535", w.Port)
	case w.TimeoutMS < 0:
		return api.Errorf(api.CodeInvalid, "start process: wait.timeout_ms cannot be negative")
	}
	return toolkit.CheckPatterns(w.Log)
}

// A startState holds the facts a caller of process_start does not know yet.
type startState struct {
	toolkit.StartedResult
	Met        string          `json:"met,omitempty"` // which condition of the wait was met
	ExitCode   *int            `json:"exit_code,omitempty"`
	NextCursor *toolkit.Cursor `json:"next_cursor,omitempty"` // position after the output
}

func startProcess(ctx context.Context, f *toolkit.Agent, in startInput) (toolkit.Result, error) {
	if err := in.Wait.validate(); err != nil {
		return toolkit.Result{}, err
	}
	if in.Replace {
		if err := stopNamed(ctx, f, in.CleanName()); err != nil {
			return toolkit.Result{}, err
		}
	}
	return plugin.StartProcess(ctx, f, in.StartInput, func(p api.Process) toolkit.Result {
		started := startState{StartedResult: toolkit.StartedResult{ID: p.ID, Name: p.Name, PID: p.PID}}
		if in.Wait == nil {
			return started.checkAlive(ctx, f)
		}
		said, err := started.awaitCondition(ctx, f, *in.Wait)
		if err != nil { // it runs; a failed result would make the agent start it again
			said = fmt.Sprintf("Waiting failed: %v.", err)
		}
		return toolkit.Text(started.String() + "\n" + said).WithFacts(started)
	})
}

// stopNamed stops the running process with a name, if there is one.
func stopNamed(ctx context.Context, f *toolkit.Agent, name string) error {
	if name == "" {
		return api.Errorf(api.CodeInvalid, "start process: replace needs a name")
	}
	_, err := api.ProcessStop.Call(ctx, f.Engine, api.ProcessStopInput{ID: name})
	if errors.Is(err, api.CodeNotFound) || errors.Is(err, api.CodeEnded) {
		return nil
	}
	return err
}

// checkAlive returns the result for a process without a wait. A process that exits within
// startCheckMS has probably failed to start, so the result has its exit and output.
func (s *startState) checkAlive(ctx context.Context, f *toolkit.Agent) toolkit.Result {
	plain := toolkit.Text(s.String()).WithSameFacts(*s)
	out, err := api.ProcessWait.Call(ctx, f.Engine, api.ProcessWaitInput{ID: s.ID, Exit: true, TimeoutMS: startCheckMS})
	if err != nil || out.Met == "" && !out.IsFinal() {
		return plain
	}
	s.PID, s.ExitCode = 0, out.Process.ExitCode
	text := fmt.Sprintf("%s (%s) exited at once, %s.", s.Name, s.ID, toolkit.Outcome(out.Process))
	if s.ExitCode != nil && *s.ExitCode == 0 {
		return toolkit.Text(text).WithFacts(*s) // it did what it should; its output is read as usual
	}
	printed, err := f.ReadOutput(ctx, s.ID, toolkit.OutputQuery{Max: maxWaitOutput})
	if err != nil {
		return plain
	}
	s.NextCursor = &printed.Next
	if out.CrashLoop {
		text += " It is restarted."
	}
	return toolkit.Text(strings.TrimSuffix(text+"\n"+toolkit.ShortenLines(printed.Text), "\n")).WithFacts(*s)
}

// awaitCondition waits for the condition of a started process, and returns the outcome and the
// output.
func (s *startState) awaitCondition(ctx context.Context, f *toolkit.Agent, w startWait) (said string, err error) {
	out, err := awaitProcess(ctx, f, api.ProcessWaitInput{ID: s.ID, Exit: w.Log == "" && w.Port == 0, Log: w.Log, Port: w.Port}, w.TimeoutMS)
	if err != nil {
		return "", err
	}
	printed, err := f.ReadOutput(ctx, out.Process.ID, toolkit.OutputQuery{Max: maxWaitOutput})
	if err != nil {
		return "", err
	}
	s.Met, s.ExitCode, s.NextCursor = out.Met, out.Process.ExitCode, &printed.Next
	return waitResult(out, w.Port, printed.NoteDropped().Text), nil
}
