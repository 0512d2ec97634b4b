package engine

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/panics"
)

// listen makes the engine's socket where it should be or, if that cannot be, at the spare path.
func (e *engine) listen() (net.Listener, error) {
	socket, _ := api.Sockets(e.o.DataDir)
	l, err := server.Listen(socket)
	if err == nil || errors.Is(err, api.CodeConflict) {
		return l, err
	}
	spare, _ := api.SpareSockets(e.o.DataDir)
	if inFolder := filepath.Dir(socket) == filepath.Clean(e.o.DataDir); inFolder && e.fault == nil {
		return nil, err // no client would look elsewhere for an engine that can write
	}
	if l, spareErr := server.ListenSpare(spare); spareErr == nil {
		return l, nil
	}
	return nil, err
}

// watchedFolders returns the folders whose deletion or move concerns the engine: the data
// folder and all above it, and that of its sockets.
func (e *engine) watchedFolders() (data, sockets string, above []string) {
	socket, _ := api.Sockets(e.o.DataDir)
	for dir := filepath.Dir(e.o.DataDir); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		above = append(above, dir)
	}
	return e.o.DataDir, filepath.Dir(socket), above
}

// watchFolder keeps the engine's socket in place, and ends the engine when its data folder was
// moved or deleted. It also bounds what the runtime has written to engine.log, which does not
// go through h.log.
func (e *engine) watchFolder(ctx context.Context, socket *server.Lasting) {
	changes, again := e.watchChanges(ctx)
	tick := time.NewTicker(folderCheck) // for a kernel without a watch to give
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changes:
		case <-tick.C:
			e.ownLog.bound()
		}
		if e.lock.displaced() {
			e.leaveFolder(ctx)
			return
		}
		if err := socket.Renew(e.listen); err != nil {
			e.log.Error("make the socket again", "error", err)
		}
		again()
	}
}

// leaveFolder ends this engine, which would write where others may: the keeper starts none until
// the folder is back, and keeps what runs.
func (e *engine) leaveFolder(ctx context.Context) {
	text := "the data folder " + e.o.DataDir + " was moved or deleted: the engine stops; programs keep running"
	e.log.Error(text)
	e.host.control.TellNotice(text)
	if client := e.host.link.current(); client != nil {
		err := client.Pause(ctx)
		e.log.Info("pause keeper", "error", err)
	}
	e.stop()
}

// watchChanges reports that something may have been deleted or moved (inotify(7)). Again watches
// folders that were made again.
func (e *engine) watchChanges(ctx context.Context) (changes <-chan struct{}, again func()) {
	told := make(chan struct{}, 1)
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return told, func() {}
	}
	data, sockets, above := e.watchedFolders()
	again = func() {
		const gone = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR
		// Without a watch the tick has to do.
		_, _ = unix.InotifyAddWatch(fd, data, gone|unix.IN_DELETE)
		_, _ = unix.InotifyAddWatch(fd, sockets, gone|unix.IN_DELETE)
		for _, dir := range above {
			_, _ = unix.InotifyAddWatch(fd, dir, gone|unix.IN_MASK_ADD)
		}
	}
	again()
	events := os.NewFile(uintptr(fd), "inotify")
	context.AfterFunc(ctx, func() { events.Close() })
	e.host.sessions.Go(panics.Logged(e.log, "watch of the data folder", func() {
		buffer := make([]byte, 4096)
		for {
			if _, err := events.Read(buffer); err != nil {
				return
			}
			select {
			case told <- struct{}{}:
			default:
			}
		}
	}))
	return told, again
}
