package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client/retry"
	"tandem/ui/cli/output"
)

// look is how often it is looked how far everything has come.
const look = 100 * time.Millisecond

// A Run carries out a plan: it asks the engine for everything at once, which keeps
// the order, and then watches what becomes of it.
type Run struct {
	Out     output.Printer
	Environ []string                // of what is started
	Umask   string                  // of what is started, in octal
	Size    func() (cols, rows int) // of new terminals
	Conn    *retry.Conn
	File    *File
	Plan    *Plan
	Wait    bool
	Timeout time.Duration // of watching; 0 is none
	Live    *os.File      // the terminal on which rows show what is going on; nil for none

	failed []error
}

// A Result is what up tells about an entry.
type Result struct {
	Name    string       `json:"name"`
	Action  Action       `json:"action"`
	After   []string     `json:"after,omitempty"`
	Ready   bool         `json:"ready,omitempty"`
	Error   string       `json:"error,omitempty"`
	Process *api.Process `json:"process,omitempty"`
}

// Up brings about what the file says, and tells what came of it. With prune
// what the file does not name any more is ended. When ctx ends before, it says what
// goes on.
func (r *Run) Up(ctx context.Context, prune bool) error {
	began := time.Now()
	r.ask(ctx)
	r.layOut(ctx)
	removed := r.removed(ctx, prune)
	r.watch(ctx, began)
	if ctx.Err() != nil {
		return r.left()
	}
	r.printUnchecked(ctx)
	r.lastWords(ctx)
	var results []Result
	for _, s := range r.Plan.steps {
		results = append(results, r.result(s))
	}
	if r.Live != nil {
		r.Out.Tell("%s", r.summary())
	}
	return r.Out.AnswerEach(append(results, removed...), r.failed, func() string { return "" })
}

// ask asks the engine for everything, each entry when it has what that comes after.
func (r *Run) ask(ctx context.Context) {
	var steps sync.WaitGroup
	for _, s := range r.Plan.steps {
		steps.Go(func() {
			s.process, s.err = r.begin(ctx, s)
			close(s.begun)
		})
	}
	steps.Wait()
}

// begin carries out a step.
func (r *Run) begin(ctx context.Context, s *step) (api.Process, error) {
	after, err := r.after(ctx, s)
	if err != nil {
		return api.Process{}, fmt.Errorf("start %s: %w", s.entry.Name, err)
	}
	switch s.action {
	case actionKeep, actionDone:
		return *s.old, nil
	case actionAgain:
		return api.ProcessRestart.Call(ctx, r.Conn, api.ProcessRestartInput{ID: s.old.ID, After: after, RestartID: api.NewID()})
	case actionChange:
		if _, err := end(ctx, r.Conn.Client, *s.old, true); err != nil {
			return api.Process{}, err
		}
	}
	in := r.input(s)
	in.ID, in.After = api.NewID(), after
	p, err := api.ProcessStart.Call(ctx, r.Conn, in)
	if errors.Is(err, api.CodeInvalid) {
		err = fmt.Errorf("%s, line %d, %s: %w", filepath.Base(r.File.Path), s.entry.At.Line, s.entry.Name, err)
	}
	return p, err
}

// after is what the engine shall wait for before it starts an entry. A task that
// was done before is no longer waited for.
func (r *Run) after(ctx context.Context, of *step) ([]api.Dependency, error) {
	var after []api.Dependency
	for _, d := range of.entry.After {
		on := r.step(d.Name)
		select {
		case <-on.begun:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if on.process.ID == "" {
			return nil, fmt.Errorf("its dependency %s was not started", d.Name)
		}
		if on.action != actionDone {
			after = append(after, api.Dependency{ID: on.process.ID, Condition: api.Condition(d.Condition)})
		}
	}
	return after, nil
}

// step is that of an entry; Order has put it into the plan.
func (r *Run) step(name string) *step {
	return r.Plan.steps[slices.IndexFunc(r.Plan.steps, func(s *step) bool { return s.entry.Name == name })]
}

// input is what the engine is asked to start.
func (r *Run) input(s *step) api.ProcessStartInput {
	in := s.entry.Start
	in.Name = s.name
	in.Environ, in.Umask = api.Environ(r.Environ), r.Umask
	in.Project = &api.ProjectEntry{File: r.File.Path, Project: r.File.Name, Name: s.entry.Name, Digest: s.digest}
	if s.entry.Session && in.StopSignal == "" { // interactive shells ignore TERM
		in.StopSignal = "HUP"
	}
	in.Env = map[string]string{}
	for _, v := range s.entry.Env {
		in.Env[v.Name] = v.Value
	}
	if in.TTY {
		in.Cols, in.Rows = r.Size()
	}
	return in
}

// why tells how a process ended.
func why(p api.Process) string {
	text := output.StateText(p)
	if p.Error != "" {
		text += ": " + p.Error
	}
	return text
}

// note prints what has become of a step, as it happens.
func (r *Run) note(s *step) {
	if s.err != nil {
		return
	}
	text := string(s.action)
	switch {
	case s.ready:
		text = "ready"
	case s.process.State == api.StateBackoff:
		text = why(s.process)
	case s.action == actionKeep:
		text = output.StateText(s.process) + ", unchanged"
	case s.process.Name != s.entry.Name:
		text += " as " + output.Visible(s.process.Name)
	}
	r.printStep(s, text)
}

// printStep prints text about s, unless it repeats the last text.
func (r *Run) printStep(s *step, text string) {
	if r.Out.JSON || s.printed == text {
		return
	}
	s.printed = text
	if err := r.Out.Print(output.Visible(s.entry.Name) + ": " + text + "\n"); err != nil {
		r.failed = append(r.failed, err)
	}
}

// result is what a step has come to.
func (r *Run) result(s *step) Result {
	result := Result{Name: s.entry.Name, Action: s.action, Ready: s.ready}
	if s.process.ID != "" {
		result.Process = &s.process
	}
	if s.err != nil {
		result.Error = s.err.Error()
		if result.Process == nil || s.process.State == api.StateFailed {
			result.Action = actionFailed
		}
		r.failed = append(r.failed, s.err)
	}
	return result
}

// removed tells of what the file does not name any more, or ends it.
func (r *Run) removed(ctx context.Context, prune bool) (results []Result) {
	var running []string
	for i := range r.Plan.removed {
		p := &r.Plan.removed[i]
		if !prune {
			if !p.State.Ended() {
				running = append(running, output.Visible(p.Name))
			}
			results = append(results, Result{Name: p.Project.Name, Action: actionLeft, Process: p})
			continue
		}
		result := Result{Name: p.Project.Name, Action: actionEnd, Process: p}
		if _, err := end(ctx, r.Conn.Client, *p, true); err != nil {
			result.Error = err.Error()
			r.failed = append(r.failed, err)
		} else if !r.Out.JSON {
			_ = r.Out.Print(output.Visible(p.Name) + ": " + string(actionEnd) + "\n")
		}
		results = append(results, result)
	}
	if len(running) > 0 && !r.Out.JSON {
		r.Out.Tell("no longer in the file but still running: %s; --prune stops them", strings.Join(running, ", "))
	}
	return results
}
