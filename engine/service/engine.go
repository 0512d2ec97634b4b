package service

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"tandem/engine/agent/approval"
	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/base/sleep"
	"tandem/engine/control/supervise"
	"tandem/engine/remote/all"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

// A Keeper is the part of the keeper used to stop or replace the engine.
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

	Info     func() api.Info                           // without the number of running processes
	Keeper   func(ctx context.Context) (Keeper, error) // waits a while if there is none at the moment
	Machines func() []api.Machine                      // machines somebody has asked for
	Unsaved  func() string                             // why nothing can be saved; "" if it can
	Stop     func(all bool)                            // stops the engine; all says that everything else has been stopped
	// Upgrade executes another program in place of this one. It returns false if it cannot, and the
	// keeper has to replace the engine.
	Upgrade func(ctx context.Context, executable *os.File) (bool, error)
	// StopRemains is the same as in Processes.
	StopRemains func(ctx context.Context, records []store.Record, signal string) (int, error)
	Others      *all.Machines

	// Problems were found when the engine started. Once it serves, only the control goroutine
	// accesses them. They are sent to the first user who watches.
	Problems []string
}

const (
	// stopAllGrace is how long engine.stop waits after the longest stop timeout of a process.
	stopAllGrace = 7 * time.Second
	// keeperRetry is the time between attempts to reach the keeper.
	keeperRetry = 50 * time.Millisecond
	// replaceTimeout is how long the keeper may take to replace the engine.
	replaceTimeout = 5 * time.Second
)

// Handle registers the operations and the stream of events.
func (s *Engine) Handle(m *server.Mux) {
	server.Handle(m, api.EngineInfo, s.getInfo)
	server.Handle(m, api.EngineOperations, listOperations)
	server.Handle(m, api.EngineStop, s.stopEngine)
	m.HandleWatch(s.watchEvents)
}

func listOperations(context.Context, api.Empty) (api.EngineOperationsOutput, error) {
	var out api.EngineOperationsOutput
	for _, e := range api.Operations() {
		out.Operations = append(out.Operations, api.OperationFields{Name: e.Name, Input: api.FieldsOf(e.In), Output: api.FieldsOf(e.Out)})
	}
	return out, nil
}

func (s *Engine) getInfo(ctx context.Context, _ api.Empty) (api.Info, error) {
	return supervise.Ask(ctx, s.Control, s.describeEngine)
}

// describeEngine must be called on the control goroutine.
func (s *Engine) describeEngine() api.Info {
	info := s.Info()
	info.Running = s.Control.CountRunning()
	return info
}

// stopEngine stops or replaces the engine. It answers once nothing can fail any more, and the
// engine exits after that.
func (s *Engine) stopEngine(ctx context.Context, in api.EngineStopInput) (api.Empty, error) {
	s.Log.Info("request", "event", "engine stop", "all", in.All, "replace", in.Replace, "restart", in.Restart, "by", api.CallerOf(ctx).Name)
	client, err := s.Keeper(ctx)
	if err != nil {
		return api.Empty{}, err
	}
	switch {
	case in.All && (in.Replace != "" || in.Restart) || in.Replace != "" && in.Restart:
		return api.Empty{}, api.Errorf(api.CodeInvalid, "stop engine: give only one of all, replace and restart")
	case in.Restart:
		return api.Empty{}, s.upgrade(ctx, client, "/proc/self/exe")
	case in.Replace != "" && in.InPlace:
		return api.Empty{}, s.upgrade(ctx, client, in.Replace)
	case in.Replace != "":
		return api.Empty{}, replaceThroughKeeper(ctx, client, in.Replace)
	case in.All:
		if err := s.stopEverything(ctx); err != nil {
			return api.Empty{}, err
		}
	}
	// Without the pause, the keeper would start another engine at once.
	if err := s.pauseKeeper(ctx); err != nil {
		s.Control.AllowStarts()
		return api.Empty{}, api.Errorf(api.CodeUnavailable, "stop engine: %v", err)
	}
	s.announceStop(ctx, in.All)
	s.Stop(in.All)
	return api.Empty{}, nil
}

