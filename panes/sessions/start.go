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

// A Start is a session that is wanted, and the id that it will have: by that it is
// known before the engine has answered.
type Start struct {
	ID      string
	Name    string          // "" for one that the engine gives
	Command []string        // a shell if there is none
	Size    func() api.Size // of its pane
	// Where is the folder that it starts in, and the session whose folder is to be
	// taken instead, "" for none. It is asked when the start is made.
	Where func() (folder, near string)

	request *request // nil until it is its turn
	killed  bool     // after it was cancelled
}

// A request is a call for a session, made once by whoever comes first, and its answer.
type request struct {
	in      api.SessionStartInput
	once    sync.Once
	process api.Process
	err     error
}

// A Started is the outcome of a start.
type Started struct {
	ID      string // that was asked for
	Process api.Process
	Err     error
}

// A Starter starts the sessions of each machine one after the other, so that they are
// there in the order they were asked for, and kills those cancelled meanwhile.
type Starter struct {
	env       Env
	then      func(Started) tea.Cmd
	waiting   []*Start // for their session; the first of each machine is being started
	cancelled []*Start // after the engine was asked for them
}

// NewStarter returns an idle starter. then takes the outcome of each start not cancelled.
func NewStarter(env Env, then func(Started) tea.Cmd) *Starter { return &Starter{env: env, then: then} }

// Waiting are the ids of the sessions that are not there yet.
func (s *Starter) Waiting() (ids []string) {
	for _, start := range s.waiting {
		ids = append(ids, start.ID)
	}
	return ids
}

// Start starts a session once those before it are there.
func (s *Starter) Start(start Start) tea.Cmd {
	s.waiting = append(s.waiting, &start)
	return s.next(start.machine())
}

// machine is where it is to be started.
func (start *Start) machine() string {
	machine, _ := api.MachineOf(start.ID)
	return machine
}

// next asks for the first start of a machine that waits there, if that was not
// asked for yet.
func (s *Starter) next(machine string) tea.Cmd {
	at := slices.IndexFunc(s.waiting, func(start *Start) bool { return start.machine() == machine })
	if at < 0 || s.waiting[at].request != nil {
		return nil
	}
	first := s.waiting[at]
	first.prepare()
	return func() tea.Msg {
		p, err := first.request.make(s.env.Context(), s.env)
		return panes.Result(func() tea.Cmd { return s.started(first, p, err) })
	}
}

// started takes in the answer to a start.
func (s *Starter) started(start *Start, p api.Process, err error) tea.Cmd {
	at := slices.Index(s.waiting, start)
	if at < 0 {
		return nil // it was cancelled
	}
	s.waiting = slices.Delete(s.waiting, at, at+1)
	next := s.next(start.machine())
	return tea.Batch(next, s.then(Started{start.ID, p, err}))
}

// prepare creates the request unless there is one.
func (start *Start) prepare() {
	if start.request != nil {
		return
	}
	size := start.Size()
	folder, near := start.Where()
	start.request = &request{in: api.SessionStartInput{ID: start.ID, Name: start.Name, Command: start.Command, CWD: folder, CWDOf: near,
		Cols: size.Cols, Rows: size.Rows, Environ: api.Environ(os.Environ()), Umask: api.Umask()}}
}

// make asks the engine, or waits for the answer to who has.
func (r *request) make(ctx context.Context, env Env) (api.Process, error) {
	r.once.Do(func() {
		e, err := env.Engine(ctx)
		if err == nil {
			r.process, err = api.SessionStart.Call(ctx, e, r.in)
		}
		r.err = err
	})
	return r.process, r.err
}

func indexOf(starts []*Start, id string) int {
	return slices.IndexFunc(starts, func(start *Start) bool { return start.ID == id })
}

// Cancel takes back a start. One that was not asked for yet never will be; the other is
// killed by its id. Those behind it do not wait for that.
func (s *Starter) Cancel(id string) tea.Cmd {
	at := indexOf(s.waiting, id)
	if at < 0 {
		return nil
	}
	start := s.waiting[at]
	s.waiting = slices.Delete(s.waiting, at, at+1)
	if start.request == nil {
		return nil
	}
	s.cancelled = append(s.cancelled, start)
	s.env.ExpectStop(id)
	kill := func() tea.Msg {
		err := s.kill(s.env.Context(), start)
		return panes.Result(func() tea.Cmd { return s.ended(start, err) })
	}
	return tea.Batch(kill, s.next(start.machine()))
}

// kill kills the session of a cancelled start. An engine may know it only once the start
// is answered.
func (s *Starter) kill(ctx context.Context, start *Start) error {
	kill := func() error {
		e, err := s.env.Engine(ctx)
		if err == nil {
			err = api.SessionKill.Run(ctx, e, api.IDInput{ID: start.ID})
		}
		return err
	}
	err := kill()
	if errors.Is(err, api.CodeNotFound) {
		_, _ = start.request.make(ctx, s.env) // an answer may be lost, and the session there
		err = kill()
	}
	if errors.Is(err, api.CodeNotFound) {
		return nil
	}
	return err
}

// ended takes in the outcome of kill.
func (s *Starter) ended(start *Start, err error) tea.Cmd {
	if start.killed = err == nil; start.killed {
		return nil
	}
	s.cancelled = slices.DeleteFunc(s.cancelled, func(other *Start) bool { return other == start })
	if p, ok := s.env.News().Process(start.ID); !ok || p.State.Ended() { // it has come to nothing by itself
		return nil
	}
	return s.env.Say(panes.ErrorText(err), true)
}

// Has reports whether a session is one that is being started here, or was and is
// not wanted any more.
func (s *Starter) Has(id string) bool {
	return indexOf(s.waiting, id) >= 0 || indexOf(s.cancelled, id) >= 0
}

// Finish waits for the sessions that were asked for and are not there yet, if the
// engine gives them before ctx ends, and kills those that were cancelled. task runs
// beside it.
func (s *Starter) Finish(ctx context.Context, task func(func())) (started []Started) {
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
		if !start.killed && !finish(func() { _ = s.kill(ctx, start) }) { // there is nobody left to tell
			return nil
		}
	}
	for _, start := range s.waiting {
		start.prepare()
		one := Started{ID: start.ID}
		if !finish(func() { one.Process, one.Err = start.request.make(ctx, s.env) }) {
			return started
		}
		if one.Err == nil {
			started = append(started, one)
		}
	}
	return started
}
