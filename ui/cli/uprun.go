package cli

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/ui/cli/output"
	"tandem/ui/cli/project"
	"tandem/ui/cli/retry"
)

// settle is how often a process that its policy starts again is looked at while
// its success is waited for.
const settle = 100 * time.Millisecond

// A run carries out a plan: every step in a goroutine of its own that waits for
// what it depends on.
type run struct {
	app     *app
	client  *client.Client
	file    *project.File
	plan    *plan
	wait    bool
	timeout time.Duration // of all waiting; 0 is none
	began   time.Time

	mu      sync.Mutex // guards results and what is printed
	results []upResult
	failed  []error
}

// An upResult is what up tells about an entry.
type upResult struct {
	Name    string       `json:"name"`
	Action  upAction     `json:"action"`
	After   []string     `json:"after,omitempty"`
	Ready   bool         `json:"ready,omitempty"`
	Error   string       `json:"error,omitempty"`
	Process *api.Process `json:"process,omitempty"`
}

// all starts everything and returns when it is started, and with wait ready.
func (r *run) all(ctx context.Context) {
	r.began = time.Now()
	var steps sync.WaitGroup
	for _, s := range r.plan.steps {
		steps.Go(func() {
			s.process, s.err = r.begin(ctx, s)
			close(s.begun)
			r.note(s)
			if r.wait && s.err == nil && s.entry.Start.Ready != nil && s.action != actionDone {
				s.err = r.await(ctx, s, project.Ready)
				s.ready = s.err == nil
				r.note(s)
			}
		})
	}
	steps.Wait()
	for _, s := range r.plan.steps {
		r.add(s)
	}
}

// begin waits for what a step depends on, then carries it out.
func (r *run) begin(ctx context.Context, s *step) (api.Process, error) {
	for _, d := range s.entry.After {
		if err := r.awaitStep(ctx, d); err != nil {
			return api.Process{}, fmt.Errorf("start %s: %w", s.entry.Name, err)
		}
	}
	switch s.action {
	case actionKeep, actionDone:
		return *s.old, nil
	case actionAgain:
		return r.checked(api.ProcessRestart.Call(ctx, r.client, api.IDInput{ID: s.old.ID}))
	case actionChange:
		if _, err := end(ctx, r.client, *s.old, true); err != nil {
			return api.Process{}, err
		}
	}
	return r.checked(api.ProcessStart.Call(ctx, r.client, r.input(s)))
}

// checked makes an error of a process that could not be started.
func (r *run) checked(p api.Process, err error) (api.Process, error) {
	if err == nil && p.State == api.StateFailed {
		err = api.Errorf(api.CodeConflict, "start %s: %s", p.Name, p.Error)
	}
	return p, err
}

// input is what the engine is asked to start.
func (r *run) input(s *step) api.ProcessStartInput {
	in := s.entry.Start
	in.Name = s.name
	in.Environ = api.Environ(r.app.Environ)
	in.Project = &api.ProjectEntry{File: r.file.Path, Name: s.entry.Name, Digest: s.digest}
	in.Env = map[string]string{}
	for _, v := range s.entry.Env {
		in.Env[v.Name] = v.Value
	}
	if in.TTY {
		in.Cols, in.Rows = r.app.ownSize()
	}
	return in
}

// awaitStep waits until what is depended on has come as far as it must.
func (r *run) awaitStep(ctx context.Context, d project.Dependency) error {
	for _, s := range r.plan.steps {
		if s.entry.Name != d.Name {
			continue
		}
		select {
		case <-s.begun:
		case <-ctx.Done():
			return ctx.Err()
		}
		if s.process.ID == "" {
			return fmt.Errorf("%s, which it depends on, was not started", d.Name)
		}
		return r.await(ctx, s, d.Condition)
	}
	return nil
}

// await waits for a condition of a step that has begun.
func (r *run) await(ctx context.Context, s *step, c project.Condition) error {
	if s.action == actionDone || c == project.Started {
		return nil
	}
	conn, err := retry.Connect(ctx, r.app.Connect)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := api.ProcessWaitInput{ID: s.process.ID, Ready: c == project.Ready, Exit: c == project.Completed || c == project.Succeeded}
	for {
		left := time.Duration(0)
		if r.timeout > 0 {
			left = max(r.timeout-time.Since(r.began), time.Millisecond)
		}
		out, err := waitUntil(ctx, conn, in, left)
		p := out.Process
		switch {
		case err != nil:
			return err
		case out.Met == "ready", c == project.Completed:
			return nil
		case c == project.Succeeded && succeeded(s.entry, p):
			return nil
		case r.timeout > 0 && time.Since(r.began) >= r.timeout:
			return fmt.Errorf("%s %s within %v: %s", s.entry.Name, missed(c), r.timeout, why(p))
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
	text := stateText(p)
	if p.Error != "" {
		text += ": " + p.Error
	}
	return text
}

// note prints what has become of a step, as it happens.
func (r *run) note(s *step) {
	if r.app.out.JSON || s.err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	text := string(s.action)
	switch {
	case s.ready:
		text = "ready"
	case s.action == actionKeep:
		text = stateText(s.process) + ", unchanged"
	case s.process.Name != s.entry.Name:
		text += " as " + output.Visible(s.process.Name)
	}
	if err := r.app.out.Print(output.Visible(s.entry.Name) + ": " + text + "\n"); err != nil {
		r.failed = append(r.failed, err)
	}
}

// add keeps the result of a step.
func (r *run) add(s *step) {
	result := upResult{Name: s.entry.Name, Action: s.action, Ready: s.ready}
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
func (r *run) removed(ctx context.Context, prune bool) {
	var running []string
	for i := range r.plan.removed {
		p := &r.plan.removed[i]
		if !prune {
			if !p.State.Ended() {
				running = append(running, output.Visible(p.Name))
			}
			r.results = append(r.results, upResult{Name: p.Project.Name, Action: actionLeft, Process: p})
			continue
		}
		result := upResult{Name: p.Project.Name, Action: actionEnd, Process: p}
		if _, err := end(ctx, r.client, *p, true); err != nil {
			result.Error = err.Error()
			r.failed = append(r.failed, err)
		} else if !r.app.out.JSON {
			_ = r.app.out.Print(output.Visible(p.Name) + ": " + string(actionEnd) + "\n")
		}
		r.results = append(r.results, result)
	}
	if len(running) > 0 && !r.app.out.JSON {
		r.app.out.Tell("not in the file any more and still there: %s; --prune ends what is not", strings.Join(running, ", "))
	}
}

// report prints the JSON, and the errors; the last is the verb's own.
func (r *run) report() error {
	return r.app.out.AnswerEach(r.results, r.failed, func() string { return "" })
}

// missed says which condition does not hold.
func missed(c project.Condition) string {
	switch c {
	case project.Ready:
		return "is not ready"
	case project.Succeeded:
		return "has not completed with success"
	}
	return "has not completed"
}
