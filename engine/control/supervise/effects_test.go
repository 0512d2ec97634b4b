package supervise

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/secrets"
	"tandem/persist/store"
)

// A slowExecutor blocks every start until open is closed.
type slowExecutor struct {
	*fakeExecutor
	open                chan struct{}
	running, maxRunning atomic.Int64 // concurrent starts
}

func (w *slowExecutor) Spawn(ctx context.Context, r store.Record, former store.Identity, onWait func()) (Launch, error) {
	n := w.running.Add(1)
	defer w.running.Add(-1)
	w.maxRunning.Store(max(w.maxRunning.Load(), n))
	if ctx.Err() != nil {
		return Launch{}, errors.New("cancelled")
	}
	<-w.open
	return w.fakeExecutor.Spawn(ctx, r, former, onWait)
}

func TestManyStartsAreLimitedAndDoNotDelayStops(t *testing.T) {
	withRig(t, func(r *rig) {
		running := r.startRunning("running")
		w := &slowExecutor{fakeExecutor: r.w, open: make(chan struct{})}
		synctest.Wait() // until no worker uses the executor
		r.runOnLoop(func() { r.c.reg.executor = w })
		var replies []<-chan outcome
		for i := range 500 {
			replies = append(replies, r.startSession(fmt.Sprintf("p%03d", i)))
		}
		synctest.Wait()
		if n := w.running.Load(); n != maxStarts {
			t.Errorf("%d starts at once, want %d", n, maxStarts)
		}

		r.exitWhenStopped(running)
		stopped := r.postEvent("running", evStop)
		synctest.Wait()
		if o := <-stopped; o.err != nil || o.process.State != api.StateStopped {
			t.Errorf("stop of the running process: %v, %v", o.process.State, o.err)
		}
		called := r.postEvent("p499", evStop)
		synctest.Wait()
		if o := <-called; o.err != nil {
			t.Errorf("stop of the queued start: %v", o.err)
		}

		close(w.open)
		for i, reply := range replies[:499] {
			if o := <-reply; o.err != nil {
				t.Errorf("start %d: %v", i, o.err)
			}
		}
		if n := w.maxRunning.Load(); n > maxStarts+1 { // plus the cancelled one
			t.Errorf("%d starts at once", n)
		}
	})
}

// exitWhenStopped reports the exit of a process's child once the tree is asked to stop.
func (r *rig) exitWhenStopped(p api.Process) {
	go func() {
		for !strings.Contains(strings.Join(r.w.listCalls(), " "), fmt.Sprint("end ", p.PID)) {
			time.Sleep(time.Millisecond)
		}
		r.reportExit(p, 0)
		r.reportDrained(p)
	}()
}

func TestWaitingStartFreesItsWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running sync.WaitGroup
		l := lane{workers: &running, maxWorkers: 2}
		wait, done := make(chan struct{}), atomic.Int64{}
		for range 2 {
			l.add(&job{do: func(onWait func()) { onWait(); <-wait }})
		}
		for range 10 {
			l.add(&job{do: func(func()) { done.Add(1) }})
		}
		synctest.Wait()
		if n := done.Load(); n != 10 {
			t.Errorf("%d other jobs were run", n)
		}
		close(wait)
		running.Wait()
		if l.running != 0 {
			t.Errorf("%d workers are still counted", l.running)
		}
	})
}

// A brokenExecutor panics in Spawn.
type brokenExecutor struct{ *fakeExecutor }

func (brokenExecutor) Spawn(context.Context, store.Record, store.Identity, func()) (Launch, error) {
	panic("run mysql --password hunter2")
}

func TestPanicInExecutorBecomesAnErrorWithoutLoggingSecrets(t *testing.T) {
	withRig(t, func(r *rig) {
		var text bytes.Buffer
		log := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{ReplaceAttr: secrets.RedactAttr}))
		r.runOnLoop(func() { r.c.reg.executor = guardedExecutor{brokenExecutor{r.w}, guard{log}} })
		if o := <-r.startSession("a"); !errors.Is(o.err, api.CodeInternal) {
			t.Errorf("the start answers %v", o.err)
		}
		if s := text.String(); !strings.Contains(s, "effect=start") || strings.Contains(s, "hunter2") {
			t.Errorf("the log says %s", s)
		}
	})
}

func TestPanicOnTheControlLoopLogsNoSecrets(t *testing.T) {
	var text bytes.Buffer
	c := NewControl(t.Context(), newFakeExecutor(), newFakeExecutor(), slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{ReplaceAttr: secrets.RedactAttr})))
	defer func() {
		if p := recover(); p == nil || strings.Contains(fmt.Sprint(p), "hunter2") || !strings.Contains(text.String(), "control loop panicked") || strings.Contains(text.String(), "hunter2") {
			t.Errorf("panic %v, log %s", p, text.String())
		}
	}()
	c.step(func() { panic("run mysql --password hunter2") })
}
