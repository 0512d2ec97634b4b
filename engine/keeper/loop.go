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

// A keeper's state belongs to one goroutine, run's. Everything else that happens
// (requests, slow work that is done, timers) reaches it as a function to call.
type keeper struct {
	calls    chan func()
	done     chan struct{} // closed when run ends
	children map[string]*child
	byPID    map[int]*child      // those that live
	starting map[string]struct{} // ids on their way to a fork
	bootID   string
	lock     *folderLock
	socket   *socket
	engine   engine
	ready    *readiness
	watch    *watcher

	untrim func() // ends the trimming of logs; nil if there is none

	recording sync.WaitGroup // exit.json being written
	writers   chan struct{}  // bounds them

	finished bool // nothing needs the keeper any more
	err      error
}

// keep runs the keeper that holds the lock.
func keep(ctx context.Context, o Options, lock *folderLock, r *readiness) error {
	defer lock.close()
	k, err := newKeeper(o, lock, r)
	if err != nil {
		return err
	}
	defer k.engine.close()
	defer k.stopTrimming()
	if err := detach(o, r); err != nil {
		return err
	}
	s := &server{uid: os.Geteuid(), do: k.do, handle: k.handle, gone: k.gone}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k.socket = &socket{path: o.Socket, spare: o.spareSocket(), serve: func(l *net.UnixListener) { s.serve(ctx, l) }}
	if err := k.socket.open(); err != nil {
		return err
	}
	defer k.socket.close() // while the lock is still held
	if k.watch, err = newWatcher(k.do); err != nil {
		return err
	}
	defer k.watch.close()
	defer limitMemory()()
	go k.watch.run()
	stop := watchFolders(func() { k.do(k.keepFiles) }, o.DataDir, filepath.Dir(o.Socket))
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

// do runs f on the loop; false says that the loop has ended.
func (k *keeper) do(f func()) bool {
	select {
	case k.calls <- f:
		return true
	case <-k.done:
		return false
	}
}

// after runs f on the loop in d.
func (k *keeper) after(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, func() { k.do(f) })
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
	k.firstEngine()
	resting := time.NewTimer(restAfter)
	defer resting.Stop()
	for !k.finished {
		select {
		case <-resting.C:
			releaseMemory()
			continue // and rest until something happens
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
	k.settle()
	return k.err
}

const restAfter = 2 * time.Second // without anything to do

// settle gives the exits that are being written some time.
func (k *keeper) settle() {
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

// reap collects every process that has ended: children, the engine, and orphans
// that came here because the keeper is a subreaper. Forks happen on this
// goroutine too, so a process is in the tables before its end can be seen.
func (k *keeper) reap() {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		if c := k.byPID[pid]; c != nil && !c.adopted {
			k.ended(c, exitOf(ws))
		}
		if pid == k.engine.spawned {
			k.engineEnded(pid, exitOf(ws))
		}
	}
}

// finishIfIdle ends the keeper when it was paused and holds nothing that lives.
func (k *keeper) finishIfIdle() {
	if k.engine.paused && !k.engine.alive() && len(k.byPID) == 0 && len(k.starting) == 0 {
		k.finished = true
	}
}

// handle serves one message of a session, on the loop. It owns fds.
func (k *keeper) handle(s *session, m message, fds []int) {
	if m.Op != opAdopt && m.Op != opReplace {
		closeFDs(fds)
		fds = nil
	}
	switch {
	case m.Op == opHello:
		k.hello(s, m.ID)
	case m.Op == opWake:
		k.wake(s, m.ID)
	case s != k.engine.session:
		closeFDs(fds)
		s.reply(m.ID, fmt.Errorf("%s: only for the engine, which says %s first", m.Op, opHello))
	default:
		k.serve(s, m, fds)
	}
}

// serve handles what only the engine may ask.
func (k *keeper) serve(s *session, m message, fds []int) {
	switch m.Op {
	case opReady:
		k.engineReady()
		s.reply(m.ID, nil)
	case opStart:
		k.start(s, m.ID, m.Spec)
	case opList:
		s.send(message{Op: opReply, ID: m.ID, Children: k.list()})
	case opMaster:
		k.master(s, m.ID, m.ChildID)
	case opForget:
		s.reply(m.ID, k.forget(m.ChildID))
	case opAdopt:
		err := k.adopt(m.Child, m.Dir, Logs{m.Logs, m.LogLimit}, fds)
		if err != nil {
			closeFDs(fds)
		}
		s.reply(m.ID, err)
	case opReplace:
		replace := k.replace
		if m.PID != 0 {
			replace = func(fds []int) error { return k.succeed(fds, m.PID) }
		}
		err := replace(fds)
		if err != nil {
			closeFDs(fds)
		}
		s.reply(m.ID, err)
	case opPause:
		k.pause()
		s.reply(m.ID, nil)
	default:
		closeFDs(fds)
		s.reply(m.ID, fmt.Errorf("unknown operation %q", m.Op))
	}
}

// hello announces the session's peer as the engine.
func (k *keeper) hello(s *session, id uint64) {
	if err := k.announce(s); err != nil {
		s.reply(id, fmt.Errorf("announce engine: %w", err))
		return
	}
	s.send(message{Op: opReply, ID: id, PID: ownPID(), Succeeds: true})
}

func (k *keeper) announce(s *session) error {
	e, pid := &k.engine, s.peer.pid
	switch {
	case pid <= 0:
		return errors.New("its pid cannot be seen from here")
	case e.announced != 0 && e.announced != pid:
		return fmt.Errorf("process %d is the engine and lives", e.announced)
	}
	if e.announced == 0 {
		if err := k.recognise(pid, s.peer.pidfd); err != nil {
			return err
		}
		e.killSpare(pid)
	}
	if e.session != nil {
		e.session.cut()
	}
	k.connect(s)
	return nil
}

// gone forgets a session whose connection has ended. That says nothing about the
// process behind it.
func (k *keeper) gone(s *session) {
	e := &k.engine
	if e.session == s {
		k.connect(nil)
	}
	for i, w := range e.waiting {
		if w.session == s {
			e.waiting = append(e.waiting[:i], e.waiting[i+1:]...)
			return
		}
	}
}