// pauseKeeper keeps the keeper from starting another engine when this one exits. If the connection
// is lost meanwhile, it asks the next keeper.
func (s *Engine) pauseKeeper(ctx context.Context) error {
	for {
		client, err := s.Keeper(ctx)
		if err == nil {
			err = client.Pause(ctx)
		}
		if !errors.Is(err, keeper.ErrLost) {
			return err
		}
		if err := sleep.For(ctx, keeperRetry); err != nil {
			return err
		}
	}
}

// announceStop tells clients that the user has stopped the engine, so that they do not start it
// again.
func (s *Engine) announceStop(ctx context.Context, all bool) {
	text := "engine stopped; sessions keep running. Run `tandem` to return."
	if all {
		text = "all sessions and processes were stopped, and the engine exited"
	}
	s.Control.PublishNow(ctx, api.Event{Type: api.EventStopped, Notice: text})
}

// upgrade replaces this engine with the executable at path. If the engine cannot do it, the keeper
// does.
func (s *Engine) upgrade(ctx context.Context, client Keeper, path string) error {
	f, err := openExecutable(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if done, err := s.Upgrade(ctx, f); done || err != nil {
		return err
	}
	return replaceThroughKeeper(ctx, client, path)
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

// replaceThroughKeeper asks the keeper to replace this engine. The keeper then stops it, which may
// end ctx before the answer arrives. So ctx is ignored: otherwise the client would get no answer
// and repeat the request to the next engine.
func replaceThroughKeeper(ctx context.Context, client Keeper, path string) error {
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

// stopEverything stops all sessions and processes, and rejects new starts.
func (s *Engine) stopEverything(ctx context.Context) error {
	failed := s.Control.StopAll(ctx, api.CallerOf(ctx).Actor(), stopAllGrace)
	if failed == nil {
		failed = s.stopAllRemains(ctx)
	}
	if failed != nil {
		s.Control.AllowStarts()
		return api.Errorf(api.CodeConflict, "stop all sessions and processes: %v", failed)
	}
	return nil
}

// stopAllRemains stops the programs that exited processes left running.
func (s *Engine) stopAllRemains(ctx context.Context) error {
	var records []store.Record
	err := s.Control.Visit(ctx, func(e supervise.Entry) {
		if e.State.Ended() && e.Rec.Identity != nil {
			records = append(records, e.Rec)
		}
	})
	if err != nil {
		return err
	}
	_, err = s.StopRemains(ctx, records, "")
	return err
}

// watchEvents serves events.watch.
func (s *Engine) watchEvents(ctx context.Context, in api.WatchInput, send func(api.Event) error) error {
	owner, agent, unsaved := api.CallerOf(ctx).Owner, api.CallerOf(ctx).Agent(), s.Unsaved()
	if tell := send; agent { // other agents' requests are for the user only
		send = func(e api.Event) error {
			if e.Type == api.EventRequest || e.Type == api.EventPolicy {
				return nil
			}
			return tell(e)
		}
	}
	if in.Machines && s.Others.MayReach(ctx) {
		m := s.Others.Merge(ctx, in, send)
		defer m.End()
		ctx, send = m.Context, m.Send
	}
	return s.Control.Watch(ctx, owner, in.Lasting, func(snapshot api.Event) []api.Event {
		info := s.describeEngine()
		snapshot.Info = &info
		snapshot.Layout, snapshot.Revision = s.Layouts.Current()
		first := []api.Event{snapshot}
		open, answered := s.Arbiter.Requests()
		for _, r := range append(open, answered...) {
			first = append(first, api.Event{Type: api.EventRequest, Request: &r})
		}
		for _, m := range s.Machines() {
			first = append(first, api.Event{Type: api.EventMachine, Machine: &m})
		}
		if unsaved != "" {
			first = append(first, api.Event{Type: api.EventNotice, Notice: unsaved})
		}
		if !agent { // problems are for the user only
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
