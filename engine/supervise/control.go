package supervise

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/history"
	"tandem/engine/invariants"
	"tandem/engine/keeper"
	"tandem/engine/mailbox"
	"tandem/engine/secrets"
	"tandem/engine/shell"
	"tandem/engine/terminal"
	"tandem/persist/store"
)

// A World is what the control loop can cause. Its methods may block; the
// control loop calls them only from workers. The model tests have one without processes.
type World interface {
	// Save writes a record; with durable set it survives a loss of power too.
	Save(r store.Record, durable bool) error
	// NoteUnconfined writes down that a process is not confined, for people. Nothing
	// depends on it, so it comes after the answer to a start.
	NoteUnconfined(r store.Record)
	// Clear waits until nothing is left of the child before, and ends what is.
	Clear(ctx context.Context, r store.Record, before Predecessor) error
	// Spawn starts the child of a record and, for a terminal, its session. When ctx
	// ends before the child is asked for there is none. former is the child before,
	// PID 0 if there was none. waits is called before a wait that may be long, so
	// that others start meanwhile.
	Spawn(ctx context.Context, r store.Record, former store.Identity, waits func()) (Started, error)
	// EndTree ends a record's child and everything that came of it, and returns
	// when nothing of that is left. held is until when the child is known to have
	// been there, as proc.held; signal is sent instead of the stop signal.
	EndTree(ctx context.Context, r store.Record, held uint64, signal string) error
	// EndRemains ends what records whose child has ended left running, and gives
	// how many of them had left something.
	EndRemains(ctx context.Context, records []store.Record, signal string) (int, error)
	// Probe waits until a child is ready and gives nil, or why it is not.
	Probe(ctx context.Context, r store.Record) error
	// Bound keeps the log of a process without a terminal bounded until stop is
	// called. Neither blocks.
	Bound(r store.Record) (stop func())
	// LastLines is the end of what a process has written.
	LastLines(r store.Record) []string
	// LateExit looks for an exit status that nobody reported.
	LateExit(ctx context.Context, r store.Record) Ending
	Forget(id string)
	// Revive makes the session of a record that has ended, only its screen. It does
	// not block.
	Revive(r store.Record) *terminal.Session
	// Remove deletes what is on disk; with durable set a loss of power does not
	// bring it back.
	Remove(id string, durable bool) error
}

// A Session is the part of a session that the control loop needs. None of
// its methods blocks.
type Session interface {
	ChildEnded()             // read what is left, then report evDrained
	Facts() terminal.Facts   // what it shows now
	Finish(p api.Process)    // tell viewers that it has ended
	Admit(locked, open bool) // whether a person has the keyboard, and whether confined agents may type
	Stopping()               // somebody has asked for its end, and with it for that of what runs in it
	Close()
	Gone() <-chan struct{} // closed when nothing of it runs any more, after close
}

// A Started is a child that was just started.
type Started struct {
	Child    keeper.Child
	Live     Session   // of a terminal
	Began    time.Time // just before it did; zero if nobody knows
	LogStart int64     // where in the log its output begins

	ErrorLogStart int64  // the same of stderr.log
	ProxyURL      string // its way out of its sandbox; "" if it needs none
}

// A Predecessor is what may be left of the run before. Its zero value is
// nothing.
type Predecessor struct {
	Identity store.Identity // of a child whose tree may not have ended; PID 0 if it has
	Held     uint64         // as proc.held
	Live     Session        // closed, but maybe not gone
}

// An Ending is how a child ended.
type Ending struct {
	Exit keeper.Exit
	At   time.Time // zero when nobody saw it
}

func (b Predecessor) isNothing() bool { return b.Identity.PID == 0 && b.Live == nil }

// A proc is all the control loop knows about one process.
type proc struct {
	rec     store.Record // as wanted and as known now; State is an api.State
	logPath string
	command string   // its argv as a line, secrets replaced
	argv    []string // as clients see it, secrets replaced
	exit
	stop     stopping
	killing  bool // a worker ends its tree
	removing bool // a worker deletes its folder
	live     Session
	before   Predecessor    // in waiting: of the run before
	last     terminal.Facts // of a session that is no longer live
	idle     *time.Timer    // closes the session of an ended process
	reaping  *time.Timer    // ends what its owner has left behind

	due      *time.Timer        // in backoff, and while a stop waits to be retried
	unprobe  context.CancelFunc // ends the readiness check
	unbound  func()             // ends the bounding of the log
	callOff  context.CancelFunc // ends a start that the keeper was not asked for yet; nil before the first
	noted    bool               // it is written down that it is not confined
	atBoot   bool               // its policy is, or was, one that starts it after a reboot
	lines    []string           // the end of its log, in backoff and when it failed
	removals []chan<- outcome   // who wants it removed once it is stopped
	runs     int                // how often its child was seen to begin
	shared   shared             // with other goroutines

	view    api.Process // as last announced
	rev     int         // of rec; what is announced is what was saved at rev
	told    int         // the rev that was announced last
	waiters []waiter
	work    work
}

