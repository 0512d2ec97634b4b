package keeper

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// An engine is the state of the program the keeper keeps running. Usually the process it started
// (spawned) is also the one that said hello (announced). After the keeper itself was replaced, the
// announced engine is not its child.
type engine struct {
	program engineProgram

	spawned   int      // pid of the engine started by this keeper, or 0
	announced int      // pid of the engine that said hello, or 0
	pidfd     int      // of an announced engine that was not spawned, otherwise -1
	session   *session // of the announced engine; nil while it is not connected

	ready     bool // clients can connect to the engine
	readyAt   time.Time
	everReady bool
	paused    bool // do not start an engine until a client asks
	leaving   bool // about to exit on request, which is no failure

	kill      *time.Timer // kills an engine that neither exits nor says hello again; nil if none has to
	upgrading bool        // the engine executes another program, which has not said hello yet

	failures int         // consecutive failures
	restart  *time.Timer // timer of a delayed start, or nil
	waiting  []waiter    // clients waiting for the engine to be ready
}

// A waiter is an unanswered wake request.
type waiter struct {
	session *session
	id      uint64
}

func newEngine(o Options) (engine, error) {
	p, err := newEngineProgram(o)
	return engine{program: p, announced: o.EnginePID, pidfd: -1}, err
}

func (e *engine) close()                     { e.program.close() }
func (e *engine) alive() bool                { return e.spawned != 0 || e.announced != 0 }
func (e *engine) logf(f string, args ...any) { e.program.logf(f, args...) }

// startOrWatchEngine starts the engine, or watches the one that started this keeper.
func (k *keeper) startOrWatchEngine() {
	e := &k.engine
	pid := e.announced
	e.announced = 0
	if pid == 0 {
		k.startEngine()
		return
	}
	if err := k.watchEngine(pid, -1); err != nil {
		e.logf("keeper: %v", err)
		k.startEngine()
		return
	}
	e.everReady = true
	k.ready.report(nil)
}

// watchEngine makes pid the announced engine and watches it. pidfd may be -1; the caller keeps it.
func (k *keeper) watchEngine(pid, pidfd int) error {
	e := &k.engine
	if pid == e.spawned {
		e.announced = pid
		return nil
	}
	fd, err := dupOrOpen(pid, pidfd)
	if err != nil {
		return fmt.Errorf("watch engine %d: %w", pid, err)
	}
	ended := func() { k.handleEngineExit(pid, Exit{Unknown: true}) }
	if err := k.watch.add(fd, ended); err != nil {
		closeFD(fd)
		return fmt.Errorf("watch engine %d: %w", pid, err)
	}
	e.announced, e.pidfd = pid, fd
	return nil
}

// startEngine starts the engine unless one is alive or the keeper is paused. It gives up if the
// data directory is gone, since an engine could do nothing without it.
func (k *keeper) startEngine() {
	e := &k.engine
	e.stopTimer()
	if e.alive() || e.paused || k.finished {
		return
	}
	if IsDisplaced(k.lock.folder) {
		e.logf("keeper: the data folder was moved or deleted")
		// Stay paused, so that the keeper exits with its last child.
		e.paused = true
		k.failWaiting(errors.New("the data folder was moved or deleted"))
		k.finishIfIdle()
		return
	}
	k.keepFiles()
	pid, err := e.program.start()
	if err != nil {
		k.restartOrFinish(Exit{Unknown: true}, err)
		return
	}
	e.spawned = pid
}

func (e *engine) stopTimer() {
	if e.restart != nil {
		e.restart.Stop()
		e.restart = nil
	}
}

// handleEngineExit handles the exit of the process pid if it was the engine, and ignores other
// processes.
func (k *keeper) handleEngineExit(pid int, how Exit) {
	e := &k.engine
	if pid == 0 || pid != e.spawned && pid != e.announced {
		return
	}
	reason := errors.New("engine exited before it was ready: " + how.String())
	if pid == e.spawned {
		e.spawned = 0
		// The engine's own message says more than its exit status.
		if line := e.program.lastOutput(); line != "" {
			reason = errors.New(line)
		}
	}
	if pid == e.announced {
		k.forgetAnnounced()
	}
	if !e.alive() {
		k.restartOrFinish(how, reason)
	}
}

func (k *keeper) forgetAnnounced() {
	e := &k.engine
	e.stopKill()
	e.announced, e.upgrading = 0, false
	closeFD(e.pidfd)
	e.pidfd = -1
	if e.session != nil {
		e.session.disconnect()
		k.setSession(nil)
	}
}

// restartOrFinish starts the next engine, at once or after a delay, or ends the keeper. It is called
// when the engine has exited or cannot be started. how is its exit, and reason is the error reported
// to clients that wait for the engine, if its program is to blame.
func (k *keeper) restartOrFinish(how Exit, reason error) {
	e := &k.engine
	failedToStart := !e.leaving && !e.ready
	delay := e.nextDelay(e.ready, how, time.Now())
	e.ready = false
	if e.paused {
		k.finishIfIdle()
		return
	}
	// If a new program fails, the previous one is started instead.
	if failedToStart && !e.program.rollBack() && !e.isExcusable(how) {
		k.failWaiting(reason)
		// No engine was ever ready and nothing depends on this keeper: report the error and exit.
		if !e.everReady && len(k.byPID) == 0 {
			k.err = reason
			k.finished = true
			return
		}
	}
	if delay == 0 {
		k.startEngine()
		return
	}
	e.stopTimer()
	e.restart = k.runLater(delay, k.startEngine)
}

