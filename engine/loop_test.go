package engine

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"

	"tandem/engine/api"
	"tandem/engine/control/supervise"
	"tandem/engine/session/terminal"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

// A quietExecutor pretends to start children and does nothing else.
type quietExecutor struct {
	supervise.Executor
	supervise.Observer
	sessions map[string]supervise.Session // by id of the record
}

func (quietExecutor) Save(store.Record, bool) error { return nil }

func (quietExecutor) Clear(context.Context, store.Record, supervise.Predecessor) error { return nil }

func (w quietExecutor) Spawn(_ context.Context, r store.Record, _ store.Identity, _ func()) (supervise.Launch, error) {
	return supervise.Launch{Child: keeper.Child{ID: r.ID, PID: 50, StartTime: 7, BootID: "boot", TTY: r.TTY}, Live: w.sessions[r.ID]}, nil
}

func (quietExecutor) StopTree(context.Context, store.Record, uint64, string) error { return nil }

func (quietExecutor) BoundLog(store.Record) func() { return func() {} }

func (quietExecutor) FindLateExit(context.Context, store.Record) supervise.Ending {
	return supervise.Ending{}
}

func (quietExecutor) NoteUnconfined(store.Record)     {}
func (quietExecutor) LastLines(store.Record) []string { return nil }

func (quietExecutor) ForgetChild(string) {}

// An idleSession returns fixed facts.
type idleSession struct{ facts terminal.Facts }

func (*idleSession) ChildEnded()             {}
func (s *idleSession) Facts() terminal.Facts { return s.facts }
func (*idleSession) Finish(api.Process)      {}
func (*idleSession) Admit(bool, bool)        {}
func (*idleSession) Stopping()               {}
func (*idleSession) Close()                  {}
func (*idleSession) Gone() <-chan struct{}   { return nil }

// A loop is a control loop with a quiet executor, in a bubble of fake time.
type loop struct {
	*testing.T
	c        *supervise.Control
	sessions map[string]supervise.Session
}

func withLoop(t *testing.T, f func(l *loop)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		sessions := map[string]supervise.Session{}
		l := &loop{T: t, c: supervise.NewControl(ctx, quietExecutor{sessions: sessions}, quietExecutor{}, slog.New(slog.DiscardHandler)), sessions: sessions}
		done := make(chan struct{})
		go func() {
			defer close(done)
			l.c.Run()
		}()
		defer func() {
			cancel()
			<-done
		}()
		f(l)
	})
}

// record returns the record of a process with a terminal.
func record(id string) store.Record {
	r := supervise.NewRecord(id, api.KindSession)
	r.Name, r.Argv, r.TTY = "name-"+id, []string{"sh"}, true
	return r
}

// startRunning starts a record and waits until it runs.
func (l *loop) startRunning(r store.Record) api.Process {
	l.Helper()
	pending, err := l.c.StartNew(l.Context(), r, "", false, supervise.HasStarted)
	if err != nil {
		l.Fatal(err)
	}
	p, err := pending.Wait(l.Context())
	if err != nil || p.State != api.StateRunning {
		l.Fatal(p.State, err)
	}
	return p
}

// view returns the announced view of a process once the loop is idle.
func (l *loop) view(id string) api.Process {
	l.Helper()
	synctest.Wait()
	e, err := l.c.FindEntry(l.Context(), id)
	if err != nil {
		l.Fatal(err)
	}
	return e.View
}
