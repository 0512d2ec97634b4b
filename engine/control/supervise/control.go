package supervise

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/invariants"
	"tandem/engine/base/mailbox"
	"tandem/engine/record/history"
	"tandem/engine/session/terminal"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

// An Executor does the control loop's work on the system: with files, children and sessions. The
// control loop calls its methods from worker goroutines, because they may block unless they say
// otherwise. Tests use an Executor without processes.
type Executor interface {
	// Save writes a record. If durable is set, the record survives a power failure.
	Save(r store.Record, durable bool) error
	// NoteUnconfined marks the process's folder for its readers: it runs without a sandbox. The
	// engine does not depend on the mark, so this is called after a start is answered.
	NoteUnconfined(r store.Record)
	// ClearPredecessor stops what the previous run left behind, and waits until it is gone.
	ClearPredecessor(ctx context.Context, r store.Record, before Predecessor) error
	// Spawn starts the child of a record and, if it has a terminal, its session. If ctx ends before
	// the keeper is asked for the child, no child is started. former is the previous child; its PID
	// is 0 if there was none. Spawn calls onWait before a long wait, so other starts can proceed.
	Spawn(ctx context.Context, r store.Record, former store.Identity, onWait func()) (Launch, error)
	// TypeCommand types a record's command at the first prompt of its session. It does not block.
	// It calls note just before typing, and does not type if note fails.
	TypeCommand(r store.Record, live Session, note func(context.Context) error)
	// StopTree stops a record's child and all its descendants, and returns when they are gone.
	// aliveUntil is when the child was last known to run, in clock ticks since boot; 0 if unknown.
	// If signal is not "", it is sent instead of the record's stop signal.
	StopTree(ctx context.Context, r store.Record, aliveUntil uint64, signal string) error
	// StopRemains stops the programs that exited children left running. It returns how many of the
	// records had left any.
	StopRemains(ctx context.Context, records []store.Record, signal string) (int, error)
	// HaveRemains returns the ids of exited children that left programs running.
	HaveRemains(records []store.Record) (map[string]bool, error)
	ForgetChild(id string)
	// ReviveSession rebuilds the session of an exited process from its log: a screen without a
	// program. It does not block.
	ReviveSession(r store.Record) *terminal.Session
	// Keep keeps the output of ended processes for a while after their records are removed. drop
	// deletes it again for those whose records were not removed. It is nil if the engine exits, and the
	// records must stay.
	Keep(ended []Entry) (drop func(ids []string))
	// Remove deletes a record and its log. If durable is set, they stay deleted after a power
	// failure.
	Remove(id string, durable bool) error
}

// An Observer watches running children.
type Observer interface {
	// Probe waits until a child is ready. If it does not become ready, the error gives the reason.
	Probe(ctx context.Context, r store.Record) error
	// BoundLog keeps the log of a process without a terminal within its size limit, until stop is
	// called. Neither BoundLog nor stop blocks.
	BoundLog(r store.Record) (stop func())
	// LastLines returns the last lines of a process's log.
	LastLines(r store.Record) []string
	// FindLateExit searches for an exit status after the child's tree is gone.
	FindLateExit(ctx context.Context, r store.Record) Ending
}

// A Session is the part of a terminal session that the control loop uses. None of its methods
// blocks. Its type must be comparable.
type Session interface {
	ChildEnded()             // reads the remaining output, then reports evDrained
	Facts() terminal.Facts   // what the screen shows now
	Finish(p api.Process)    // tells viewers that the program has exited
	Admit(locked, open bool) // locked: the user holds the keyboard; open: sandboxed agents may type
	Stopping()               // a stop was requested, for everything in the session
	Close()
	Gone() <-chan struct{} // closed after Close, once the session's goroutines have returned
}

// A Launch is a child just started or found.
type Launch struct {
	Child    keeper.Child
	Live     Session   // the session of a child in a terminal
	Began    time.Time // just before the start; zero if unknown
	LogStart int64     // offset in the log of the first output

	ErrorLogStart int64  // the same for stderr.log
	ProxyURL      string // the proxy of its sandbox; "" without one
	Typed         string // command to be typed at the first prompt
	Typing        string // how; "" if there is none
}

