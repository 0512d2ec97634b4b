package engine

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/engine/names"
	"tandem/engine/proctree"
	"tandem/engine/sleep"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

// A start whose keeper is lost before it has answered was carried out, or was
// not, or the child has come and gone. Which of these is settled before anybody
// else may use the record, with as many keepers as that takes.

// errUnsettled says that the keeper that was asked is lost too.
var errUnsettled = errors.New("the keeper was lost")

// recoverPause is the time between two looks.
const recoverPause = 2 * time.Millisecond

// tablePause is the time between attempts to read the process table.
const tablePause = 200 * time.Millisecond

// recoverStart finds out what came of a start whose keeper was lost. Whoever waits is
// told when no keeper comes for long; the child is looked for all the same.
// former is the child before, since the time of the request in clock ticks since
// boot.
func (h *host) recoverStart(ctx context.Context, r store.Record, former store.Identity, since uint64) (keeper.Child, *os.File, error) {
	for {
		client, err := h.link.get(ctx)
		if err == nil {
			child, master, err := h.recoverStartWith(ctx, client, r, former, since)
			if !errors.Is(err, errUnsettled) && !errors.Is(err, keeper.ErrLost) {
				return child, master, err
			}
		} else if ctx.Err() == nil {
			h.control.ReportUnsure(r.ID, supervise.ErrUnsure(r))
		}
		if err := sleep.For(ctx, recoverPause); err != nil {
			return keeper.Child{}, nil, err
		}
	}
}

// recoverStartWith is one attempt, with one keeper.
func (h *host) recoverStartWith(ctx context.Context, client keeperClient, r store.Record, former store.Identity, since uint64) (keeper.Child, *os.File, error) {
	held, err := client.List(ctx)
	if err != nil {
		return keeper.Child{}, nil, errUnsettled
	}
	i := slices.IndexFunc(held, func(c keeper.Child) bool { return c.ID == r.ID && supervise.IdentityOf(c) != former })
	if i >= 0 {
		return h.takeHeld(ctx, client, held[i])
	}
	id, alive, err := h.newcomer(ctx, r, since)
	if err != nil {
		return keeper.Child{}, nil, err
	}
	if !alive {
		e, ok := h.pastExit(r.ID)
		if ran := ok && e.Identity != former && e.Identity.BootID == h.bootID && e.Identity.StartTime >= since; !ran {
			return keeper.Child{}, nil, h.errNotSeen(r, former)
		}
		id = e.Identity
	}
	if r.TTY {
		r.Identity = &id
		if err := h.StopTree(ctx, r, 0, ""); err != nil {
			h.log.Error("end lost child", "id", r.ID, "error", err)
		}
		return keeper.Child{}, nil, supervise.ErrUnsure(r)
	}
	child := keeper.Child{ID: r.ID, PID: id.PID, StartTime: id.StartTime, BootID: id.BootID}
	err = client.Adopt(ctx, child, h.store.Dir(r.ID), h.logsOf(r), nil)
	if errors.Is(err, keeper.ErrLost) {
		return keeper.Child{}, nil, errUnsettled
	}
	if err != nil {
		h.log.Error("hand child to keeper", "id", r.ID, "error", err)
	}
	return child, nil, nil
}

// takeHeld is a child that the keeper has, though the answer to its start was
// lost; so may be the news of its end.
func (h *host) takeHeld(ctx context.Context, client keeperClient, c keeper.Child) (keeper.Child, *os.File, error) {
	var master *os.File
	if c.TTY {
		var err error
		if master, err = client.Master(ctx, c.ID); err != nil {
			return keeper.Child{}, nil, err
		}
	}
	if c.Exit != nil {
		h.exited(c)
	}
	return c, master, nil
}

// newcomer looks for the child of a start in the process table, until none is
// left there that could become it.
func (h *host) newcomer(ctx context.Context, r store.Record, since uint64) (store.Identity, bool, error) {
	for {
		all, err := h.table.Read()
		if err != nil {
			return store.Identity{}, false, errUnsettled
		}
		if id, ok := h.orphanOf(r, all); ok && id.StartTime >= since {
			return id, true, nil
		}
		if !all.MayBecomeOurs(h.o.DataDir, h.link.pid()) {
			return store.Identity{}, false, nil
		}
		if err := sleep.For(ctx, recoverPause); err != nil {
			return store.Identity{}, false, err
		}
	}
}

// lookForStarted reads the process table once no child of a keeper that has died
// is on the way to its program any more.
func (h *host) lookForStarted(ctx context.Context) *proctree.Snapshot {
	for {
		all, err := h.table.Read()
		if err == nil && !all.MayBecomeOurs(h.o.DataDir, h.link.pid()) {
			return all
		}
		pause := recoverPause
		if err != nil { // nothing can be concluded without it
			h.log.Error("look for orphans", "error", err)
			pause = tablePause
		}
		if sleep.For(ctx, pause) != nil {
			return cmp.Or(all, new(proctree.Snapshot))
		}
	}
}

// orphanOf is the child of a record among the orphans.
func (h *host) orphanOf(r store.Record, all *proctree.Snapshot) (store.Identity, bool) {
	p, ok := all.LeaderOf(proctree.Mark{ID: r.ID, DataDir: h.o.DataDir})
	return store.Identity{BootID: h.bootID, PID: p.PID, StartTime: p.StartTime}, ok
}

// markedFolders are the children that carry a mark of this data folder and have
// a folder there. What was removed has none, whatever it has left behind.
func (h *host) markedFolders(all *proctree.Snapshot) (children []keeper.Child) {
	for m := range all.Marked() {
		if m.DataDir != h.o.DataDir || !names.IsID(m.ID) {
			continue
		}
		id, ok := h.orphanOf(store.Record{ID: m.ID}, all)
		if _, err := os.Stat(h.store.Dir(m.ID)); ok && err == nil {
			children = append(children, keeper.Child{ID: m.ID, PID: id.PID, StartTime: id.StartTime, BootID: id.BootID})
		}
	}
	return children
}

// errNotSeen says of a child that nobody sees and that has left no exit status
// whether it may have been. A first start that has not made its log was not
// carried out.
func (h *host) errNotSeen(r store.Record, former store.Identity) error {
	if former.PID == 0 && !h.store.MayHaveLog(r) {
		return api.Errorf(api.CodeUnavailable, "start %s: it was not started: the keeper exited", r.Name).WithHint("try again")
	}
	return supervise.ErrUnsure(r)
}
