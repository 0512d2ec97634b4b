package engine

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/engine/supervise"
	"tandem/engine/terminal"
	"tandem/persist/store"
)

// A quietWorld starts children that are not there, and does nothing else.
type quietExecutor struct {
	supervise.Executor
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

// An idleSession shows what it is told to.
type idleSession struct{ facts terminal.Facts }

func (*idleSession) ChildEnded()             {}
func (s *idleSession) Facts() terminal.Facts { return s.facts }
func (*idleSession) Finish(api.Process)      {}
func (*idleSession) Admit(bool, bool)        {}
func (*idleSession) Stopping()               {}
func (*idleSession) Close()                  {}
func (*idleSession) Gone() <-chan struct{}   { return nil }

// A loop is a control loop in a quiet world, in a bubble of fake time.
type loop struct {
	*testing.T
	c        *supervise.Control
	sessions map[string]supervise.Session
}

func withLoop(t *testing.T, f func(l *loop)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		sessions := map[string]supervise.Session{}
		l := &loop{T: t, c: supervise.NewControl(ctx, quietExecutor{sessions: sessions}, slog.New(slog.DiscardHandler)), sessions: sessions}
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

// record is what a process with a terminal is started of.
func record(id string) store.Record {
	r := supervise.NewRecord(id, api.KindSession)
	r.Name, r.Argv, r.TTY = "name-"+id, []string{"sh"}, true
	return r
}

// running starts a record and waits until it runs.
func (l *loop) running(r store.Record) api.Process {
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

// view is what is announced of a process at the moment.
func (l *loop) view(id string) api.Process {
	l.Helper()
	synctest.Wait()
	e, err := l.c.FindEntry(l.Context(), id)
	if err != nil {
		l.Fatal(err)
	}
	return e.View
}
