package sessions

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
)

// A sessionStart is a session to start. Its id is chosen in advance, so that the session can be shown
// before the engine has answered.
type sessionStart struct {
	ID      string
	Name    string   // "" for one given by the engine
	Command []string // empty for a shell
	Actor   string   // "" for the user
	// Where returns the directory to start in, or the id of a session whose working directory to
	// use. It is called only when the start is next in line, to get a current answer.
	Where func() (folder, near string)

	request *request // nil until it is its turn
	killed  bool     // after it was cancelled
}

// A request is a call that starts a session, and its answer. Whoever calls send first makes the
// call; other callers of send wait for the answer.
type request struct {
	in      api.SessionStartInput
	once    sync.Once
	process api.Process
	err     error
}

// A startResult is the outcome of a sessionStart.
type startResult struct {
	ID      string
	Process api.Process
	Err     error
}

// A starter starts sessions one after another on each machine, so that they appear in the order of
// the requests. If a start is cancelled after its request was sent, the starter kills the session.
type starter struct {
	env interface {
		panes.Caller
		News() *panes.News
		Say(text string, bad bool) tea.Cmd
		ExpectStop(id string) (forget func())
	}
	panes     *Panes
	then      func(startResult) tea.Cmd // gets each outcome that was not cancelled
	waiting   []*sessionStart           // the first of each machine is being started
	cancelled []*sessionStart           // cancelled after the request was sent
}

// start starts a session after those before it.
func (s *starter) start(start sessionStart) tea.Cmd {
	s.waiting = append(s.waiting, &start)
	return s.startNext(start.machine())
}

func (start *sessionStart) machine() string {
	machine, _ := api.MachineOf(start.ID)
	return machine
}

// startNext sends the request of the first start that waits for a machine, unless it was sent
// already.
func (s *starter) startNext(machine string) tea.Cmd {
	at := slices.IndexFunc(s.waiting, func(start *sessionStart) bool { return start.machine() == machine })
	if at < 0 || s.waiting[at].request != nil {
		return nil
	}
	first := s.waiting[at]
	// Build the request only now: while the start waited, its pane may have been resized, and the
	// directory to start in may have changed.
	s.buildRequest(first)
	return func() tea.Msg {
		p, err := first.request.send(s.env.Context(), s.env)
		return panes.Result(func() tea.Cmd { return s.finishStart(first, p, err) })
	}
}

// finishStart handles the answer to a start.
func (s *starter) finishStart(start *sessionStart, p api.Process, err error) tea.Cmd {
	if !s.drop(start) {
		return nil // cancelled
	}
	next := s.startNext(start.machine())
	return tea.Batch(next, s.then(startResult{start.ID, p, err}))
}

// drop removes a start from those waiting; ok is false if it was removed before.
func (s *starter) drop(start *sessionStart) (ok bool) {
	at := slices.Index(s.waiting, start)
	if at >= 0 {
		s.waiting = slices.Delete(s.waiting, at, at+1)
	}
	return at >= 0
}

// buildRequest makes the request of a start, unless it was made already.
func (s *starter) buildRequest(start *sessionStart) {
	if start.request != nil {
		return
	}
	size := s.panes.Pane(start.ID).Feed.Size()
	folder, near := start.Where()
	start.request = &request{in: api.SessionStartInput{ID: start.ID, Name: start.Name, Command: start.Command, Actor: start.Actor, CWD: folder, CWDOf: near,
		Cols: size.Cols, Rows: size.Rows, Environ: api.Environ(os.Environ()), Umask: api.Umask()}}
}

// send makes the call. If another goroutine has made it, send waits for its answer.
func (r *request) send(ctx context.Context, env panes.Caller) (api.Process, error) {
	r.once.Do(func() {
		e, err := env.Engine(ctx)
		if err == nil {
			r.process, err = api.SessionStart.Call(ctx, e, r.in)
		}
		r.err = err
	})
	return r.process, r.err
}

// find returns the start of a session; nil for none.
func (s *starter) find(id string) *sessionStart {
	at := slices.IndexFunc(s.waiting, func(start *sessionStart) bool { return start.ID == id })
	if at < 0 {
		return nil
	}
	return s.waiting[at]
}

// cancel cancels a start. If its request was sent, the session is killed by its id, and the next
// start does not wait for that.
func (s *starter) cancel(start *sessionStart) tea.Cmd {
	s.drop(start)
	if start.request == nil {
		return nil
	}
	s.cancelled = append(s.cancelled, start)
	forget := s.env.ExpectStop(start.ID)
	kill := func() tea.Msg {
		err := s.killCancelled(s.env.Context(), start)
		return panes.Result(func() tea.Cmd {
			if err != nil {
				forget()
			}
			return s.finishKill(start, err)
		})
	}
	return tea.Batch(kill, s.startNext(start.machine()))
}

// killCancelled kills the session of a cancelled start. If the engine does not know the session
// yet, it waits for the answer to the start and tries again.
func (s *starter) killCancelled(ctx context.Context, start *sessionStart) error {
	kill := func() error {
		e, err := s.env.Engine(ctx)
		if err == nil {
			err = api.SessionKill.Run(ctx, e, api.IDInput{ID: start.ID})
		}
		return err
	}
	err := kill()
	if errors.Is(err, api.CodeNotFound) {
		_, _ = start.request.send(ctx, s.env) // an error may hide that the session was started
		err = kill()
	}
	if errors.Is(err, api.CodeNotFound) {
		return nil
	}
	return err
}

// finishKill handles the outcome of killCancelled.
func (s *starter) finishKill(start *sessionStart, err error) tea.Cmd {
	// A killed start stays cancelled, so that its session gets no pane.
	if start.killed = err == nil; start.killed {
		return nil
	}
	s.cancelled = slices.DeleteFunc(s.cancelled, func(other *sessionStart) bool { return other == start })
	if p, ok := s.env.News().Process(start.ID); !ok || p.State.Ended() { // it has exited by itself
		return nil
	}
	return s.env.Say(panes.ErrorText(err), true)
}

// isCancelled reports whether the start of a session was cancelled.
func (s *starter) isCancelled(id string) bool {
	return slices.ContainsFunc(s.cancelled, func(start *sessionStart) bool { return start.ID == id })
}

// finish starts the waiting sessions and kills the cancelled ones, at most until ctx is done. Each
// step is run by task, which must run it in a goroutine.
func (s *starter) finish(ctx context.Context, task func(func())) (started []startResult) {
	finish := func(do func()) bool {
		done := make(chan struct{})
		task(func() {
			defer close(done)
			do()
		})
		select {
		case <-done:
			return true
		case <-ctx.Done():
			return false
		}
	}
	for _, start := range s.cancelled {
		if !start.killed && !finish(func() { _ = s.killCancelled(ctx, start) }) { // there is no dashboard left to report to
			return nil
		}
	}
	for _, start := range s.waiting {
		s.buildRequest(start)
		one := startResult{ID: start.ID}
		if !finish(func() { one.Process, one.Err = start.request.send(ctx, s.env) }) {
			return started
		}
		if one.Err == nil {
			started = append(started, one)
		}
	}
	return started
}
