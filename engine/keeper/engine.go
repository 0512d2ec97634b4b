package keeper

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// An engine is what the keeper knows of the program it keeps running. Usually
// the process that it started (spawned) is also the one that said hello
// (announced); after a death of the keeper the announced one is not its child.
type engine struct {
	program engineProgram

	spawned   int      // pid of the engine that this keeper started, 0 if none lives
	announced int      // pid of the engine that said hello, 0 if none lives
	pidfd     int      // of an announced engine that was not spawned, else -1
	session   *session // of the announced engine; nil while it has no connection

	ready     bool // clients can connect to it
	readyAt   time.Time
	everReady bool
	paused    bool // not to be started until a client wakes it
	leaving   bool // is about to end on request, so its death is none

	failures int         // deaths in a row without having been well
	restart  *time.Timer // of the next start, if it waits
	waiting  []waiter    // clients that want to know when it is ready
}

// A waiter is a wake request without a reply yet.
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

// firstEngine starts the engine, or watches the one that started this keeper.
func (k *keeper) firstEngine() {
	e := &k.engine
	pid := e.announced
	e.announced = 0
	if pid == 0 {
		k.startEngine()
		return
	}
	if err := k.recognise(pid, -1); err != nil {
		e.logf("keeper: %v", err)
		k.startEngine()
		return
	}
	e.everReady = true
	k.ready.tell(nil)
}

// recognise makes pid the announced engine and watches it. pidfd may be -1; it
// stays the caller's.
func (k *keeper) recognise(pid, pidfd int) error {
	e := &k.engine
	if pid == e.spawned {
		e.announced = pid
		return nil
	}
	fd, err := dupOrOpen(pid, pidfd)
	if err != nil {
		return fmt.Errorf("watch engine %d: %w", pid, err)
	}
	ended := func() { k.engineEnded(pid, Exit{Unknown: true}) }
	if err := k.watch.add(fd, ended); err != nil {
		closeFD(fd)
		return fmt.Errorf("watch engine %d: %w", pid, err)
	}
	e.announced, e.pidfd = pid, fd
	return nil
}

