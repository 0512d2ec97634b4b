package project

import (
	"cmp"
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

// A Run carries out a plan. It sends all starts to the engine at once, because the engine keeps the
// order of dependencies, and then watches the processes.
type Run struct {
	Out     output.Printer
	Environ []string                // environment of new processes
	Umask   string                  // umask of new processes, in octal
	Size    func() (cols, rows int) // size of new terminals
	Conn    *retry.Conn
	File    *File
	Plan    *Plan
	Wait    bool
	Timeout time.Duration // of watching; 0 means none
	Live    *os.File      // terminal for progress rows; nil for none
	Session string        // id of the session in which the user gave the command; may be empty

	ExitOnFailure bool // with Wait: stop watching once anything has failed

	errs []error
}

// A Result is the JSON output of up about an entry.
type Result struct {
	Name    string       `json:"name"`
	Action  Action       `json:"action"`
	After   []string     `json:"after,omitempty"`
	Ready   bool         `json:"ready,omitempty"`
	Error   string       `json:"error,omitempty"`
	Process *api.Process `json:"process,omitempty"`
}

// Up carries out the plan and prints the results. With prune it removes processes no longer in the
// file. If ctx ends first, it prints which processes continue.
func (r *Run) Up(ctx context.Context, prune bool) error {
	began := time.Now()
	r.startAll(ctx)
	r.showLayout(ctx)
	removed := r.handleRemoved(ctx, prune)
	r.watch(ctx, began)
	if ctx.Err() != nil {
		return r.reportInterrupted()
	}
	r.checkRest(ctx)
	r.printLastLines(ctx)
	var results []Result
	for _, s := range r.Plan.steps {
		results = append(results, r.result(s))
	}
	if r.Live != nil {
		r.Out.Tell("%s", r.summary())
	}
	return r.Out.AnswerEach(append(results, removed...), r.errs, func() string { return "" })
}

// startAll starts all steps, each as soon as the ids of its dependencies are known.
func (r *Run) startAll(ctx context.Context) {
	// All steps run at once, because each waits for its own dependencies.
	var steps sync.WaitGroup
	for _, s := range r.Plan.steps {
		steps.Go(func() {
			s.process, s.err = r.runStep(ctx, s)
			close(s.started)
		})
	}
	steps.Wait()
}

// runStep carries out a step.
func (r *Run) runStep(ctx context.Context, s *step) (api.Process, error) {
	after, err := r.dependencies(ctx, s)
	if err != nil {
		return api.Process{}, fmt.Errorf("start %s: %w", s.entry.Name, err)
	}
	switch s.action {
	case actionKeep, actionDone:
		return *s.existing, nil
	case actionRestart:
		return api.ProcessRestart.Call(ctx, r.Conn, api.ProcessRestartInput{ID: s.existing.ID, After: after, RestartID: api.NewID()})
	case actionChange:
		if _, err := stopOne(ctx, r.Conn.Client, *s.existing, false); err != nil {
			return api.Process{}, err
		}
		s.newID = api.NewID()
	}
	in := r.startInput(s)
	in.ID, in.After = cmp.Or(s.newID, api.NewID()), after
	p, err := api.ProcessStart.Call(ctx, r.Conn, in)
	// Only the engine knows all rules, so point to the line of the entry.
	if errors.Is(err, api.CodeInvalid) {
		err = fmt.Errorf("%s, line %d, %s: %w", filepath.Base(r.File.Path), s.entry.At.Line, s.entry.Name, err)
	}
	return p, err
}

// dependencies returns the processes that the engine must wait for before it starts a step.
// Completed tasks are left out.
func (r *Run) dependencies(ctx context.Context, of *step) ([]api.Dependency, error) {
	var after []api.Dependency
	for _, d := range of.entry.After {
		on := r.step(d.Name)
		select {
		// on.process may be read only once started is closed.
		case <-on.started:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if on.process.ID == "" {
			return nil, fmt.Errorf("its dependency %s was not started", d.Name)
		}
		if on.action != actionDone {
			after = append(after, api.Dependency{ID: on.process.ID, Condition: d.Condition})
		}
	}
	return after, nil
}

// step returns the step of an entry. It exists, because Order adds dependencies to the plan.
func (r *Run) step(name string) *step {
	return r.Plan.steps[slices.IndexFunc(r.Plan.steps, func(s *step) bool { return s.entry.Name == name })]
}

// startInput returns the engine's input for a step.
func (r *Run) startInput(s *step) api.ProcessStartInput {
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

// stateReason formats a process's state, with its error.
func stateReason(p api.Process) string {
	text := output.StateText(p)
	if p.Error != "" {
		text += ": " + p.Error
	}
	return text
}

// printProgress prints the current state of a step.
func (r *Run) printProgress(s *step) {
	if s.err != nil {
		return
	}
	text := s.action.text()
	switch {
	case s.ready:
		text = "ready"
	case s.process.State == api.StateBackoff:
		text = stateReason(s.process)
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
		r.errs = append(r.errs, err)
	}
}

// result returns the outcome of a step, for the answer of the command, and adds the step's error to
// r.errs.
func (r *Run) result(s *step) Result {
	result := Result{Name: s.entry.Name, Action: s.action, Ready: s.ready}
	if s.process.ID != "" {
		result.Process = &s.process
	}
	if s.err != nil {
		result.Error = s.err.Error()
		if result.Process == nil || s.process.State == api.StateFailed || s.restored != nil || s.neverRan() {
			result.Action = actionFailed
		}
		if s.restored != nil {
			result.Process = s.restored
		}
		r.errs = append(r.errs, s.err)
	}
	return result
}

// handleRemoved lists the processes no longer in the file, and with prune deletes them.
func (r *Run) handleRemoved(ctx context.Context, prune bool) (results []Result) {
	var running, ended []string
	for i := range r.Plan.removed {
		p := &r.Plan.removed[i]
		if !prune {
			if !p.IsAlive() {
				ended = append(ended, output.Visible(p.Name))
			} else {
				running = append(running, output.Visible(p.Name))
			}
			results = append(results, Result{Name: p.Project.Name, Action: actionOrphan, Process: p})
			continue
		}
		result := Result{Name: p.Project.Name, Action: actionRemove, Process: p}
		if _, err := stopOne(ctx, r.Conn.Client, *p, true); err != nil {
			result.Error = err.Error()
			r.errs = append(r.errs, err)
		} else if !r.Out.JSON {
			_ = r.Out.Print(output.Visible(p.Name) + ": " + string(actionRemove) + "\n")
		}
		results = append(results, result)
	}
	if len(running) > 0 && !r.Out.JSON {
		r.Out.Tell("no longer in the file but still running: %s; --prune stops them", strings.Join(running, ", "))
	}
	if len(ended) > 0 && !r.Out.JSON {
		r.Out.Tell("no longer in the file, and not running: %s; --prune deletes them", strings.Join(ended, ", "))
	}
	return results
}
