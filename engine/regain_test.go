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
	"tandem/engine/control/launch"
	"tandem/engine/control/observe"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

// A fullKeeper has no descriptor left to duplicate a terminal.
type fullKeeper struct {
	launch.Keeper
	pid   atomic.Int64
	asked atomic.Int64
}

func (k *fullKeeper) PID() int { return int(k.pid.Load()) }

func (k *fullKeeper) Master(context.Context, string) (*os.File, error) {
	k.asked.Add(1)
	return nil, unix.EMFILE
}

func TestTerminalIsRequestedUntilItsKeeperExits(t *testing.T) {
	withLoop(t, func(r *loop) {
		rec := record("0123456789ab")
		r.startRunning(rec) // the fake executor gives it no terminal
		full := new(fullKeeper)
		full.pid.Store(100)
		h := &host{control: r.c, log: slog.New(slog.DiscardHandler), link: launch.NewLink(full)}
		h.regainer = newRegainer(h)
		h.regainer.add(pendingCall{child: keeper.Child{ID: rec.ID, PID: 50, StartTime: 7, BootID: "boot", TTY: true}, keeper: 100})
		go h.regainer.run(r.Context())
		time.Sleep(time.Minute)
		if p := r.view(rec.ID); p.State != api.StateRunning || full.asked.Load() < 10 {
			t.Fatalf("process is %+v after %d attempts", p, full.asked.Load())
		}
		full.pid.Store(200) // another keeper, which never had the terminal
		time.Sleep(time.Minute)
		synctest.Wait()
		if p := r.view(rec.ID); p.State != api.StateExited || !p.ExitUnknown {
			t.Errorf("process is %+v", p)
		}
		if len(h.regainer.pending) > 0 {
			t.Errorf("still requesting %+v", h.regainer.pending)
		}
	})
}

// A busyKeeper rejects the first adoption, and has seen a child exit.
type busyKeeper struct {
	launch.Keeper
	refusals atomic.Int64
	adopted  chan string
	exited   keeper.Child
}

func (*busyKeeper) PID() int     { return 100 }
func (*busyKeeper) Ready() error { return nil }
func (k *busyKeeper) Adopt(_ context.Context, c keeper.Child, _ string, _ keeper.Logs, _ *os.File) error {
	if k.refusals.Add(-1) >= 0 {
		return unix.EMFILE
	}
	k.adopted <- c.ID
	return nil
}
func (k *busyKeeper) List(context.Context) ([]keeper.Child, error) {
	return []keeper.Child{k.exited}, nil
}

func TestChildRejectedByTheNextKeeperIsHandedOverLater(t *testing.T) {
	withLoop(t, func(r *loop) {
		rec := record("0123456789ab")
		r.startRunning(rec)
		busy := &busyKeeper{adopted: make(chan string, 10)}
		busy.refusals.Store(3)
		busy.exited = keeper.Child{ID: "0123456789ef", Exit: &keeper.Exit{}}
		data, err := store.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		h := &host{control: r.c, log: slog.New(slog.DiscardHandler), link: launch.NewLink(busy), store: data, observer: &observe.Observer{Store: data, ProcessLogLimit: func() int64 { return 0 }}}
		h.regainer = newRegainer(h)
		go h.regainer.run(r.Context())
		l := h.link
		l.Log, l.ListHandovers, l.OnRefused = h.log, h.listHandovers, h.regainer.addOrphan
		var exits []string
		l.OnExit = func(c keeper.Child) { exits = append(exits, c.ID) }
		if err := l.HandOverChildren(r.Context(), busy); err != nil {
			t.Fatal(err)
		}
		if id := <-busy.adopted; id != rec.ID {
			t.Errorf("handed over %s, want %s", id, rec.ID)
		}
		if len(exits) != 1 || exits[0] != busy.exited.ID {
			t.Errorf("reported the exits of %v, want %s", exits, busy.exited.ID)
		}
	})
}
