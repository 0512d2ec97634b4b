package sessions

import (
	"context"
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
	Where  func() (folder, near string)
	asking *asking
}

// asking is what the engine is asked once, by whoever comes first, and what it
// answers.
type asking struct {
	asked  bool // the command that asks has been made
	once   sync.Once
	answer startedMsg
}

// startedMsg is the outcome of a start: the first of them, or one that was called
// off meanwhile.
type startedMsg struct {
	asking  *asking
	process api.Process
	err     error
}

// A StartMsg is for a Starter.
type StartMsg interface{ isForStarter() }

func (startedMsg) isForStarter()   {}
func (calledOffMsg) isForStarter() {}

// A Starter starts the sessions of each machine one after the other, so that they are
// there in the order they were asked for, and ends those that were called off meanwhile.
type Starter struct {
	env       Env
	waiting   []Start         // for their session; the first of each machine is being started
	calledOff []Start         // while the engine was at them
	unwanted  map[string]bool // sessions that were called off and are asked to end
}

// NewStarter makes one that has nothing to start.
func NewStarter(env Env) *Starter { return &Starter{env: env, unwanted: map[string]bool{}} }

// Waiting are the ids of the sessions that are not there yet.
func (s *Starter) Waiting() (ids []string) {
	for _, start := range s.waiting {
		ids = append(ids, start.ID)
	}
	return ids
}

// Start starts a session once those before it are there.
func (s *Starter) Start(start Start) tea.Cmd {
	start.asking = &asking{}
	s.waiting = append(s.waiting, start)
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
	at := slices.IndexFunc(s.waiting, func(start Start) bool { return start.machine() == machine })
	if at < 0 || s.waiting[at].asking.asked {
		return nil
	}
	first := s.waiting[at]
	first.asking.asked = true
	in := first.input()
	return func() tea.Msg { return first.asking.ask(s.env.Context(), s.env, in) }
}

func (start *Start) input() api.SessionStartInput {
	size := start.Size()
	folder, near := start.Where()
	return api.SessionStartInput{ID: start.ID, Name: start.Name, Command: start.Command, CWD: folder, CWDOf: near,
		Cols: size.Cols, Rows: size.Rows, Environ: api.Environ(os.Environ()), Umask: api.Umask()}
}

// ask asks, or waits for the answer to who has.
func (a *asking) ask(ctx context.Context, env Env, in api.SessionStartInput) startedMsg {
	a.once.Do(func() {
		a.answer.asking = a
		e, err := env.Engine(ctx)
		if err == nil {
			a.answer.process, err = api.SessionStart.Call(ctx, e, in)
		}
		a.answer.err = err
	})
	return a.answer
}

// A Started is the outcome of a start.
type Started struct {
	ID      string // that was asked for
	Process api.Process
	Err     error
}

// Update takes in the answer to a start. It returns what has become of the one that
// is waited for, nil if that is not known by this, and what follows.
func (s *Starter) Update(msg StartMsg) (*Started, tea.Cmd) {
	switch msg := msg.(type) {
	case startedMsg:
		if s.isCalledOff(msg) {
			return nil, s.calledOffStarted(msg)
		}
		at := slices.IndexFunc(s.waiting, func(start Start) bool { return start.asking == msg.asking })
		start := s.waiting[at]
		s.waiting = slices.Delete(s.waiting, at, at+1)
		return &Started{start.ID, msg.process, msg.err}, s.next(start.machine())
	case calledOffMsg:
		if msg.err != nil {
			delete(s.unwanted, msg.id)
			if p, ok := s.env.News().Process(msg.id); ok && !p.State.Ended() { // else it has come to nothing by itself
				return nil, s.env.Say(panes.ErrorText(msg.err), true)
			}
		}
	}
	return nil, nil
}