// A Predecessor is what the previous run may have left behind. The zero value means nothing.
type Predecessor struct {
	Identity   store.Identity // of a child whose tree may still be running; PID 0 if it is not
	AliveUntil uint64         // as in proc
	Live       Session        // closed, but perhaps still shutting down
}

// An Ending describes how a child exited.
type Ending struct {
	Exit keeper.Exit
	At   time.Time // zero if nobody observed the exit
}

func (b Predecessor) isEmpty() bool { return b.Identity.PID == 0 && b.Live == nil }

// A proc is the control loop's state of one process.
type proc struct {
	rec     store.Record // as wanted and as last known; its State is an api.State
	logPath string
	command string   // argv as a command line, secrets replaced
	argv    []string // for clients, secrets replaced
	exit
	stop        stopRequest
	killing     bool // a worker is stopping its tree
	removing    bool // a worker is deleting its directory
	live        Session
	predecessor Predecessor    // of the previous run, in StateWaiting
	lastFacts   terminal.Facts // of a closed session
	idleTimer   *time.Timer    // closes the session of an ended process
	reapTimer   *time.Timer    // stops the process once its owner has been gone long enough
	limit       limitTimer

	retryTimer      *time.Timer        // fires in backoff, or to retry a failed stop
	cancelProbe     context.CancelFunc // stops the readiness check
	stopBound       func()             // stops bounding the log
	cancelStart     context.CancelFunc // cancels a start the keeper has not been asked for; nil before the first
	notedUnconfined bool               // NoteUnconfined has been called
	atBoot          bool               // a reboot may start it, under its present or an earlier policy
	lines           []string           // the end of its log, in backoff and after a failure
	removals        []chan<- outcome   // the removals to carry out once it is stopped
	runs            int                // how many of its children have been seen to start
	shared          shared             // read by other goroutines

	view         api.Process // as last announced
	rev          int         // of rec; a save announces the revision it wrote
	announcedRev int         // the last revision announced
	waiters      []waiter
	work         workQueue
}

// An exit is what is known about the end of a run.
type exit struct {
	ending     *Ending // nil until the child has exited
	aliveUntil uint64  // clock ticks since boot, read right after the child's exit; 0 if the exit was noticed late
	drained    bool    // all output has been read
	treeGone   bool    // nothing it started is running
}

// A stopRequest says how to stop a run, and what to do afterwards.
type stopRequest struct {
	restart   bool   // restart it afterwards
	fault     string // why the run counts as failed
	signal    string // replaces the stop signal
	timeoutMS int    // replaces the stop timeout

	tries    int       // failed attempts in a row to stop its tree
	since    time.Time // time of the first of these attempts
	reported bool      // the failure has been reported
}

func (p *proc) state() api.State { return api.State(p.rec.State) }

// A waiter is a request that is answered when until returns true for an announced state.
type waiter struct {
	until func(api.State) bool
	reply chan<- outcome // has room for one
}

type outcome struct {
	process api.Process
	err     error
}

// Control owns the state of all processes. Its methods run on its own goroutine, except Ask and
// those that say otherwise. Control serves requests; its parts carry them out.
type Control struct {
	reg      *registry
	starting *starting
	stopping *stopping
	waiting  *waiting
	leases   leases
	callers  callers
	History  *history.History       // nil if no history is kept
	Private  Private                // set before the first call
	OnLeft   func(owner string)     // called with a client that disconnected; may block
	Keeper   func() *store.Identity // returns the keeper that receives starts, nil if unknown; must not block
	done     chan struct{}
}

