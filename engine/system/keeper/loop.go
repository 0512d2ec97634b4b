package keeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// A keeper's state is owned by the goroutine of run. Requests, timers and the results of slow work
// reach it as functions to call.
type keeper struct {
	calls    chan func()
	done     chan struct{} // closed when run ends
	children map[string]*child
	byPID    map[int]*child      // living children by pid
	starting map[string]struct{} // ids of children being prepared
	bootID   string
	lock     *folderLock
	socket   *socket
	engine   engine
	ready    *readiness
	watch    *watcher

	cancelTrim func() // stops the trimming of logs; nil if none runs

	recording sync.WaitGroup // writes of exit.json in progress
	writers   chan struct{}  // limits concurrent writes

	finished bool // the keeper should exit
	err      error
}

// runKeeper runs the keeper while it holds the lock.
func runKeeper(ctx context.Context, o Options, lock *folderLock, r *readiness) error {
	defer lock.close()
	k, err := newKeeper(o, lock, r)
	if err != nil {
		return err
	}
	defer k.engine.close()
	defer k.stopTrimming()
	if err := detachProcess(o, r); err != nil {
		return err
	}
	s := &server{uid: os.Geteuid(), do: k.runOnLoop, handle: k.handle, gone: k.dropSession}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k.socket = &socket{path: o.Socket, spare: o.spareSocket(), serve: func(l *net.UnixListener) { s.serve(ctx, l) }}
	if err := k.socket.open(); err != nil {
		return err
	}
	defer k.socket.close() // before the lock is released
	if k.watch, err = newWatcher(k.runOnLoop); err != nil {
		return err
	}
	defer k.watch.close()
	defer limitMemory()()
	go k.watch.run()
	stop := watchFolders(func() { k.runOnLoop(k.keepFiles) }, o.DataDir, filepath.Dir(o.Socket))
	defer stop()
	return k.run(ctx)
}

func newKeeper(o Options, lock *folderLock, r *readiness) (*keeper, error) {
	bootID, err := readBootID()
	if err != nil {
		return nil, err
	}
	k := &keeper{
		calls:    make(chan func()),
		done:     make(chan struct{}),
		children: map[string]*child{},
		byPID:    map[int]*child{},
		starting: map[string]struct{}{},
		bootID:   bootID,
		lock:     lock,
		ready:    r,
		writers:  make(chan struct{}, 4),
	}
	k.engine, err = newEngine(o)
	return k, err
}

// runOnLoop runs f on the loop. It returns false if the loop has ended.
func (k *keeper) runOnLoop(f func()) bool {
	select {
	case k.calls <- f:
		return true
	case <-k.done:
		return false
	}
}

// runLater runs f on the loop after d.
func (k *keeper) runLater(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, func() { k.runOnLoop(f) })
}

// run is the loop.
func (k *keeper) run(ctx context.Context) error {
	defer close(k.done)
	reap, stop, err := adoptSignals()
	if err != nil {
		return err
	}
	defer signal.Stop(reap)
	defer signal.Stop(stop)
	k.startOrWatchEngine()
	resting := time.NewTimer(restAfter)
	defer resting.Stop()
	for !k.finished {
		select {
		case <-resting.C:
			releaseMemory()
			continue // without restarting the timer
		case f := <-k.calls:
			f()
		case <-reap:
			k.reap()
		case s := <-stop:
			k.finished = s == syscall.SIGTERM
		case <-ctx.Done():
			k.finished = true
		}
		resting.Reset(restAfter)
	}
	k.awaitWrites()
	return k.err
}

const restAfter = 2 * time.Second // idle time before memory is returned to the system

// awaitWrites waits a limited time for exits being written.
func (k *keeper) awaitWrites() {
	// The engine may not record these exits any more.
	k.writeAllLate()
	written := make(chan struct{})
	go func() {
		k.recording.Wait()
		close(written)
	}()
	deadline := time.NewTimer(2 * time.Second)
	defer deadline.Stop()
	for {
		select {
		case <-written:
			return
		case <-deadline.C:
			return
		case f := <-k.calls:
			f()
		}
	}
}