const (
	minDelay = 100 * time.Millisecond
	maxDelay = 10 * time.Second
	// maxAwaitedDelay is the maximum delay while clients wait for the engine.
	maxAwaitedDelay = 200 * time.Millisecond
	wellAfter       = time.Second // an engine that stays ready this long works
)

// nextDelay returns the delay before the next start: none for an engine that worked, short for one
// that was killed, and increasing for one that keeps failing. While clients wait, it is at most
// maxAwaitedDelay.
func (e *engine) nextDelay(wasReady bool, how Exit, now time.Time) time.Duration {
	switch {
	case e.leaving || wasReady && now.Sub(e.readyAt) >= wellAfter:
		e.leaving = false
		e.failures = 0
		return 0
	case wasReady && how.Code == nil:
		return minDelay / 2
	}
	// The first failure may be a coincidence: restart at once.
	e.failures++
	if e.failures == 1 {
		return 0
	}
	longest := maxDelay
	if len(e.waiting) > 0 {
		longest = maxAwaitedDelay
	}
	return min(minDelay<<min(e.failures-2, 10), longest)
}

// isExcusable reports whether a failed start says little about the program, because it was killed
// or because engines have worked before. Only the first two failures in a row are excused: clients
// wait for the next engine meanwhile.
func (e *engine) isExcusable(how Exit) bool {
	return (how.Signal == "SIGKILL" || e.everReady) && e.failures < 3
}

// markReady answers all waiting clients.
func (k *keeper) markReady() {
	e := &k.engine
	e.ready, e.everReady, e.readyAt = true, true, time.Now()
	e.program.dropPrevious()
	for _, w := range e.waiting {
		w.session.reply(w.id, nil)
	}
	e.waiting = nil
	k.ready.report(nil)
}

func (k *keeper) failWaiting(reason error) {
	for _, w := range k.engine.waiting {
		w.session.reply(w.id, reason)
	}
	k.engine.waiting = nil
}

// wakeEngine ensures that an engine runs, and replies once it is ready.
func (k *keeper) wakeEngine(s *session, id uint64) {
	e := &k.engine
	e.paused = false
	if e.ready && e.alive() {
		s.reply(id, nil)
		return
	}
	e.waiting = append(e.waiting, waiter{s, id})
	k.startEngine()
}

// pauseEngine prevents further starts. The engine is about to exit, so it no longer counts as ready.
func (k *keeper) pauseEngine() {
	e := &k.engine
	e.leaving, e.paused, e.ready = true, true, false
	e.stopTimer()
}

// replaceEngine makes the descriptor the engine's program and stops the running engine. If it returns
// nil, it owns the descriptor.
func (k *keeper) replaceEngine(fds []int) error {
	e := &k.engine
	if err := e.setProgram(fds); err != nil {
		return err
	}
	e.leaving, e.paused, e.ready = true, false, false
	e.signal(e.announced, syscall.SIGTERM)
	k.killLater()
	return nil
}

// killLater kills the engine after maxStuck unless it has exited by then, or has said hello after an
// upgrade. A stuck engine must not prevent its replacement.
func (k *keeper) killLater() {
	e := &k.engine
	e.stopKill()
	pid := e.announced
	e.kill = k.runLater(maxStuck, func() { e.signal(pid, syscall.SIGKILL) })
}

func (e *engine) stopKill() {
	if e.kill != nil {
		e.kill.Stop()
		e.kill = nil
	}
}

// maxStuck is how long an engine may take to exit for its replacement, or the next program to say
// hello.
const maxStuck = 5 * time.Second

// killSpare kills the engine this keeper started if another process is the engine. The other one
// survived an earlier keeper and holds the data directory, so the spare could only wait for it to
// exit.
func (e *engine) killSpare(pid int) {
	if e.spawned == 0 || e.spawned == pid {
		return
	}
	// The spare is our child, so its pid cannot have been reused.
	if err := syscall.Kill(e.spawned, syscall.SIGKILL); err != nil {
		e.logf("keeper: kill engine %d: %v", e.spawned, err)
	}
}

func (e *engine) setProgram(fds []int) error {
	if len(fds) != 1 {
		return errors.New("replace engine: must pass one executable")
	}
	if err := e.program.setExecutable(fds[0]); err != nil {
		return fmt.Errorf("replace engine: %w", err)
	}
	return nil
}

// upgradeEngine notes that the engine, the process pid, is about to execute the program open at the
// descriptor. If it returns nil, it owns the descriptor.
func (k *keeper) upgradeEngine(fds []int, pid int) error {
	e := &k.engine
	if pid != e.announced {
		return fmt.Errorf("upgrade engine: process %d is the engine, not %d", e.announced, pid)
	}
	if e.paused {
		return errors.New("upgrade engine: it was asked to stop")
	}
	if err := e.setProgram(fds); err != nil {
		return err
	}
	// Clients wait until the next program is ready.
	e.ready, e.leaving, e.upgrading = false, false, true
	k.killLater()
	return nil
}

// signal sends sig to the announced engine, if that is still pid.
func (e *engine) signal(pid int, sig syscall.Signal) {
	if pid == 0 || pid != e.announced {
		return
	}
	if err := e.sendSignal(pid, sig); err != nil {
		e.logf("keeper: send %s to engine %d: %v", signalName(sig), pid, err)
	}
}