// An exit is what is known of the end of a run.
type exit struct {
	ending  *Ending // set once the child has ended
	held    uint64  // when the child was known to have just ended, in clock ticks since boot; 0 if that came late
	drained bool    // all its output has been read
	gone    bool    // nothing that it started is left
	down    bool    // it was stopped when it had ended by itself already
}

// A stopping is what was asked for where a run is being ended.
type stopping struct {
	again     bool   // somebody has asked to start it when it has ended
	fault     string // why the run counts as failed
	signal    string // instead of the stop signal
	timeoutMS int    // instead of the stop time-out

	tries int       // how many attempts in a row failed to kill its tree
	since time.Time // when the first of these attempts began
	told  bool      // whether the failure was reported
}

func (p *proc) state() api.State { return api.State(p.rec.State) }

// A waiter is a request that is answered once an announced state is as wanted.
type waiter struct {
	until func(api.State) bool
	reply chan<- outcome // of 1
}

type outcome struct {
	process api.Process
	err     error
}

// Control owns all process state. Everything but post and ask runs on its own
// goroutine.
type Control struct {
	world    World
	log      *slog.Logger
	table    table
	procs    processes
	hub      hub
	box      *mailbox.Mailbox
	effects  *effects
	trimming bool // old ones are about to be removed
	waking   bool // those that wait are about to be looked at
	screens  screens
	environs environs
	closing  bool                   // everything is being stopped, and no start is accepted
	History  *history.History       // nil if no history is kept
	Left     func(owner string)     // called with a client that disconnected; may block
	Keeper   func() *store.Identity // returns the keeper that receives starts, nil if unknown; must not block
	leases   leases
	frozen   bool // the engine is ending: nothing that is observed counts any more
	ctx      context.Context
	done     chan struct{}
}

// NewControl makes a control whose table can be filled before it runs. It and
// its workers end with ctx.
func NewControl(ctx context.Context, w World, log *slog.Logger) *Control {
	box := mailbox.New()
	c := &Control{
		ctx:     ctx,
		world:   guarded{w, log},
		log:     log,
		table:   newTable(),
		procs:   make(processes),
		box:     box,
		effects: newEffects(box.Post),
		done:    make(chan struct{}),
		screens: screens{post: box.Post},
		Keeper:  func() *store.Identity { return nil },
	}
	c.leases.c = c
	return c
}

// Run is the control goroutine. When its context ends it takes no more events,
// waits for the workers and returns.
func (c *Control) Run() {
	defer close(c.done)
	c.procs.noteFound(c.History)
	for c.ctx.Err() == nil {
		select {
		case <-c.ctx.Done():
		case <-c.box.Wake:
			for _, f := range c.box.Take() {
				c.step(f)
			}
		}
	}
	c.frozen = true
	c.leases.stop()
	c.hub.close()
	c.effects.running.Wait()
}

// step does what was posted. What panics has left the state of processes half
// changed: the engine ends, and the next one finds them as they are.
func (c *Control) step(f func()) {
	if c.panics(f) {
		panic("the control loop failed; engine.log says at what")
	}
}

