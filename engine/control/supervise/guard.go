package supervise

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/panics"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

// A guardedExecutor turns panics into errors, so that a bug affects only one process. It logs the
// panic with secrets redacted; the runtime would write it to engine.log as it is.
type guardedExecutor struct {
	Executor
	guard
}

// A guardedObserver does the same for an Observer.
type guardedObserver struct {
	Observer
	guard
}

type guard struct{ log *slog.Logger }

// recoverPanic logs a panic and stores an error in err. It must be called by defer.
func (g guard) recoverPanic(effect string, r store.Record, err *error) {
	if p := recover(); p != nil {
		g.log.Error("effect panicked", "effect", effect, "id", r.ID, "panic", fmt.Sprint(p), "stack", panics.StackOf(p))
		*err = api.Errorf(api.CodeInternal, "%s %s: internal error in the engine", effect, r.Name).WithHint("engine.log has the details")
	}
}

func (g guardedExecutor) Save(r store.Record, durable bool) (err error) {
	defer g.recoverPanic("save", r, &err)
	return g.Executor.Save(r, durable)
}

func (g guardedExecutor) NoteUnconfined(r store.Record) {
	var err error // only logged
	defer g.recoverPanic("note", r, &err)
	g.Executor.NoteUnconfined(r)
}

func (g guardedExecutor) ClearPredecessor(ctx context.Context, r store.Record, before Predecessor) (err error) {
	defer g.recoverPanic("start", r, &err)
	return g.Executor.ClearPredecessor(ctx, r, before)
}

func (g guardedExecutor) Spawn(ctx context.Context, r store.Record, former store.Identity, onWait func()) (s Launch, err error) {
	defer g.recoverPanic("start", r, &err)
	return g.Executor.Spawn(ctx, r, former, onWait)
}

func (g guardedExecutor) StopTree(ctx context.Context, r store.Record, aliveUntil uint64, signal string) (err error) {
	defer g.recoverPanic("stop", r, &err)
	return g.Executor.StopTree(ctx, r, aliveUntil, signal)
}

func (g guardedExecutor) StopRemains(ctx context.Context, records []store.Record, signal string) (n int, err error) {
	defer g.recoverPanic("stop what is left of", store.Record{Name: "ended processes"}, &err)
	return g.Executor.StopRemains(ctx, records, signal)
}

func (g guardedExecutor) HaveRemains(records []store.Record) (ids map[string]bool, err error) {
	defer g.recoverPanic("find what is left of", store.Record{Name: "ended processes"}, &err)
	return g.Executor.HaveRemains(records)
}

func (g guardedObserver) Probe(ctx context.Context, r store.Record) (err error) {
	defer g.recoverPanic("check readiness of", r, &err)
	return g.Observer.Probe(ctx, r)
}

func (g guardedExecutor) Remove(id string, durable bool) (err error) {
	defer g.recoverPanic("remove", store.Record{ID: id, Name: id}, &err)
	return g.Executor.Remove(id, durable)
}

func (g guardedExecutor) Keep(ended []Entry) (drop func(ids []string)) {
	var err error
	drop = func([]string) {} // after a panic: records must not pile up
	defer g.recoverPanic("keep output of", store.Record{Name: "ended processes"}, &err)
	return g.Executor.Keep(ended)
}

func (g guardedObserver) LastLines(r store.Record) (lines []string) {
	var err error
	defer g.recoverPanic("read log of", r, &err)
	return g.Observer.LastLines(r)
}

func (g guardedObserver) FindLateExit(ctx context.Context, r store.Record) (e Ending) {
	var err error
	defer g.recoverPanic("read exit of", r, &err)
	e = Ending{Exit: keeper.Exit{Unknown: true}, At: time.Now()}
	return g.Observer.FindLateExit(ctx, r)
}

func (g guardedExecutor) ForgetChild(id string) {
	var err error
	defer g.recoverPanic("forget", store.Record{ID: id}, &err)
	g.Executor.ForgetChild(id)
}
