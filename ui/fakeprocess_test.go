package ui

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/panes/panestest"
)

// addProcess creates a process that is already running and has printed a log.
func (e *fakeEngine) addProcess(name, log string) *fakeSession {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.makeProcess(name, log)
}

func (e *fakeEngine) makeProcess(name, log string) *fakeSession {
	s := e.makeSession(name, nil)
	s.process.Kind, s.process.Terminal = api.KindProcess, nil
	s.process.Command, s.process.Argv = "serve "+name, []string{"serve", name}
	s.process.Supervision = &api.Supervision{}
	s.process.StartedAt = time.Now().Add(-time.Duration(len(e.sessions)) * time.Hour)
	s.metrics = &api.Metrics{CPUPercent: float64(len(e.sessions)), RSSBytes: int64(len(e.sessions)) << 20,
		CPUHistory: []float64{0, 10, 20, 30, 25, 12, 40}, HistorySeconds: []int{5, 5, 5, 5, 5, 5, 5}}
	s.log, s.printed = log, make(chan struct{})
	return s
}

// writeLog appends to a process's log.
func (s *fakeSession) writeLog(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log += text
	close(s.printed)
	s.printed = make(chan struct{})
}

// update modifies a process and announces it.
func (s *fakeSession) update(change func(*api.Process)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.process)
	p := s.process
	s.engine.announce(api.Event{Type: api.EventProcess, Process: &p})
}

func (e *fakeEngine) recordCall(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls = append(e.calls, fmt.Sprintf(format, args...))
	notifyChan(e.changed)
}

// changeProcess modifies a process on behalf of an operation, and announces it.
func (e *fakeEngine) changeProcess(id string, change func(*api.Process)) (api.Process, error) {
	e.mu.Lock()
	s, err := e.findSession(id)
	e.mu.Unlock()
	if err != nil {
		return api.Process{}, err
	}
	s.update(change)
	return api.Process{}, nil
}

// listCalls returns the operations on processes so far.
func (e *fakeEngine) listCalls() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.calls, "; ")
}

func (e *fakeEngine) listProcesses(context.Context, api.ProcessListInput) (out api.ProcessListOutput, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sessions {
		p := s.process
		p.Metrics = s.metrics
		out.Processes = append(out.Processes, p)
	}
	return out, nil
}

func (e *fakeEngine) readLog(ctx context.Context, in api.ProcessLogInput) (api.ProcessLogOutput, error) {
	e.mu.Lock()
	s, err := e.findSession(in.ID)
	if err != nil {
		e.mu.Unlock()
		return api.ProcessLogOutput{}, err
	}
	out := panestest.LogOf(s.log, in)
	out.State = s.process.State
	printed := s.printed
	e.mu.Unlock()
	if out.Data != "" || in.WaitMS == 0 || in.Grep != "" {
		return out, nil
	}
	select {
	case <-printed:
		in.WaitMS = 0
		return e.readLog(ctx, in)
	case <-ctx.Done():
		return out, ctx.Err()
	}
}

func (e *fakeEngine) startProcess(_ context.Context, in api.ProcessStartInput) (api.Process, error) {
	e.recordCall("start %q in %s as %q keep %v env %v", in.Command, in.CWD, in.Name, in.KeepAlive, in.Env)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = in
	if e.refuse != nil {
		return api.Process{}, e.refuse
	}
	name := in.Name
	if name == "" {
		name = in.Command[0]
	}
	s := e.makeProcess(name, "")
	s.process.KeepAlive = in.KeepAlive
	p := s.process
	if !e.late {
		e.announce(api.Event{Type: api.EventProcess, Process: &p})
	}
	return p, nil
}

func (e *fakeEngine) stopProcess(_ context.Context, in api.ProcessStopInput) (api.Process, error) {
	e.recordCall("stop %s %s", in.ID[10:], in.Signal)
	return e.changeProcess(in.ID, func(p *api.Process) { p.State, p.PID = api.StateStopped, 0 })
}

func (e *fakeEngine) restartProcess(_ context.Context, in api.ProcessRestartInput) (api.Process, error) {
	e.recordCall("restart %s", in.ID[10:])
	return e.changeProcess(in.ID, func(p *api.Process) { p.State, p.PID = api.StateRunning, 1000 })
}

func (e *fakeEngine) signalProcess(_ context.Context, in api.ProcessSignalInput) (api.Empty, error) {
	e.recordCall("signal %s %s", in.ID[10:], in.Signal)
	_, err := e.changeProcess(in.ID, func(*api.Process) {})
	return api.Empty{}, err
}

func (e *fakeEngine) updateProcess(_ context.Context, in api.ProcessUpdateInput) (api.Process, error) {
	e.recordCall("keep %s %v", in.ID[10:], *in.KeepAlive)
	return e.changeProcess(in.ID, func(p *api.Process) { p.KeepAlive = *in.KeepAlive })
}

func (e *fakeEngine) answerRequest(_ context.Context, in api.RequestAnswerInput) (api.Request, error) {
	e.recordCall("answer %s %v always %v", in.ID, in.Allow, in.Always)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.announce(api.Event{Type: api.EventRequest, Request: &api.Request{ID: in.ID, Answer: "deny"}})
	return api.Request{}, nil
}

// addRequest announces a request by an agent.
func (e *fakeEngine) addRequest(r api.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.announce(api.Event{Type: api.EventRequest, Request: &r})
}
