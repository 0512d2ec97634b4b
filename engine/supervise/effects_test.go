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
	"tandem/engine/secrets"
	"tandem/persist/store"
)

// A slowWorld starts nothing until it is told to.
type slowWorld struct {
	*fakeWorld
	open      chan struct{}
	now, most atomic.Int64 // starts
}

func (w *slowWorld) Spawn(ctx context.Context, r store.Record, former store.Identity, waits func()) (Started, error) {
	n := w.now.Add(1)
	defer w.now.Add(-1)
	w.most.Store(max(w.most.Load(), n))
	if ctx.Err() != nil {
		return Started{}, errors.New("called off")
	}
	<-w.open
	return w.fakeWorld.Spawn(ctx, r, former, waits)
}

func TestManyStartsAtOnceAreFewAndHoldUpNoStop(t *testing.T) {
	withRig(t, func(r *rig) {
		running := r.running("running")
		w := &slowWorld{fakeWorld: r.w, open: make(chan struct{})}
		r.do(func() { r.c.world = w })
		var replies []<-chan outcome
		for i := range 500 {
			replies = append(replies, r.begin(fmt.Sprintf("p%03d", i)))
		}
		synctest.Wait()
		if n := w.now.Load(); n != startsAtOnce {
			t.Errorf("%d starts at once, want %d", n, startsAtOnce)
		}

		r.exitsWhenStopped(running)
		stopped := r.ask("running", evStop)
		synctest.Wait()
		if o := <-stopped; o.err != nil || o.process.State != api.StateStopped {
			t.Errorf("the stop of what runs: %v, %v", o.process.State, o.err)
		}
		called := r.ask("p499", evStop)
		synctest.Wait()
		if o := <-called; o.err != nil {
			t.Errorf("the stop of what waits for its start: %v", o.err)
		}

		close(w.open)
		for i, reply := range replies[:499] {
			if o := <-reply; o.err != nil {
				t.Errorf("start %d: %v", i, o.err)
			}
		}
		if n := w.most.Load(); n > startsAtOnce+1 { // the one that was called off
			t.Errorf("%d starts at once", n)
		}
	})
}

// exitsWhenStopped has the child of a session end when its tree is to.
func (r *rig) exitsWhenStopped(p api.Process) {
	go func() {
		for !strings.Contains(strings.Join(r.w.deeds(), " "), fmt.Sprint("end ", p.PID)) {
			time.Sleep(time.Millisecond)
		}
		r.exits(p, 0)
		r.drained(p)
	}()
}

func TestAStartThatWaitsMakesRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running sync.WaitGroup
		l := lane{workers: &running, most: 2}
		wait, done := make(chan struct{}), atomic.Int64{}
		for range 2 {
			l.add(&job{do: func(waits func()) { waits(); <-wait }})
		}
		for range 10 {
			l.add(&job{do: func(func()) { done.Add(1) }})
		}
		synctest.Wait()
		if n := done.Load(); n != 10 {
			t.Errorf("%d others were done", n)
		}
		close(wait)
		running.Wait()
		if l.running != 0 {
			t.Errorf("%d workers are counted still", l.running)
		}
	})
}

// A brokenWorld panics at whatever it is to do.
type brokenWorld struct{ *fakeWorld }

func (brokenWorld) Spawn(context.Context, store.Record, store.Identity, func()) (Started, error) {
	panic("run mysql --password hunter2")
}

func TestAPanicInAnEffectIsAnErrorAndLeavesNoSecretInTheLog(t *testing.T) {
	withRig(t, func(r *rig) {
		var text bytes.Buffer
		log := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{ReplaceAttr: secrets.RedactAttr}))
		r.do(func() { r.c.world = guarded{brokenWorld{r.w}, log} })
		if o := <-r.begin("a"); !errors.Is(o.err, api.CodeInternal) {
			t.Errorf("the start answers %v", o.err)
		}
		if s := text.String(); !strings.Contains(s, "effect=start") || strings.Contains(s, "hunter2") {
			t.Errorf("the log says %s", s)
		}
	})
}

func TestAPanicOnTheControlLoopLeavesNoSecretInTheLog(t *testing.T) {
	var text bytes.Buffer
	c := NewControl(t.Context(), newFakeWorld(), slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{ReplaceAttr: secrets.RedactAttr})))
	defer func() {
		if p := recover(); p == nil || strings.Contains(fmt.Sprint(p), "hunter2") || !strings.Contains(text.String(), "control loop panicked") || strings.Contains(text.String(), "hunter2") {
			t.Errorf("it panics with %v, and the log says %s", p, text.String())
		}
	}()
	c.step(func() { panic("run mysql --password hunter2") })
}