// startEngine starts the engine unless one lives or nobody wants one. Without
// its data folder an engine is of no use to anybody.
func (k *keeper) startEngine() {
	e := &k.engine
	e.stopTimer()
	if e.alive() || e.paused || k.finished {
		return
	}
	if k.lock.displaced() {
		e.logf("keeper: the data folder was moved or deleted")
		e.paused = true
		k.failWaiting(errors.New("the data folder was moved or deleted"))
		k.finishIfIdle()
		return
	}
	k.keepFiles()
	pid, err := e.program.start()
	if err != nil {
		k.engineFailed(Exit{Unknown: true}, err)
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

// engineEnded notes the death of an engine; other pids are none of its business.
func (k *keeper) engineEnded(pid int, how Exit) {
	e := &k.engine
	if pid == 0 || pid != e.spawned && pid != e.announced {
		return
	}
	reason := errors.New("engine ended before it was ready: " + how.String())
	if pid == e.spawned {
		e.spawned = 0
		if line := e.program.lastWords(); line != "" {
			reason = errors.New(line)
		}
	}
	if pid == e.announced {
		k.forgetAnnounced()
	}
	if !e.alive() {
		k.engineFailed(how, reason)
	}
}

func (k *keeper) forgetAnnounced() {
	e := &k.engine
	e.announced = 0
	closeFD(e.pidfd)
	e.pidfd = -1
	if e.session != nil {
		e.session.cut()
		k.connect(nil)
	}
}

// engineFailed decides what follows when no engine lives any more.
func (k *keeper) engineFailed(how Exit, reason error) {
	e := &k.engine
	wasLeaving, wasReady := e.leaving, e.ready
	e.ready = false
	delay := e.nextDelay(wasReady, how, time.Now())
	if e.paused {
		k.finishIfIdle()
		return
	}
	if !wasLeaving && !wasReady && !e.program.rollBack() && !e.excused(how) {
		k.failWaiting(reason)
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
	e.restart = k.after(delay, k.startEngine)
}

const (
	firstDelay = 100 * time.Millisecond
	lastDelay  = 10 * time.Second
	// awaitedDelay is the longest delay while clients wait for the engine.
	awaitedDelay = 200 * time.Millisecond
	wellAfter    = time.Second // an engine that stays ready this long works
)

// nextDelay says how long to wait with the next start. An engine that worked is
// started again at once; one that was killed from outside soon after; one that
// keeps dying by itself waits longer each time, but not much longer while clients wait for it.
func (e *engine) nextDelay(wasReady bool, how Exit, now time.Time) time.Duration {
	switch {
	case e.leaving || wasReady && now.Sub(e.readyAt) >= wellAfter:
		e.leaving = false
		e.failures = 0
		return 0
	case wasReady && how.Code == nil:
		return firstDelay / 2
	}
	e.failures++
	if e.failures == 1 {
		return 0
	}
	longest := lastDelay
	if len(e.waiting) > 0 {
		longest = awaitedDelay
	}
	return min(firstDelay<<min(e.failures-2, 10), longest)
}

// excused says that a death before being ready says nothing about the program:
// somebody killed it. A few times in a row they are believed.
func (e *engine) excused(how Exit) bool { return how.Signal == "SIGKILL" && e.failures < 3 }

// engineReady answers everyone who waits for the engine.
func (k *keeper) engineReady() {
	e := &k.engine
	e.ready, e.everReady, e.readyAt = true, true, time.Now()
	e.program.keepNew()
	for _, w := range e.waiting {
		w.session.reply(w.id, nil)
	}
	e.waiting = nil
	k.ready.tell(nil)
}

func (k *keeper) failWaiting(reason error) {
	for _, w := range k.engine.waiting {
		w.session.reply(w.id, reason)
	}
	k.engine.waiting = nil
}

// wake makes sure that there is an engine, and answers once it is ready.
func (k *keeper) wake(s *session, id uint64) {
	e := &k.engine
	e.paused = false
	if e.ready && e.alive() {
		s.reply(id, nil)
		return
	}
	e.waiting = append(e.waiting, waiter{s, id})
	k.startEngine()
}

// pause keeps the engine from being started again. It is about to end, so nobody
// should be sent to it any more.
func (k *keeper) pause() {
	e := &k.engine
	e.leaving, e.paused, e.ready = true, true, false
	e.stopTimer()
}

// replace makes the descriptor the engine's program and ends the running one. It
// takes the descriptor over if it returns nil.
func (k *keeper) replace(fds []int) error {
	e := &k.engine
	if err := e.setProgram(fds); err != nil {
		return err
	}
	e.leaving, e.paused, e.ready = true, false, false
	pid := e.announced
	e.signal(pid, syscall.SIGTERM)
	k.after(5*time.Second, func() { e.signal(pid, syscall.SIGKILL) })
	return nil
}

// killSpare kills the engine that this keeper started if another process is the engine. The
// other one survived an earlier keeper and holds the data directory, so the one started here
// could only wait for it to exit.
func (e *engine) killSpare(pid int) {
	if e.spawned == 0 || e.spawned == pid {
		return
	}
	if err := syscall.Kill(e.spawned, syscall.SIGKILL); err != nil { // our child, so its pid cannot have been reused
		e.logf("keeper: kill engine %d: %v", e.spawned, err)
	}
}

func (e *engine) setProgram(fds []int) error {
	if len(fds) != 1 {
		return errors.New("replace engine: must pass one executable")
	}
	if err := e.program.replace(fds[0]); err != nil {
		return fmt.Errorf("replace engine: %w", err)
	}
	return nil
}

// succeed makes the process next, which runs the program open at the descriptor, the engine in
// place of the caller, whose exit no longer has any effect. It takes ownership of the
// descriptor if it returns nil.
func (k *keeper) succeed(fds []int, next int) error {
	e := &k.engine
	old := e.pidfd
	if err := k.recognise(next, -1); err != nil {
		return err
	}
	closeFD(old)
	e.ready, e.paused = false, false
	k.connect(nil)
	if err := e.setProgram(fds); err != nil {
		closeFDs(fds)
		e.logf("keeper: %v", err) // the next engine runs anyway
	}
	return nil
}

// signal sends sig to the announced engine if that is still pid.
func (e *engine) signal(pid int, sig syscall.Signal) {
	if pid == 0 || pid != e.announced {
		return
	}
	if err := e.kill(pid, sig); err != nil {
		e.logf("keeper: send %s to engine %d: %v", signalName(sig), pid, err)
	}
}
