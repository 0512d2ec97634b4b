package service

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/approval"
	"tandem/engine/keeper"
	"tandem/engine/sleep"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

// A Keeper is what the engine's end needs of the keeper. A test has one whose Replace ends the engine.
type Keeper interface {
	Pause(ctx context.Context) error
	Replace(ctx context.Context, executable *os.File) error
}

// Engine serves the operations on the engine itself, and the stream of events.
type Engine struct {
	Control *supervise.Control
	Layouts *Layouts
	Arbiter *approval.Arbiter
	Log     *slog.Logger
	Audit   *store.Lines

	Info     func() api.Info                           // but for what runs
	Keeper   func(ctx context.Context) (Keeper, error) // after a while if there is none at the moment
	Machines func() []api.Machine                      // those that somebody has asked for
	Unsaved  func() string                             // why nothing can be saved; "" if it can
	Stop     func()                                    // ends the engine
	// HandOver replaces the engine with an executable. It returns false if the keeper has to do it.
	HandOver func(ctx context.Context, executable *os.File) (bool, error)
	// EndRemains is that of Processes.
	EndRemains func(ctx context.Context, records []store.Record, signal string) (int, error)

	// Problems were found at the start. The control goroutine owns them from then
	// on: the first person who watches is told.
	Problems []string
}

const (
	// stopAllGrace is how long engine.stop waits for everything to end, beyond the
	// longest stop timeout.
	stopAllGrace = 7 * time.Second
	// keeperGap is the time between attempts to reach the keeper.
	keeperGap = 50 * time.Millisecond
	// replaceTimeout is how long the keeper may need for another executable.
	replaceTimeout = 5 * time.Second
)

// Handle serves the operations and the events.
func (s *Engine) Handle(m *server.Mux) {
	server.Handle(m, api.EngineInfo, s.info)
	server.Handle(m, api.EngineOperations, operations)
	server.Handle(m, api.EngineStop, s.stop)
	m.HandleWatch(s.watch)
}

func operations(context.Context, api.Empty) (api.EngineOperationsOutput, error) {
	var out api.EngineOperationsOutput
	for _, e := range api.Operations() {
		out.Operations = append(out.Operations, api.OperationFields{Name: e.Name, Input: api.FieldsOf(e.In), Output: api.FieldsOf(e.Out)})
	}
	return out, nil
}

func (s *Engine) info(ctx context.Context, _ api.Empty) (api.Info, error) {
	return supervise.Ask(ctx, s.Control, s.describe)
}

// describe runs on the control goroutine.
func (s *Engine) describe() api.Info {
	info := s.Info()
	info.Running = s.Control.CountRunning()
	return info
}

// stop answers when nothing can fail any more, and ends the engine
// behind the answer.
func (s *Engine) stop(ctx context.Context, in api.EngineStopInput) (api.Empty, error) {
	s.Log.Info("request", "event", "engine stop", "all", in.All, "replace", in.Replace, "restart", in.Restart, "by", server.CallerOf(ctx).Name)
	client, err := s.Keeper(ctx)
	if err != nil {
		return api.Empty{}, err
	}
	switch {
	case in.All && (in.Replace != "" || in.Restart) || in.Replace != "" && in.Restart:
		return api.Empty{}, api.Errorf(api.CodeInvalid, "stop engine: give only one of all, replace and restart")
	case in.Restart:
		if err := s.auditRestart(ctx); err != nil {
			return api.Empty{}, err
		}
		return api.Empty{}, s.handOver(ctx, client, "/proc/self/exe")
	case in.Replace != "":
		return api.Empty{}, s.handOver(ctx, client, in.Replace)
	case in.All:
		if err := s.stopAll(ctx); err != nil {
			return api.Empty{}, err
		}
	}
	if err := s.pauseKeeper(ctx); err != nil {
		s.Control.AllowStarts()
		return api.Empty{}, api.Errorf(api.CodeUnavailable, "stop engine: %v", err)
	}
	s.announceStop(ctx, in.All)
	s.Stop()
	return api.Empty{}, nil
}

// auditRestart writes the audit line of a restart by an agent. It must do so now: afterwards
// there is no engine to write it.
func (s *Engine) auditRestart(ctx context.Context) error {
	caller := server.CallerOf(ctx)
	if !caller.Agent() {
		return nil
	}
	err := s.Audit.Append(api.AuditEntry{
		Time: time.Now(), Actor: caller.Actor(), Agent: caller.Bounds.Name, Client: caller.Owner, From: caller.Origin.From,
		Tool: api.EngineStop.Name, Arguments: map[string]any{"restart": true}, Outcome: "ok",
	})
	if err != nil {
		return api.Errorf(api.CodeUnavailable, "restart engine: %v", err)
	}
	return nil
}