// reap collects all processes that have exited: children, the engine, and orphans inherited as a
// subreaper. Forks run on this goroutine too, so a process is in the tables before its exit can be
// seen.
func (k *keeper) reap() {
	for {
		var ws syscall.WaitStatus
		// SIGCHLD may stand for several exits, so reap until none is left.
		pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		if c := k.byPID[pid]; c != nil && !c.adopted {
			k.recordExit(c, exitFromStatus(ws))
		}
		if pid == k.engine.spawned {
			k.handleEngineExit(pid, exitFromStatus(ws))
		}
	}
}

// finishIfIdle ends the keeper if it is paused and nothing it holds is alive.
func (k *keeper) finishIfIdle() {
	if k.engine.paused && !k.engine.alive() && len(k.byPID) == 0 && len(k.starting) == 0 {
		k.finished = true
	}
}

// handle processes a message on the loop. It owns fds.
func (k *keeper) handle(s *session, m message, fds []int) {
	// Only these take descriptors.
	if m.Op != opAdopt && m.Op != opReplace {
		closeFDs(fds)
		fds = nil
	}
	switch {
	case m.Op == opHello:
		k.handleHello(s, m.ID)
	case m.Op == opWake:
		k.wakeEngine(s, m.ID)
	case s != k.engine.session:
		closeFDs(fds)
		s.reply(m.ID, fmt.Errorf("%s: only the engine may do this, after %s", m.Op, opHello))
	default:
		k.handleEngineRequest(s, m, fds)
	}
}

// handleEngineRequest handles the requests reserved for the engine.
func (k *keeper) handleEngineRequest(s *session, m message, fds []int) {
	switch m.Op {
	case opReady:
		k.markReady()
		s.reply(m.ID, nil)
	case opStart:
		k.startChild(s, m.ID, m.Spec)
	case opList:
		s.send(message{Op: opReply, ID: m.ID, Children: k.listChildren()})
	case opMaster:
		k.sendMaster(s, m.ID, m.ChildID)
	case opForget:
		s.reply(m.ID, k.forgetChild(m.ChildID))
	case opAdopt:
		err := k.adoptChild(m.Child, m.Dir, Logs{m.Logs, m.LogLimit}, fds)
		if err != nil {
			closeFDs(fds)
		}
		s.reply(m.ID, err)
	case opReplace:
		replace := k.replaceEngine
		if m.PID != 0 {
			replace = func(fds []int) error { return k.upgradeEngine(fds, m.PID) }
		}
		err := replace(fds)
		if err != nil {
			closeFDs(fds)
		}
		s.reply(m.ID, err)
	case opPause:
		k.pauseEngine()
		s.reply(m.ID, nil)
	default:
		closeFDs(fds)
		s.reply(m.ID, fmt.Errorf("unknown operation %q", m.Op))
	}
}

// handleHello announces the session's peer as the engine.
func (k *keeper) handleHello(s *session, id uint64) {
	if err := k.announce(s); err != nil {
		s.reply(id, fmt.Errorf("announce engine: %w", err))
		return
	}
	s.send(message{Op: opReply, ID: id, PID: ownPID(), Upgrades: true})
}

func (k *keeper) announce(s *session) error {
	e, pid := &k.engine, s.peer.pid
	switch {
	case pid <= 0:
		return errors.New("its pid cannot be seen from here")
	// Two engines must never share the children.
	case e.announced != 0 && e.announced != pid:
		return fmt.Errorf("process %d is the engine and still running", e.announced)
	}
	if e.announced == 0 {
		if err := k.watchEngine(pid, s.peer.pidfd); err != nil {
			return err
		}
		e.killSpare(pid)
	}
	if e.upgrading {
		e.upgrading = false
		e.stopKill()
	}
	if e.session != nil {
		e.session.disconnect()
	}
	k.setSession(s)
	return nil
}

// dropSession removes a session whose connection has ended. The process behind it may still run.
func (k *keeper) dropSession(s *session) {
	e := &k.engine
	if e.session == s {
		k.setSession(nil)
	}
	for i, w := range e.waiting {
		if w.session == s {
			e.waiting = append(e.waiting[:i], e.waiting[i+1:]...)
			return
		}
	}
}