// NewControl returns a Control. Fill it with Restore, then call Run. It and its workers stop when
// ctx ends.
func NewControl(ctx context.Context, w Executor, o Observer, log *slog.Logger) *Control {
	box := mailbox.New()
	reg := &registry{
		ctx:      ctx,
		executor: guardedExecutor{w, guard{log}},
		observer: guardedObserver{o, guard{log}},
		log:      log,
		procs:    make(processes),
		box:      box,
		effects:  newEffects(box.Post),
		screens:  screens{post: box.Post},
	}
	c := &Control{reg: reg, done: make(chan struct{}), Keeper: func() *store.Identity { return nil }}
	c.leases = leases{reg: reg, onLeft: func() func(string) { return c.OnLeft }}
	c.starting = &starting{reg: reg, keeper: func() *store.Identity { return c.Keeper() }, claimRun: c.leases.claimRun}
	c.waiting = &waiting{reg: reg, spawnNow: c.starting.spawnNow, claimRun: c.leases.claimRun}
	c.stopping = &stopping{reg: reg, next: c.starting, wakeWaiting: c.waiting.wakeSoon}
	c.starting.runs, c.starting.waitForNextRun = c.stopping, c.waiting.waitForNextRun
	reg.table = newTable(c.starting, c.stopping, c.waiting)
	trim := &trimming{reg: reg}
	reg.history = func() *history.History { return c.History }
	reg.onAnnounced = func(s api.State) {
		c.waiting.wakeSoon()
		if s.Ended() {
			trim.trimSoon()
		}
	}
	return c
}

// Run is the control goroutine. When its context ends, it handles no more events, waits for its
// workers and returns.
func (c *Control) Run() {
	defer close(c.done)
	c.reg.procs.noteFound(c.History)
	for c.reg.ctx.Err() == nil {
		select {
		case <-c.reg.ctx.Done():
		case <-c.reg.box.Wake:
			// Take returns all functions posted so far. Any posted meanwhile wake the loop again.
			for _, f := range c.reg.box.Take() {
				c.step(f)
			}
		}
	}
	c.reg.frozen = true
	c.leases.stopTimers()
	c.reg.hub.Close()
	c.reg.effects.running.Wait()
}

// step runs a posted function. If it panics, the state of processes may be half changed, so the
// engine exits. The next engine recovers from the records on disk.
func (c *Control) step(f func()) {
	if c.panics(f) {
		panic("the control loop failed; engine.log has the details")
	}
}

// panics calls f and reports whether it panicked. It logs the panic with secrets redacted; the
// runtime would write it to engine.log as it is.
func (c *Control) panics(f func()) (panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			panicked = true
			c.reg.log.Error("control loop panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	f()
	if invariants.Enabled {
		c.checkTable()
	}
	return false
}

// Ask runs f on the control goroutine and returns its result.
func Ask[T any](ctx context.Context, c *Control, f func() T) (T, error) {
	reply := make(chan T, 1)
	c.reg.box.Post(func() { reply <- f() })
	var none T
	select {
	case v := <-reply:
		return v, nil
	case <-ctx.Done():
		return none, ctx.Err()
	// The control goroutine has stopped and will never run f.
	case <-c.done:
		return none, api.ErrEnding()
	}
}

// isExpected reports whether a client waits for a state.
func (p *proc) isExpected(s api.State) bool {
	return slices.ContainsFunc(p.waiters, func(w waiter) bool { return w.until(s) })
}

// mustBeDurable reports whether the record must survive a power failure. This is so if the record
// decides whether the process starts after a reboot. Any other record is useless after a power
// failure, because the process is gone.
func (p *proc) mustBeDurable() bool {
	return p.startsAtBoot() && p.isExpected(p.state())
}

// startsAtBoot reports whether any version of the record that may be on disk makes a reboot start
// the process.
func (p *proc) startsAtBoot() bool {
	p.atBoot = p.atBoot || StartsAtBoot(p.rec.Restart)
	return p.atBoot
}

func (p *proc) showsLines() bool {
	return !p.rec.TTY && (p.state() == api.StateBackoff || p.state() == api.StateFailed)
}

// failWaiters answers every client waiting for the process with an error.
func (p *proc) failWaiters(err error) {
	p.answerWaiters(func(waiter) bool { return true }, outcome{err: err})
}

// answerWaiters sends o to the waiters for which matches returns true, and removes them.
func (p *proc) answerWaiters(matches func(waiter) bool, o outcome) {
	p.waiters = slices.DeleteFunc(p.waiters, func(w waiter) bool {
		if !matches(w) {
			return false
		}
		w.reply <- o
		return true
	})
}

// PublishView publishes a process whose screen has changed. Screen changes are not saved to disk.
func (c *Control) PublishView(id string) {
	c.reg.box.Post(func() {
		if p := c.reg.procs[id]; p != nil && !c.reg.frozen && p.view.ID != "" {
			c.reg.publishView(p)
		}
	})
}