// pauseKeeper has the keeper start no engine when this one ends; one that has
// died meanwhile has a successor.
func (s *Engine) pauseKeeper(ctx context.Context) error {
	for {
		client, err := s.Keeper(ctx)
		if err == nil {
			err = client.Pause(ctx)
		}
		if !errors.Is(err, keeper.ErrLost) {
			return err
		}
		if err := sleep.For(ctx, keeperGap); err != nil {
			return err
		}
	}
}

// announceStop tells clients that nothing is lost, so that none starts the
// engine again.
func (s *Engine) announceStop(ctx context.Context, all bool) {
	text := "engine stopped; sessions keep running. Run `tandem` to return."
	if all {
		text = "everything was stopped, and the engine with it"
	}
	s.Control.PublishNow(ctx, api.Event{Type: api.EventStopped, Notice: text})
}

// handOver replaces this engine with an executable, through the keeper if the engine cannot
// do so itself.
func (s *Engine) handOver(ctx context.Context, client Keeper, path string) error {
	f, err := openExecutable(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if done, err := s.HandOver(ctx, f); done || err != nil {
		return err
	}
	return replaceBy(ctx, client, path)
}

func openExecutable(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "replace engine: %v", err)
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		f.Close()
		return nil, api.Errorf(api.CodeInvalid, "replace engine: %s is not an executable file", path)
	}
	return f, nil
}

// replaceBy hands the keeper another executable; it then ends this engine. That
// end may come before the keeper's answer, and with it that of ctx: who has asked
// is told all the same, and does not ask the next engine again.
func replaceBy(ctx context.Context, client Keeper, path string) error {
	f, err := openExecutable(path)
	if err != nil {
		return err
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), replaceTimeout)
	defer cancel()
	if err := client.Replace(ctx, f); err != nil {
		return api.Errorf(api.CodeUnavailable, "replace engine: %v", err)
	}
	return nil
}

// stopAll ends everything and lets nothing new be started.
func (s *Engine) stopAll(ctx context.Context) error {
	failed := s.Control.StopAll(ctx, stopAllGrace)
	if failed == nil {
		failed = s.endAllRemains(ctx)
	}
	if failed != nil {
		s.Control.AllowStarts()
		return api.Errorf(api.CodeConflict, "stop all sessions and processes: %v", failed)
	}
	return nil
}

// endAllRemains ends what ended processes have left behind.
func (s *Engine) endAllRemains(ctx context.Context) error {
	var records []store.Record
	err := s.Control.Visit(ctx, func(e supervise.Entry) {
		if e.State.Ended() && e.Rec.Identity != nil {
			records = append(records, e.Rec)
		}
	})
	if err != nil {
		return err
	}
	_, err = s.EndRemains(ctx, records, "")
	return err
}

// watch serves events.watch.
func (s *Engine) watch(ctx context.Context, in api.WatchInput, send func(api.Event) error) error {
	owner, agent, unsaved := server.CallerOf(ctx).Owner, server.CallerOf(ctx).Agent(), s.Unsaved()
	if tell := send; agent { // what others ask the person is not for it
		send = func(e api.Event) error {
			if e.Type == api.EventRequest || e.Type == api.EventPolicy {
				return nil
			}
			return tell(e)
		}
	}
	return s.Control.Watch(ctx, owner, in.Lasting, func(snapshot api.Event) []api.Event {
		info := s.describe()
		snapshot.Info = &info
		snapshot.Layout, snapshot.Revision = s.Layouts.Now()
		first := []api.Event{snapshot}
		for _, r := range s.Arbiter.Requests() {
			first = append(first, api.Event{Type: api.EventRequest, Request: &r})
		}
		for _, m := range s.Machines() {
			first = append(first, api.Event{Type: api.EventMachine, Machine: &m})
		}
		if unsaved != "" {
			first = append(first, api.Event{Type: api.EventNotice, Notice: unsaved})
		}
		if !agent { // problems wait for the person
			for _, text := range s.Problems {
				first = append(first, api.Event{Type: api.EventNotice, Notice: text})
			}
			s.Problems = nil
			if fault := s.Arbiter.Fault(); fault != "" {
				first = append(first, api.Event{Type: api.EventPolicy, Fault: fault})
			}
		}
		return first
	}, send)
}
