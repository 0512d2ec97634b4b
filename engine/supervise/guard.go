package supervise

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/engine/panics"
	"tandem/persist/store"
)

// A guarded world turns a panic into an error, so that a bug that hits one process does
// not affect the others. The panic goes to the log, which redacts; the runtime would
// write it to engine.log as it is.
type guarded struct {
	World
	log *slog.Logger
}

// recovered is to be deferred.
func (g guarded) recovered(effect string, r store.Record, err *error) {
	if p := recover(); p != nil {
		g.log.Error("effect panicked", "effect", effect, "id", r.ID, "panic", fmt.Sprint(p), "stack", panics.StackOf(p))
		*err = api.Errorf(api.CodeInternal, "%s %s: the engine made a mistake", effect, r.Name).WithHint("engine.log has the details")
	}
}

func (g guarded) Save(r store.Record, durable bool) (err error) {
	defer g.recovered("save", r, &err)
	return g.World.Save(r, durable)
}

func (g guarded) NoteUnconfined(r store.Record) {
	var err error // it has been logged
	defer g.recovered("note", r, &err)
	g.World.NoteUnconfined(r)
}

func (g guarded) Clear(ctx context.Context, r store.Record, before Predecessor) (err error) {
	defer g.recovered("start", r, &err)
	return g.World.Clear(ctx, r, before)
}

func (g guarded) Spawn(ctx context.Context, r store.Record, former store.Identity, waits func()) (s Started, err error) {
	defer g.recovered("start", r, &err)
	return g.World.Spawn(ctx, r, former, waits)
}

func (g guarded) EndTree(ctx context.Context, r store.Record, held uint64, signal string) (err error) {
	defer g.recovered("stop", r, &err)
	return g.World.EndTree(ctx, r, held, signal)
}

func (g guarded) EndRemains(ctx context.Context, records []store.Record, signal string) (n int, err error) {
	defer g.recovered("stop what is left of", store.Record{Name: "ended processes"}, &err)
	return g.World.EndRemains(ctx, records, signal)
}

func (g guarded) Probe(ctx context.Context, r store.Record) (err error) {
	defer g.recovered("check readiness of", r, &err)
	return g.World.Probe(ctx, r)
}

func (g guarded) Remove(id string, durable bool) (err error) {
	defer g.recovered("remove", store.Record{ID: id, Name: id}, &err)
	return g.World.Remove(id, durable)
}

func (g guarded) LastLines(r store.Record) (lines []string) {
	var err error
	defer g.recovered("read log of", r, &err)
	return g.World.LastLines(r)
}

func (g guarded) LateExit(ctx context.Context, r store.Record) (e Ending) {
	var err error
	defer g.recovered("read exit of", r, &err)
	e = Ending{Exit: keeper.Exit{Unknown: true}, At: time.Now()}
	return g.World.LateExit(ctx, r)
}

func (g guarded) Forget(id string) {
	var err error
	defer g.recovered("forget", store.Record{ID: id}, &err)
	g.World.Forget(id)
}
