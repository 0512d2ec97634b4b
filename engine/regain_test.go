package engine

import (
	"context"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/keeper"
)

// A fullKeeper has no descriptor left for a duplicate of a terminal.
type fullKeeper struct {
	keeperClient
	pid   atomic.Int64
	asked atomic.Int64
}

func (k *fullKeeper) PID() int { return int(k.pid.Load()) }

func (k *fullKeeper) Master(context.Context, string) (*os.File, error) {
	k.asked.Add(1)
	return nil, unix.EMFILE
}

func TestTerminalIsAskedForUntilItsKeeperIsGone(t *testing.T) {
	withLoop(t, func(r *loop) {
		rec := record("0123456789ab")
		r.running(rec) // in this world, without a terminal
		full := new(fullKeeper)
		full.pid.Store(100)
		h := &host{control: r.c, log: slog.New(slog.DiscardHandler), link: newLink(full)}
		h.search = search{host: h, missing: []missing{{
			child: keeper.Child{ID: rec.ID, PID: 50, StartTime: 7, BootID: "boot", TTY: true}, rec: rec, keeper: 100,
		}}}
		go h.search.run(r.Context())
		time.Sleep(time.Minute)
		if p := r.view(rec.ID); p.State != api.StateRunning || full.asked.Load() < 10 {
			t.Fatalf("became %+v after %d attempts", p, full.asked.Load())
		}
		full.pid.Store(200) // another one, which never had the terminal
		time.Sleep(time.Minute)
		synctest.Wait()
		if p := r.view(rec.ID); p.State != api.StateExited || !p.ExitUnknown {
			t.Errorf("became %+v", p)
		}
		if len(h.search.missing) > 0 {
			t.Errorf("%+v is still asked for", h.search.missing)
		}
	})
}
