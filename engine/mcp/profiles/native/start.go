package native

import (
	"context"
	"fmt"

	"tandem/engine/api"
	"tandem/engine/mcp/profiles/plugin"
	"tandem/engine/mcp/toolkit"
)

// processStartTool stands where the profile plugin, whose tool of that name tells all
// about what it starts, is not offered.
func processStartTool() toolkit.Tool {
	t := toolkit.Define[startInput, startState](toolkit.Tool{Name: "process_start", Effect: api.Destructive, Profiles: []toolkit.Profile{toolkit.Native},
		Doc: "Start a long-lived process; fails if its name is in use. keepAlive restarts it until process_stop; wait: log or port, as in process_wait."}, processStart)
	t.EngineJudged = true
	return t
}

type startInput struct {
	plugin.StartInput
	Wait *startWait `json:"wait,omitempty"`
}

// A startWait is what is waited for after a start, as process_wait has it. The end of the
// process always ends the wait.
type startWait struct {
	Log       string `json:"log,omitempty"`
	Port      int    `json:"port,omitempty"`
	TimeoutMS int    `json:"timeout_ms,omitempty"`
}

func (w *startWait) check() error {
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

// A startState is what the caller of process_start cannot know.
type startState struct {
	toolkit.StartedResult
	Met        string          `json:"met,omitempty"` // the condition of wait that holds
	ExitCode   *int            `json:"exit_code,omitempty"`
	NextCursor *toolkit.Cursor `json:"next_cursor,omitempty"` // behind the output given
}

func processStart(ctx context.Context, f *toolkit.Agent, in startInput) (toolkit.Result, error) {
	if err := in.Wait.check(); err != nil {
		return toolkit.Result{}, err
	}
	return plugin.Start(ctx, f, in.StartInput, func(p api.Process) toolkit.Result {
		started := startState{StartedResult: toolkit.StartedResult{ID: p.ID, Name: p.Name, PID: p.PID}}
		if in.Wait == nil {
			return toolkit.Text(started.String()).WithSameFacts(started)
		}
		said, err := started.await(ctx, f, *in.Wait)
		if err != nil { // it runs: a failed call would be made again
			said = fmt.Sprintf("Waiting failed: %v.", err)
		}
		return toolkit.Text(started.String() + "\n" + said).WithFacts(started)
	})
}

// await waits for what has been started, and says what has come of it and what it printed.
func (s *startState) await(ctx context.Context, f *toolkit.Agent, w startWait) (said string, err error) {
	out, err := await(ctx, f, api.ProcessWaitInput{ID: s.ID, Exit: w.Log == "" && w.Port == 0, Log: w.Log, Port: w.Port}, w.TimeoutMS)
	if err != nil {
		return "", err
	}
	printed, err := f.ReadOutput(ctx, out.Process, toolkit.OutputQuery{Max: waitBulk})
	if err != nil {
		return "", err
	}
	s.Met, s.ExitCode, s.NextCursor = out.Met, out.Process.ExitCode, &printed.Next
	return cameOf(out, w.Port, printed.Text), nil
}
