package engine

import (
	"context"
	"fmt"
	"path/filepath"

	"tandem/engine/api/sockets"
	"tandem/engine/control/launch"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

// maxKeepers is how many keepers a starting engine tries to connect to.
const maxKeepers = 5

// connectKeeper connects to the keeper and adopts its children. If the keeper exits meanwhile, this
// engine starts another one, because no other process may.
func (e *engine) connectKeeper(ctx context.Context) (launch.Keeper, error) {
	for i := 1; ; i++ {
		client, err := e.connectOnce(ctx)
		if err == nil || i == maxKeepers || !keeper.IsGone(err) || ctx.Err() != nil {
			return client, err
		}
		e.log.Error("the keeper exited", "error", err)
		e.inherited.stopDeadline() // until a keeper has them, the terminals are open here only
		if err := e.startKeeper(ctx); err != nil {
			e.log.Error("start keeper", "error", err)
		}
	}
}

func dialKeeper(ctx context.Context, dataDir string) (launch.Keeper, error) {
	_, socket := sockets.Paths(dataDir)
	client, err := keeper.Dial(ctx, socket)
	if err != nil && keeper.IsGone(err) {
		// Without a runtime directory, the keeper may be listening in the data directory.
		if _, spare := sockets.SparePaths(dataDir); filepath.Dir(spare) == filepath.Clean(dataDir) {
			if client, spareErr := keeper.Dial(ctx, spare); spareErr == nil {
				return client, nil
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return client, nil
}

// connectOnce makes one attempt to connect to the keeper and to adopt its children.
func (e *engine) connectOnce(ctx context.Context) (launch.Keeper, error) {
	client, err := e.o.dial(ctx)
	if err != nil {
		return nil, err
	}
	l := launch.NewLink(client)
	l.Log, l.Start, l.ListOffers, l.OnExit = e.log, e.startKeeper, e.host.ListOffers, e.host.Observer.Report
	l.Dial, l.Notify = e.o.dial, e.host.Control.PublishNotice
	e.host.Link, e.host.Launcher.Link = l, l
	e.host.Control.Keeper = l.Identity
	err = e.checkWritable(ctx, client)
	if err == nil {
		err = e.host.RestoreTable(ctx, client)
	}
	if err != nil {
		client.Close()
	}
	return client, err
}

// checkWritable decides whether to run if the data directory cannot be written. It returns nil if
// there are sessions or processes that clients may want to reach, and otherwise the reason.
func (e *engine) checkWritable(ctx context.Context, client launch.Keeper) error {
	if e.fault == nil {
		return nil
	}
	children, err := client.List(ctx)
	if err != nil {
		return fmt.Errorf("list children: %w", err)
	}
	if records, problems := e.store.Load(); len(children) == 0 && len(records) == 0 && len(problems) == 0 {
		return e.fault
	}
	e.log.Error("nothing can be saved", "error", e.fault)
	return nil
}

// unsavedReason returns why nothing can be saved; "" if saving works.
func (e *engine) unsavedReason() string {
	if e.fault == nil {
		return ""
	}
	if _, err := store.Open(e.o.DataDir); err != nil {
		return "nothing can be saved: " + err.Error()
	}
	return ""
}

// startKeeper starts a new keeper. If the data directory is gone, the engine stops instead, so as
// not to recreate it.
func (e *engine) startKeeper(ctx context.Context) error {
	if keeper.IsDisplaced(e.lock.folder) {
		e.stop()
		return fmt.Errorf("start keeper: data folder %s was moved or deleted", e.o.DataDir)
	}
	return launch.StartKeeper(ctx, e.o.Keeper, e.o.DataDir)
}
