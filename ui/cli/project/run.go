package project

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
	"tandem/ui/cli/output"
)

// settle is how often a process that its policy starts again is looked at while
// its success is waited for.
const settle = 100 * time.Millisecond

// A Run carries out a plan: every step in a goroutine of its own that waits for
// what it depends on.
type Run struct {
	Out     output.Printer
	Connect func(context.Context) (*client.Client, error)
	Environ []string                // of what is started
	Size    func() (cols, rows int) // of new terminals
	Client  *client.Client
	File    *File
	Plan    *Plan
	Wait    bool
	Timeout time.Duration // of all waiting; 0 is none
	began   time.Time

	mu      sync.Mutex // guards results and what is printed
	results []Result
	failed  []error
}

// An upResult is what up tells about an entry.
type Result struct {
	Name    string       `json:"name"`
	Action  Action       `json:"action"`
	After   []string     `json:"after,omitempty"`
	Ready   bool         `json:"ready,omitempty"`
	Error   string       `json:"error,omitempty"`
	Process *api.Process `json:"process,omitempty"`
}

// Up brings about what the file says, and tells what came of it. With prune
// what the file does not name any more is ended.
func (r *Run) Up(ctx context.Context, prune bool) error {
	r.all(ctx)
	r.layOut(ctx)
	r.removed(ctx, prune)
	return r.report()
}

// all starts everything and returns when it is started, and with wait ready.
func (r *Run) all(ctx context.Context) {
	r.began = time.Now()
	var steps sync.WaitGroup
	for _, s := range r.Plan.steps {
		steps.Go(func() {
			s.process, s.err = r.begin(ctx, s)
			close(s.begun)
			r.note(s)
			if r.Wait && s.err == nil && s.entry.Start.Ready != nil && s.action != actionDone {
				s.err = r.await(ctx, s, Ready)
				s.ready = s.err == nil
				r.note(s)
			}
		})
	}
	steps.Wait()
	for _, s := range r.Plan.steps {
		r.add(s)
	}
}

// begin waits for what a step depends on, then carries it out.
func (r *Run) begin(ctx context.Context, s *step) (api.Process, error) {
	for _, d := range s.entry.After {
		if err := r.awaitStep(ctx, d); err != nil {
			return api.Process{}, fmt.Errorf("start %s: %w", s.entry.Name, err)
		}
	}
	switch s.action {
	case actionKeep, actionDone:
		return *s.old, nil
	case actionAgain:
		return r.checked(api.ProcessRestart.Call(ctx, r.Client, api.ProcessRestartInput{ID: s.old.ID}))
	case actionChange:
		if _, err := end(ctx, r.Client, *s.old, true); err != nil {
			return api.Process{}, err
		}
	}
	return r.checked(api.ProcessStart.Call(ctx, r.Client, r.input(s)))
}

// checked makes an error of a process that could not be started.
func (r *Run) checked(p api.Process, err error) (api.Process, error) {
	if err == nil && p.State == api.StateFailed {
		err = api.Errorf(api.CodeConflict, "start %s: %s", p.Name, p.Error)
	}
	return p, err
}

// input is what the engine is asked to start.
func (r *Run) input(s *step) api.ProcessStartInput {
	in := s.entry.Start
	in.Name = s.name
	in.Environ = api.Environ(r.Environ)
	in.Project = &api.ProjectEntry{File: r.File.Path, Name: s.entry.Name, Digest: s.digest}
	in.Env = map[string]string{}
	for _, v := range s.entry.Env {
		in.Env[v.Name] = v.Value
	}
	if in.TTY {
		in.Cols, in.Rows = r.Size()
	}
	return in
}

// awaitStep waits until what is depended on has come as far as it must.
func (r *Run) awaitStep(ctx context.Context, d Dependency) error {
	for _, s := range r.Plan.steps {
		if s.entry.Name != d.Name {
			continue
		}
		select {
		case <-s.begun:
		case <-ctx.Done():
			return ctx.Err()
		}
		if s.process.ID == "" {
			return fmt.Errorf("its dependency %s was not started", d.Name)
		}
		return r.await(ctx, s, d.Condition)
	}
	return nil
}

// await waits for a condition of a step that has begun.
func (r *Run) await(ctx context.Context, s *step, c Condition) error {
	if s.action == actionDone || c == Started {
		return nil
	}
	conn, err := retry.Connect(ctx, r.Connect)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := api.ProcessWaitInput{ID: s.process.ID, Ready: c == Ready, Exit: c == Completed || c == Succeeded}
	for {
		left := time.Duration(0)
		if r.Timeout > 0 {
			left = max(r.Timeout-time.Since(r.began), time.Millisecond)
		}
		out, err := retry.Wait(ctx, conn, in, left)
		p := out.Process
		switch {
		case err != nil:
			return err
		case out.Met == "ready", c == Completed:
			return nil
		case c == Succeeded && succeeded(s.entry, p):
			return nil
		case r.Timeout > 0 && time.Since(r.began) >= r.Timeout:
			return fmt.Errorf("%s %s within %v: %s", s.entry.Name, missed(c), r.Timeout, why(p))
		case p.State.Ended():
			return fmt.Errorf("%s %s: %s", s.entry.Name, missed(c), why(p))
		}
		if err := retry.Pause(ctx, settle); err != nil {
			return err
		}
	}
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
	if r.Out.JSON || s.err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	text := string(s.action)
	switch {
	case s.ready:
		text = "ready"
	case s.action == actionKeep:
		text = output.StateText(s.process) + ", unchanged"
	case s.process.Name != s.entry.Name:
		text += " as " + output.Visible(s.process.Name)
	}
	if err := r.Out.Print(output.Visible(s.entry.Name) + ": " + text + "\n"); err != nil {
		r.failed = append(r.failed, err)
	}
}

// add keeps the result of a step.
func (r *Run) add(s *step) {
	result := Result{Name: s.entry.Name, Action: s.action, Ready: s.ready}
	if s.process.ID != "" {
		result.Process = &s.process
	}
	if s.err != nil {
		result.Error = s.err.Error()
		if result.Process == nil {
			result.Action = actionFailed
		}
		r.failed = append(r.failed, s.err)
	}
	r.results = append(r.results, result)
}

// removed tells of what the file does not name any more, or ends it.
func (r *Run) removed(ctx context.Context, prune bool) {
	var running []string
	for i := range r.Plan.removed {
		p := &r.Plan.removed[i]
		if !prune {
			if !p.State.Ended() {
				running = append(running, output.Visible(p.Name))
			}
			r.results = append(r.results, Result{Name: p.Project.Name, Action: actionLeft, Process: p})
			continue
		}
		result := Result{Name: p.Project.Name, Action: actionEnd, Process: p}
		if _, err := end(ctx, r.Client, *p, true); err != nil {
			result.Error = err.Error()
			r.failed = append(r.failed, err)
		} else if !r.Out.JSON {
			_ = r.Out.Print(output.Visible(p.Name) + ": " + string(actionEnd) + "\n")
		}
		r.results = append(r.results, result)
	}
	if len(running) > 0 && !r.Out.JSON {
		r.Out.Tell("no longer in the file but still running: %s; --prune stops them", strings.Join(running, ", "))
	}
}

// report prints the JSON, and the errors; the last is the verb's own.
func (r *Run) report() error {
	return r.Out.AnswerEach(r.results, r.failed, func() string { return "" })
}

// missed says which condition does not hold.
func missed(c Condition) string {
	switch c {
	case Ready:
		return "is not ready"
	case Succeeded:
		return "has not completed with success"
	}
	return "has not completed"
}
