package engine

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"time"

	"tandem/engine/api/sockets"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/system/keeper"
	"tandem/persist/inotify"
)

// listen creates the engine's socket at its usual path or, if that fails, at the spare path.
func (e *engine) listen() (net.Listener, error) {
	socket, _ := sockets.Paths(e.o.DataDir)
	l, err := server.Listen(socket)
	if err == nil || errors.Is(err, api.CodeConflict) {
		return l, err
	}
	spare, _ := sockets.SparePaths(e.o.DataDir)
	if inFolder := filepath.Dir(socket) == filepath.Clean(e.o.DataDir); inFolder && e.fault == nil {
		return nil, err // clients expect the spare path only of an engine that cannot write
	}
	if l, spareErr := server.ListenSpare(spare); spareErr == nil {
		return l, nil
	}
	return nil, err
}

// foldersToWatch returns the directories whose deletion or move matters: the data directory, the
// directory of the sockets, and all parents of the data directory.
func (e *engine) foldersToWatch() (data, ofSockets string, above []string) {
	socket, _ := sockets.Paths(e.o.DataDir)
	for dir := filepath.Dir(e.o.DataDir); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		above = append(above, dir)
	}
	return e.o.DataDir, filepath.Dir(socket), above
}

// watchFolder repairs the engine's socket if clients can no longer reach it. It stops the engine if
// the data directory is moved or deleted. If a closed folder is opened to other users, it closes it
// again. It also rotates engine.log, because the runtime writes there without h.log's check.
func (e *engine) watchFolder(ctx context.Context, socket *server.Lasting) {
	changes, renew := e.watchChanges(ctx)
	modes := e.o.folderModes()
	tick := time.NewTicker(folderCheck) // in case the kernel has no watches left
	defer tick.Stop()
	for {
		modes.restore(e.host.Control.PublishNotice)
		select {
		case <-ctx.Done():
			return
		case <-changes:
		case <-tick.C:
			e.ownLog.rotateIfLarge()
		}
		// This comes first: a new socket in another engine's directory would take its clients.
		if keeper.IsDisplaced(e.lock.folder) {
			e.leaveFolder(ctx)
			return
		}
		if err := socket.Renew(e.listen); err != nil {
			e.log.Error("recreate the socket", "error", err)
		}
		renew()
	}
}

// leaveFolder stops this engine, which could otherwise write to a directory that another engine
// uses by now. The keeper keeps the children, and starts no engine until the directory is back.
func (e *engine) leaveFolder(ctx context.Context) {
	text := "data folder " + e.o.DataDir + " was moved or deleted: stopping the engine; programs keep running"
	e.log.Error(text)
	e.host.Control.PublishNotice(text)
	if client := e.host.Link.Current(); client != nil {
		err := client.Pause(ctx)
		e.log.Info("pause keeper", "error", err)
	}
	e.stop()
}

// watchChanges watches the directories and the socket. It signals changes when one may have been
// deleted or moved, or its mode changed. renew watches a directory again that was recreated.
func (e *engine) watchChanges(ctx context.Context) (changes <-chan struct{}, renew func()) {
	w, err := e.o.Watches.New()
	if err != nil {
		return nil, func() {}
	}
	context.AfterFunc(ctx, w.Close)
	data, sockets, above := e.foldersToWatch()
	renew = func() {
		const gone = inotify.Gone | unix.IN_ONLYDIR
		// Without a watch, only the ticker triggers checks.
		_ = w.Add(data, gone|unix.IN_DELETE)
		_ = w.Add(sockets, gone|unix.IN_DELETE|unix.IN_MOVE|unix.IN_ATTRIB)
		for _, dir := range api.ClosedFolders(e.o.DataDir, e.o.Policy) {
			_ = w.Add(dir, unix.IN_ATTRIB|unix.IN_ONLYDIR)
		}
		for _, dir := range above {
			_ = w.Add(dir, gone)
		}
	}
	renew()
	return w.Changes(), renew
}
