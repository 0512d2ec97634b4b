package launch

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/base/sleep"
	"tandem/engine/control/supervise"
	"tandem/engine/system/keeper"
	"tandem/engine/system/proctree"
	"tandem/persist/store"
)

// A keeper may be lost before it answers a start. Then the child may be running, may never have
// been started, or may have started and exited. Nothing else may use the record until this is
// settled, even if it takes several keepers: a second child under the same id would be lost to the
// user. The evidence is, in this order: the children of the next keeper, the marks in the process
// table, and the exit file. If all three have nothing, it depends on whether there is a log,
// because the log is created before the child. A child in a terminal is stopped, because the
// terminal cannot be recovered without its keeper.

// errUnsettled means that the next keeper was lost as well.
var errUnsettled = errors.New("the keeper was lost")

// recoverPause is the time between two checks.
const recoverPause = 2 * time.Millisecond

// tablePause is the time between two attempts to read the process table.
const tablePause = 200 * time.Millisecond

// recoverStart finds out the result of a start whose keeper was lost. If there is no new keeper for
// a while, it reports the start as unsure and goes on. former is the previous child, and requested
// the time of the request in clock ticks since boot.
func (l *Launcher) recoverStart(ctx context.Context, r store.Record, former store.Identity, requested uint64) (keeper.Child, *os.File, error) {
	for {
		client, err := l.Link.Await(ctx)
		if err == nil {
			child, master, err := l.recoverStartWith(ctx, client, r, former, requested)
			if !errors.Is(err, errUnsettled) && !errors.Is(err, keeper.ErrLost) {
				return child, master, err
			}
		} else if ctx.Err() == nil {
			l.Control.ReportUnsure(r.ID, supervise.ErrUnsure(r))
		}
		if err := sleep.For(ctx, recoverPause); err != nil {
			return keeper.Child{}, nil, err
		}
	}
}

// recoverStartWith is one attempt with one keeper.
func (l *Launcher) recoverStartWith(ctx context.Context, client Children, r store.Record, former store.Identity, since uint64) (keeper.Child, *os.File, error) {
	held, err := client.List(ctx)
	if err != nil {
		return keeper.Child{}, nil, errUnsettled
	}
	// The keeper's own list comes first, because it is the best evidence.
	i := slices.IndexFunc(held, func(c keeper.Child) bool { return c.ID == r.ID && supervise.IdentityOf(c) != former })
	if i >= 0 {
		return l.adoptHeld(ctx, client, held[i])
	}
	id, alive, err := l.findNewChild(ctx, r, since)
	if err != nil {
		return keeper.Child{}, nil, err
	}
	if !alive {
		e, ok := l.Exits.Read(r.ID)
		if ran := ok && e.Identity != former && e.Identity.BootID == l.BootID && e.Identity.StartTime >= since; !ran {
			return keeper.Child{}, nil, l.errNotSeen(r, former)
		}
		id = e.Identity
	}
	if r.TTY {
		r.Identity = &id
		if err := l.StopTree(ctx, r, 0, ""); err != nil {
			l.Log.Error("end lost child", "id", r.ID, "error", err)
		}
		return keeper.Child{}, nil, supervise.ErrUnsure(r)
	}
	child := keeper.Child{ID: r.ID, PID: id.PID, StartTime: id.StartTime, BootID: id.BootID}
	err = client.Adopt(ctx, child, l.Store.Dir(r.ID), l.Exits.LogsOf(r), nil)
	if errors.Is(err, keeper.ErrLost) {
		return keeper.Child{}, nil, errUnsettled
	}
	if err != nil {
		l.Log.Error("offer child to keeper", "id", r.ID, "error", err)
	}
	return child, nil, nil
}

// adoptHeld returns a child that the keeper has although the answer to its start was lost. The
// report of its exit may have been lost as well, so it is repeated.
func (l *Launcher) adoptHeld(ctx context.Context, client Children, c keeper.Child) (keeper.Child, *os.File, error) {
	var master *os.File
	if c.TTY {
		var err error
		if master, err = client.Master(ctx, c.ID); err != nil {
			return keeper.Child{}, nil, err
		}
	}
	if c.Exit != nil {
		l.Exits.Report(c)
	}
	return c, master, nil
}

// findNewChild searches the process table for the child of a start. It stops when no process is
// left there that could still become the child.
func (l *Launcher) findNewChild(ctx context.Context, r store.Record, since uint64) (store.Identity, bool, error) {
	for {
		all, err := l.Table.Read()
		if err != nil {
			return store.Identity{}, false, errUnsettled
		}
		if id, ok := l.OrphanOf(r, all); ok && id.StartTime >= since {
			return id, true, nil
		}
		if !all.MayBecomeOurs(l.DataDir, l.Link.PID()) {
			return store.Identity{}, false, nil
		}
		if err := sleep.For(ctx, recoverPause); err != nil {
			return store.Identity{}, false, err
		}
	}
}

// AwaitStarts waits until no child of a dead keeper is about to execute its program, and returns
// the process table.
func (l *Launcher) AwaitStarts(ctx context.Context) *proctree.Snapshot {
	for {
		all, err := l.Table.Read()
		if err == nil && !all.MayBecomeOurs(l.DataDir, l.Link.PID()) {
			return all
		}
		pause := recoverPause
		if err != nil { // nothing can be concluded without the table
			l.Log.Error("look for orphans", "error", err)
			pause = tablePause
		}
		if sleep.For(ctx, pause) != nil {
			return cmp.Or(all, new(proctree.Snapshot))
		}
	}
}

// OrphanOf finds the child of a record by its mark in the process table.
func (l *Launcher) OrphanOf(r store.Record, all *proctree.Snapshot) (store.Identity, bool) {
	p, ok := all.LeaderOf(proctree.Mark{ID: r.ID, DataDir: l.DataDir})
	return store.Identity{BootID: l.BootID, PID: p.PID, StartTime: p.StartTime}, ok
}

// FindMarked returns the processes with a mark of this data directory, if the process named in the
// mark still has a directory there. Processes left by a removed one are left out.
func (l *Launcher) FindMarked(all *proctree.Snapshot) (children []keeper.Child) {
	for m := range all.Marked() {
		if m.DataDir != l.DataDir || !names.IsID(m.ID) {
			continue
		}
		id, ok := l.OrphanOf(store.Record{ID: m.ID}, all)
		if _, err := os.Stat(l.Store.Dir(m.ID)); ok && err == nil {
			children = append(children, keeper.Child{ID: m.ID, PID: id.PID, StartTime: id.StartTime, BootID: id.BootID})
		}
	}
	return children
}

// errNotSeen returns the error for a start that left neither a child nor an exit status. A first
// start without a log was not carried out; any other may have been.
func (l *Launcher) errNotSeen(r store.Record, former store.Identity) error {
	if former.PID == 0 && !l.Store.MayHaveLog(r) {
		return api.Errorf(api.CodeUnavailable, "start %s: it was not started: the keeper exited", r.Name).WithHint("try again")
	}
	return supervise.ErrUnsure(r)
}