// CallOff takes back a start. One that was not asked for yet never will be; the
// other is ended once it is known. Those behind it do not wait for that.
func (s *Starter) CallOff(id string) tea.Cmd {
	at := slices.IndexFunc(s.waiting, func(start Start) bool { return start.ID == id })
	if at < 0 {
		return nil
	}
	start := s.waiting[at]
	s.waiting = slices.Delete(s.waiting, at, at+1)
	if !start.asking.asked {
		return nil
	}
	s.calledOff = append(s.calledOff, start)
	return tea.Batch(s.EndCalledOff(), s.next(start.machine()))
}

// EndCalledOff ends what is being started and was called off, as soon as the
// engine has it. The answer to the start, which comes when it runs, tells at the
// latest.
func (s *Starter) EndCalledOff() tea.Cmd {
	var cmds []tea.Cmd
	for _, start := range s.calledOff {
		if p, ok := s.env.News().Process(start.ID); ok && !p.State.Ended() && !s.unwanted[start.ID] {
			cmds = append(cmds, s.endQuietly(start.ID))
		}
	}
	return tea.Batch(cmds...)
}

// Has reports whether a session is one that is being started here, or was and is
// not wanted any more.
func (s *Starter) Has(id string) bool {
	is := func(start Start) bool { return start.ID == id }
	return s.unwanted[id] || slices.ContainsFunc(s.waiting, is) || slices.ContainsFunc(s.calledOff, is)
}

// Unwanted reports whether a session was called off and is asked to end.
func (s *Starter) Unwanted(id string) bool { return s.unwanted[id] }

// CalledOff is how many starts were called off that the engine has not answered.
func (s *Starter) CalledOff() int { return len(s.calledOff) }

// calledOffStarted ends a session that was called off and runs all the same. That
// it could not be started is what was wanted; should only the answer have been
// lost, EndCalledOff will see it.
func (s *Starter) calledOffStarted(msg startedMsg) tea.Cmd {
	if msg.err != nil {
		return nil
	}
	s.calledOff = slices.DeleteFunc(s.calledOff, func(start Start) bool { return start.asking == msg.asking })
	if s.unwanted[msg.process.ID] {
		return nil
	}
	end := s.endQuietly(msg.process.ID)
	return tea.Batch(s.env.Learn(msg.process), end) // or news that are older would take it away again
}

// isCalledOff reports whether an answer is to a start that was called off.
func (s *Starter) isCalledOff(msg startedMsg) bool {
	return slices.ContainsFunc(s.calledOff, func(start Start) bool { return start.asking == msg.asking })
}

// calledOffMsg is the outcome of ending a session that was called off.
type calledOffMsg struct {
	id  string
	err error
}

// endQuietly ends a session that was called off; until that has failed it is given
// no pane.
func (s *Starter) endQuietly(id string) tea.Cmd {
	s.unwanted[id] = true
	s.env.Ending(id)
	return panes.Call(s.env, func(ctx context.Context, e panes.Engine) tea.Msg {
		_, err := api.SessionKill.Call(ctx, e, api.IDInput{ID: id})
		return calledOffMsg{id, err}
	}, func(err error) tea.Msg { return calledOffMsg{id, err} })
}

// Finish waits for the sessions that were asked for and are not there yet, if the
// engine gives them before ctx ends, and ends those that were called off. task
// runs beside it.
func (s *Starter) Finish(ctx context.Context, task func(func())) (started []Started) {
	for _, start := range slices.Concat(s.calledOff, s.waiting) {
		in, answer := start.input(), make(chan startedMsg, 1)
		task(func() { answer <- start.asking.ask(ctx, s.env, in) })
		select {
		case msg := <-answer:
			switch {
			case msg.err != nil:
			case s.isCalledOff(msg):
				if e, err := s.env.Engine(ctx); err == nil {
					_ = api.SessionKill.Run(ctx, e, api.IDInput{ID: msg.process.ID}) // there is nobody left to tell
				}
			default:
				started = append(started, Started{ID: start.ID, Process: msg.process})
			}
		case <-ctx.Done():
			return started
		}
	}
	return started
}