// panics runs f and logs what it panics with. The runtime would write that to
// engine.log as it is; the log redacts.
func (c *Control) panics(f func()) (panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			panicked = true
			c.log.Error("control loop panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	f()
	if invariants.Enabled {
		checkTable(c)
	}
	return false
}

// insert puts a record into the table.
func (c *Control) insert(r store.Record, logPath string) *proc {
	r.Environ = c.environs.shared(r.Environ)
	p := &proc{rec: r, logPath: logPath, argv: secrets.RedactArgv(r.Argv)}
	p.command = shell.Quote(p.argv...)
	p.share()
	c.procs[r.ID] = p
	return p
}

// post hands an event about a process to the control goroutine.
func (c *Control) post(id string, e event) {
	c.box.Post(func() { c.handle(id, e) })
}

// Ask runs f on the control goroutine and gives what it returned.
func Ask[T any](ctx context.Context, c *Control, f func() T) (T, error) {
	reply := make(chan T, 1)
	c.box.Post(func() { reply <- f() })
	var none T
	select {
	case v := <-reply:
		return v, nil
	case <-ctx.Done():
		return none, ctx.Err()
	case <-c.done:
		return none, api.ErrEnding()
	}
}

func (c *Control) handle(id string, e event) {
	p := c.procs[id]
	if p == nil || c.frozen {
		return
	}
	act := c.table[p.state()][e.kind]
	if act == nil {
		c.log.Error("event that cannot be", "id", id, "state", p.state(), "event", e.kind)
		return
	}
	act(c, p, e)
	p.share()
	if invariants.Enabled {
		p.check()
	}
}

// become changes the state of a process and saves it; it is announced once it
// is on disk.
func (c *Control) become(p *proc, s api.State) {
	c.log.Info("state", "id", p.rec.ID, "name", p.rec.Name, "from", p.rec.State, "to", s)
	p.rec.State = string(s)
	p.noteEnd(c.History)
	c.save(p)
}

// expected reports whether somebody waits for a state.
func (p *proc) expected(s api.State) bool {
	return slices.ContainsFunc(p.waiters, func(w waiter) bool { return w.until(s) })
}

func (c *Control) save(p *proc) {
	p.rev++
	c.write(p)
}

// write saves a process as it is now and announces that, if it has not been.
func (c *Control) write(p *proc) {
	if c.frozen {
		return
	}
	rec, rev, durable, wantLines := p.rec, p.rev, p.promised(), p.showsLines()
	c.effects.add(&p.work, &c.effects.writes, func() {
		err := c.world.Save(rec, durable)
		var lines []string
		if wantLines {
			lines = c.world.LastLines(rec)
		}
		c.box.Post(func() { c.saved(p, rev, lines, err) })
	})
}

// promised reports whether what is saved will be somebody's answer and decides
// what a reboot starts: it must not be lost with the power. What else there is
// to know of a process ends with the power too.
func (p *proc) promised() bool {
	return p.startsAtBoot() && p.expected(p.state())
}

// startsAtBoot reports whether what may be on disk of a process could make a
// reboot start it.
func (p *proc) startsAtBoot() bool {
	p.atBoot = p.atBoot || StartsAtBoot(p.rec.Restart)
	return p.atBoot
}

func (p *proc) showsLines() bool {
	return !p.rec.TTY && (p.state() == api.StateBackoff || p.state() == api.StateFailed)
}

// saved announces a state that is on disk now, unless a newer one follows.
func (c *Control) saved(p *proc, rev int, lines []string, err error) {
	if c.frozen || c.procs[p.rec.ID] != p {
		return
	}
	if err != nil {
		c.notice(fmt.Sprintf("%s: %v", p.rec.Name, err))
	}
	if rev == p.rev && rev != p.told {
		p.lines = lines
		c.announce(p)
	}
	if p.state() == api.StateRunning && !p.noted && !p.rec.Sandboxed && !p.rec.IsOneShot() {
		p.noted = true
		rec := p.rec
		c.effects.add(&p.work, &c.effects.writes, func() { c.world.NoteUnconfined(rec) })
	}
}

// probe starts the readiness check of a child that runs.
func probe(c *Control, p *proc, child keeper.Child) {
	if p.rec.Ready == nil || p.rec.WasReady {
		return
	}
	ctx, cancel := context.WithCancel(c.ctx)
	p.unprobe = cancel
	rec := p.rec
	c.effects.wait(func() {
		defer cancel()
		err := c.world.Probe(ctx, rec)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			c.post(rec.ID, event{kind: evUnready, Started: Started{Child: child}, err: err})
		default:
			c.post(rec.ID, event{kind: evReady, Started: Started{Child: child}})
		}
	})
}

// announce publishes a process and answers who waited for that.
func (c *Control) announce(p *proc) {
	p.view, p.told = describe(p), p.rev
	p.share()
	c.publish(p)
	state := p.state()
	p.answer(func(w waiter) bool { return w.until(state) }, outcome{process: p.current()})
	wakeSoon(c)
	if state.Ended() {
		if p.live != nil {
			p.live.Finish(p.current())
			c.screens.use(p)
		}
		trimSoon(c)
	}
}

func (c *Control) publish(p *proc) {
	view := p.current()
	c.hub.publishOf(p.rec, api.Event{Type: api.EventProcess, Process: &view})
}

func (c *Control) notice(text string) {
	c.log.Warn("notice", "text", text)
	c.hub.publish(api.Event{Type: api.EventNotice, Notice: text})
}

// fail answers everybody who waits on a process with an error.
func (p *proc) fail(err error) {
	p.answer(func(waiter) bool { return true }, outcome{err: err})
}

// answer answers those who wait on a process and are meant.
func (p *proc) answer(meant func(waiter) bool, o outcome) {
	p.waiters = slices.DeleteFunc(p.waiters, func(w waiter) bool {
		if !meant(w) {
			return false
		}
		w.reply <- o
		return true
	})
}

// Touched announces what a session shows, which is not on disk.
func (c *Control) Touched(id string) {
	c.box.Post(func() {
		if p := c.procs[id]; p != nil && !c.frozen && p.view.ID != "" {
			c.publish(p)
		}
	})
}
