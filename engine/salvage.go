package engine

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/engine/names"
	"tandem/persist"
)

// A start whose keeper is lost before it has answered was carried out, or was
// not, or the child has come and gone. Which of these is settled before anybody
// else may use the record, with as many keepers as that takes.

// errUnsettled says that the keeper that was asked is lost too.
var errUnsettled = errors.New("the keeper was lost")

// salvagePause is the time between two looks.
const salvagePause = 2 * time.Millisecond

// salvage finds out what came of a start whose keeper was lost. Whoever waits is
// told when no keeper comes for long; the child is looked for all the same.
// former is the child before, since the time of the request in clock ticks since
// boot.
func (h *host) salvage(ctx context.Context, r persist.Record, former persist.Identity, since uint64) (keeper.Child, *os.File, error) {
	for {
		client, err := h.link.get(ctx)
		if err == nil {
			child, master, err := h.salvageWith(ctx, client, r, former, since)
			if !errors.Is(err, errUnsettled) && !errors.Is(err, keeper.ErrLost) {
				return child, master, err
			}
		} else if ctx.Err() == nil {
			h.control.post(r.ID, event{kind: evUnsure, err: errUnsure(r)})
		}
		select {
		case <-ctx.Done():
			return keeper.Child{}, nil, ctx.Err()
		case <-time.After(salvagePause):
		}
	}
}

// salvageWith is one attempt, with one keeper.
func (h *host) salvageWith(ctx context.Context, client keeperClient, r persist.Record, former persist.Identity, since uint64) (keeper.Child, *os.File, error) {
	held, err := client.List(ctx)
	if err != nil {
		return keeper.Child{}, nil, errUnsettled
	}
	i := slices.IndexFunc(held, func(c keeper.Child) bool { return c.ID == r.ID && identityOf(c) != former })
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
		if err := h.endTree(ctx, r, 0, ""); err != nil {
			h.log.Error("end lost child", "id", r.ID, "error", err)
		}
		return keeper.Child{}, nil, errUnsure(r)
	}
	child := keeper.Child{ID: r.ID, PID: id.PID, StartTime: id.StartTime, BootID: id.BootID}
	err = client.Adopt(ctx, child, h.store.Dir(r.ID), nil)
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
func (h *host) newcomer(ctx context.Context, r persist.Record, since uint64) (persist.Identity, bool, error) {
	for {
		all, err := h.table.read()
		if err != nil {
			return persist.Identity{}, false, errUnsettled
		}
		if id, ok := h.orphanOf(r, all); ok && id.StartTime >= since {
			return id, true, nil
		}
		if !h.mayBecome(all) {
			return persist.Identity{}, false, nil
		}
		select {
		case <-time.After(salvagePause):
		case <-ctx.Done():
			return persist.Identity{}, false, ctx.Err()
		}
	}
}

// lookForStarted reads the process table once no child of a keeper that has died
// is on the way to its program any more.
func (h *host) lookForStarted(ctx context.Context) *snapshot {
	for {
		all, err := h.table.read()
		if err != nil {
			h.log.Error("look for orphans", "error", err)
			return newSnapshot(nil, &h.table.marks)
		}
		if !h.mayBecome(all) {
			return all
		}
		select {
		case <-time.After(salvagePause):
		case <-ctx.Done():
			return all
		}
	}
}

// mayBecome reports whether there is a process that may become a child of ours.
func (h *host) mayBecome(all *snapshot) bool {
	collects := collectors(slices.Collect(maps.Values(all.byPID)))
	for _, p := range all.byPID {
		if p.pid != h.link.pid() && collects[p.parent] && mayBecomeOurs(p, h.o.DataDir) {
			return true
		}
	}
	return false
}

// orphanOf is the first process that carries a record's mark and leads a
// session: the child, since what it has started came later.
func (h *host) orphanOf(r persist.Record, all *snapshot) (persist.Identity, bool) {
	var first procStat
	for _, pid := range all.marked()[mark{id: r.ID, dataDir: h.o.DataDir}] {
		p := all.byPID[pid]
		older := first.pid == 0 || p.startTime < first.startTime
		if p.session == pid && !p.zombie && older {
			first = p
		}
	}
	return persist.Identity{BootID: h.bootID, PID: first.pid, StartTime: first.startTime}, first.pid != 0
}

// markedFolders are the children that carry a mark of this data folder and have
// a folder there. What was removed has none, whatever it has left behind.
func (h *host) markedFolders(all *snapshot) (children []keeper.Child) {
	for m := range all.marked() {
		if m.dataDir != h.o.DataDir || !names.IsID(m.id) {
			continue
		}
		id, ok := h.orphanOf(persist.Record{ID: m.id}, all)
		if _, err := os.Stat(h.store.Dir(m.id)); ok && err == nil {
			children = append(children, keeper.Child{ID: m.id, PID: id.PID, StartTime: id.StartTime, BootID: id.BootID})
		}
	}
	return children
}

// errNotSeen says of a child that nobody sees and that has left no exit status
// whether it may have been. A first start that has not made its log was not
// carried out.
func (h *host) errNotSeen(r persist.Record, former persist.Identity) error {
	if _, err := os.Stat(h.logPath(r)); !r.TTY && former.PID == 0 && errors.Is(err, os.ErrNotExist) {
		return api.Errorf(api.CodeUnavailable, "start %s: it was not started: the keeper ended", r.Name).WithHint("try again")
	}
	return errUnsure(r)
}

func errUnsure(r persist.Record) error {
	return api.Errorf(api.CodeUnsure, "start %s: it may have been started as %s: the keeper ended before it could tell", r.Name, r.ID).
		WithHint("`tandem ps` shows whether it runs, `tandem logs " + r.ID + "` what it printed")
}

// bornAt is when a process of this boot was started.
func bornAt(id persist.Identity) time.Time {
	ticks := int64(bootTicks()) - int64(id.StartTime)
	return time.Now().Add(-time.Duration(ticks) * (time.Second / ticksPerSecond))
}
