package supervise

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/session/terminal"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

// A Request asks the control loop to do something to a process. It is answered once the result has
// been announced.
type Request struct {
	ID      string // an id, a name or a unique prefix
	Kinds   []api.Kind
	By      string                  // who asks: person, or agent:NAME/VERSION
	Client  string                  // the requesting program, for the log
	Allowed func(api.Process) error // may reject the request; runs on the control goroutine
}

// A Pending is the future answer to a request.
type Pending struct {
	Began time.Time // start time of an earlier start; zero if unknown

	c     *Control
	id    string
	reply chan outcome
}

func (c *Control) newPending(id string) Pending {
	return Pending{c: c, id: id, reply: make(chan outcome, 1)}
}

// Wait waits for the answer. If ctx ends first, it drops the answer and returns ctx's error
// unchanged.
func (w Pending) Wait(ctx context.Context) (api.Process, error) {
	select {
	case o := <-w.reply:
		return o.process, o.err
	case <-w.c.done:
		return api.Process{}, api.ErrEnding()
	case <-ctx.Done():
	}
	select {
	case o := <-w.reply: // it came in time
		return o.process, o.err
	default:
		w.c.reg.box.Post(func() { w.c.abandon(w) })
		return api.Process{}, ctx.Err()
	}
}

// abandon drops an answer whose reader has given up waiting.
func (c *Control) abandon(w Pending) {
	if p := c.reg.procs[w.id]; p != nil {
		p.waiters = slices.DeleteFunc(p.waiters, func(of waiter) bool { return of.reply == w.reply })
	}
}

// askWithError runs f on the control goroutine and returns its results.
func askWithError[T any](ctx context.Context, c *Control, f func() (T, error)) (T, error) {
	var failed error
	v, err := Ask(ctx, c, func() (v T) {
		v, failed = f()
		return v
	})
	if err == nil {
		err = failed
	}
	return v, err
}

// runOnLoop runs f on the control goroutine and returns its error.
func (c *Control) runOnLoop(ctx context.Context, f func() error) error {
	_, err := askWithError(ctx, c, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// StartNew begins to start the process of a new record, with its log at logPath. It is answered
// when until(state) is true for the announced state, or when the start fails. If named is set,
// r.Name must be free; otherwise a suffix makes the name unique.
func (c *Control) StartNew(ctx context.Context, r store.Record, logPath string, named bool, until func(api.State) bool) (Pending, error) {
	w := c.newPending(r.ID)
	return w, c.runOnLoop(ctx, func() error { return c.startRecord(r, logPath, named, until, w.reply) })
}

// startRecord does the work of StartNew on the control goroutine. It sends the answer to reply.
func (c *Control) startRecord(r store.Record, logPath string, named bool, until func(api.State) bool, reply chan<- outcome) error {
	switch other := c.reg.procs.findLiveNamed(r.Name); {
	case c.reg.closing:
		return api.ErrEnding()
	case other != nil && named:
		return api.Errorf(api.CodeConflict, "start %s: %s %s is already called %s", r.Kind, other.rec.Kind, other.rec.ID, r.Name).
			WithHint("choose another name")
	}
	after, err := c.reg.procs.resolveDependencies(r.After, r.ID)
	if err != nil {
		return err
	}
	r.Name, r.After = c.reg.procs.freeName(r.Name), after
	if len(after) > 0 {
		r.State = string(api.StateWaiting)
	}
	p := c.reg.insert(r, logPath)
	p.addWaiter(reply, until)
	if len(after) > 0 {
		c.reg.saveChange(p)
		c.waiting.wakeSoon()
	} else {
		c.starting.spawnFirst(p)
	}
	return nil
}

// answerWhen sends the announced process to reply as soon as until(state) is true for its state.
func (p *proc) answerWhen(until func(api.State) bool, reply chan<- outcome) {
	if p.view.State == p.state() && until(p.state()) {
		reply <- outcome{process: p.currentView()}
		return
	}
	p.addWaiter(reply, until)
}

func HasStarted(s api.State) bool { return s != api.StateStarting }

func anyState(api.State) bool { return true }

// StopProcess stops a process and waits until it has exited. If signal is not "", it replaces the
// stop signal of the process. If timeoutMS is not 0, it replaces the stop timeout.
func (c *Control) StopProcess(ctx context.Context, q Request, signal string, timeoutMS int) (api.Process, error) {
	return c.sendRequest(ctx, q, event{kind: evStop, signal: signal, timeoutMS: timeoutMS})
}

// RestartProcess restarts a running process, or starts an ended one once the dependencies in deps
// are met. A running process does not wait for them. If the process was already restarted under
// this id, it only waits for that restart. "" means that the restart has no id.
func (c *Control) RestartProcess(ctx context.Context, q Request, deps []store.Dependency, id string) (api.Process, error) {
	return c.sendRequest(ctx, q, event{kind: evRestart, after: deps, restartID: id})
}

func (c *Control) RemoveProcess(ctx context.Context, q Request) (api.Process, error) {
	return c.sendRequest(ctx, q, event{kind: evRemove})
}

// sendRequest sends an event to a process and waits for the answer.
func (c *Control) sendRequest(ctx context.Context, q Request, e event) (api.Process, error) {
	w := c.newPending("")
	e.reply, e.by = w.reply, q.By
	find := func() (*proc, error) { return c.reg.procs.findIncludingNew(ctx, q.ID, q.Kinds...) }
	if err := c.Private.checkFound(ctx, c, find); err != nil {
		return api.Process{}, err
	}
	err := c.runOnLoop(ctx, func() error {
		p, err := find()
		if err == nil {
			err = q.checkAllowed(p)
		}
		if err == nil {
			e.after, err = c.reg.procs.resolveDependencies(e.after, p.rec.ID)
		}
		if err != nil {
			return err
		}
		w.id = p.rec.ID
		if e.kind == evRestart && p.wasRestartedAs(e.restartID) {
			p.answerWhen(isUp, w.reply)
			return nil
		}
		c.reg.log.Info("request", "event", e.kind, "id", p.rec.ID, "by", q.Client)
		c.reg.handle(p.rec.ID, e)
		return nil
	})
	if err != nil {
		return api.Process{}, err
	}
	return w.Wait(ctx)
}

func (q Request) checkAllowed(p *proc) error {
	if q.Allowed == nil {
		return nil
	}
	return q.Allowed(p.currentView())
}

// changeProcess calls f on the control goroutine and waits for the answer. f must save the process,
// which is answered once it is on disk, or send an answer itself.
func (c *Control) changeProcess(ctx context.Context, q Request, f func(p *proc, reply chan<- outcome) error) (api.Process, error) {
	w := c.newPending("")
	find := func() (*proc, error) { return c.reg.procs.find(ctx, q.ID, q.Kinds...) }
	if err := c.Private.checkFound(ctx, c, find); err != nil {
		return api.Process{}, err
	}
	err := c.runOnLoop(ctx, func() error {
		p, err := find()
		if err == nil {
			err = q.checkAllowed(p)
		}
		if err != nil {
			return err
		}
		w.id = p.rec.ID
		return f(p, w.reply)
	})
	if err != nil {
		return api.Process{}, err
	}
	return w.Wait(ctx)
}

// SetKeyboard records who holds the keyboard of a session; "" means nobody. open says whether
// agents may type although the session is outside their sandbox.
func (c *Control) SetKeyboard(ctx context.Context, q Request, holder string, open bool) (api.Process, error) {
	w := c.newPending("")
	s, err := askWithError(ctx, c, func() (*terminal.Session, error) {
		p, err := c.reg.procs.find(ctx, q.ID, api.KindSession)
		switch {
		case err != nil:
			return nil, err
		case p.state().Ended():
			return nil, api.Errorf(api.CodeEnded, "keyboard of %s: it has exited", p.rec.Name)
		}
		w.id, p.rec.Keyboard, p.rec.AdmitsSandboxed = p.rec.ID, holder, open
		s, _ := p.live.(*terminal.Session)
		if s != nil {
			s.Admit(holder != "", open)
		}
		p.addWaiter(w.reply, anyState)
		c.reg.saveChange(p)
		return s, nil
	})
	if err != nil {
		return api.Process{}, err
	}
	if s != nil { // an agent's viewer may now decide the size, or no longer
		s.DecideSize(ctx)
	}
	return w.Wait(ctx)
}

// MakeDaemon turns a one-shot command into a daemon, whose record is kept after it exits.
func (c *Control) MakeDaemon(ctx context.Context, id string, lines int) (api.Process, error) {
	return c.changeProcess(ctx, Request{ID: id}, func(p *proc, reply chan<- outcome) error {
		p.rec.Transient, p.rec.Daemon, p.rec.RunLimit = false, &store.Daemon{Lines: lines}, store.RunLimit{}
		p.addWaiter(reply, anyState)
		c.reg.saveChange(p)
		return nil
	})
}

// An Update describes a change of a process's settings. A nil field leaves its setting unchanged.
type Update struct {
	Restart   *store.Restart
	KeepAlive *bool
	Name      *string
	LogLimit  *int64
	Revision  int64 // revision of the process the update is based on; 0 for any
}

// UpdateProcess changes the settings of a process in any state.
func (c *Control) UpdateProcess(ctx context.Context, q Request, u Update) (api.Process, error) {
	return c.changeProcess(ctx, q, func(p *proc, reply chan<- outcome) error { return c.applyUpdate(p, u, reply) })
}

// applyUpdate applies an update. If a process waits for a restart that is no longer wanted, it has
// ended.
func (c *Control) applyUpdate(p *proc, u Update, reply chan<- outcome) error {
	restart := p.rec.Restart
	if u.Restart != nil {
		restart = *u.Restart
	}
	if u.KeepAlive != nil {
		switch {
		case *u.KeepAlive && !StartsAtBoot(restart):
			restart.Policy, restart.ShortDelays = string(api.PolicyAlways), false
		case !*u.KeepAlive && StartsAtBoot(restart):
			restart.Policy = string(api.PolicyNo)
		}
	}
	name, limit := p.rec.Name, p.rec.LogLimit
	if u.Name != nil {
		name = *u.Name
	}
	if u.LogLimit != nil {
		limit = *u.LogLimit
	}
	changes := name != p.rec.Name || limit != p.rec.LogLimit || !reflect.DeepEqual(restart, p.rec.Restart)
	// An update that changes nothing cannot conflict: the caller may be repeating it.
	if changes && u.Revision != 0 && u.Revision != p.rec.Revision+1 {
		return api.Errorf(api.CodeConflict, "update %s: changed since revision %d", p.rec.Name, u.Revision).
			WithHint("Call process.get for its current state and revision, and check whether the change is still needed.")
	}
	if name != p.rec.Name {
		if err := c.reg.procs.checkName(p, name); err != nil {
			return err
		}
	}
	if changes {
		p.rec.Revision++
	}
	if limit != p.rec.LogLimit {
		p.rec.LogLimit = limit
		if p.stopBound != nil {
			p.stopBounding()
			p.stopBound = c.reg.observer.BoundLog(p.rec)
		}
	}
	p.rec.Name, p.rec.Restart = name, restart
	p.addWaiter(reply, anyState)
	if p.state() == api.StateBackoff && !wantsRestart(restart, p.lastRunResult()) {
		p.disarm()
		c.reg.setState(p, api.StateExited)
		p.updateShared()
		c.stopping.forgetChild(p)
		return nil
	}
	c.reg.saveChange(p)
	return nil
}

// AwaitCondition waits until holds returns true for an announced process.
func (c *Control) AwaitCondition(ctx context.Context, id string, holds func(s api.State, runs int, ready, crashLoop bool) bool) (api.Process, error) {
	now := func(p *proc) bool { return holds(p.state(), p.runs, p.isReady(), p.isCrashLoop()) }
	return c.changeProcess(ctx, Request{ID: id}, func(p *proc, reply chan<- outcome) error {
		// If the present state is not announced yet, the view would be older than the condition.
		if p.announcedRev == p.rev && now(p) {
			reply <- outcome{process: p.currentView()}
			return nil
		}
		p.addWaiter(reply, func(api.State) bool { return now(p) })
		return nil
	})
}

// isReady reports whether a process runs and is ready. Without a readiness check it is ready as
// soon as it runs.
func (p *proc) isReady() bool {
	return p.state() == api.StateRunning && (p.rec.Ready == nil || p.rec.WasReady)
}

// crashLoopRuns is how many short runs in a row make a crash loop.
const crashLoopRuns = 2

// isCrashLoop reports whether a process is waiting to be restarted after several short runs.
func (p *proc) isCrashLoop() bool {
	return p.state() == api.StateBackoff && p.rec.Failures >= crashLoopRuns
}

// AwaitAnnounced returns a process as announced. If it has not been announced yet, AwaitAnnounced
// waits for that.
func (c *Control) AwaitAnnounced(ctx context.Context, id string) (api.Process, error) {
	w := c.newPending(id)
	err := c.runOnLoop(ctx, func() error {
		switch p := c.reg.procs[id]; {
		case p == nil:
			return errRemoved(id)
		case p.view.ID != "":
			w.reply <- outcome{process: p.currentView()}
		default:
			p.addWaiter(w.reply, HasStarted)
		}
		return nil
	})
	if err != nil {
		return api.Process{}, err
	}
	return w.Wait(ctx)
}

// StopSome stops the processes for which wanted returns true, except private sessions off limits to
// the caller, and returns those stopped. actor is who stops them. The error joins the errors of the
// others.
func (c *Control) StopSome(ctx context.Context, actor, signal string, wanted func(api.Process) bool) ([]api.Process, error) {
	hidden := c.Private.hidesFrom(ctx)
	mayStop := func(p api.Process) bool { return !(hidden && p.IsPrivate()) && wanted(p) }
	replies, err := Ask(ctx, c, func() []Pending { return c.stopEach(actor, signal, mayStop) })
	if err != nil {
		return nil, err
	}
	return awaitEach(ctx, replies)
}

// StopAll stops all processes, and rejects new starts until AllowStarts is called. actor is who
// stops them. It waits for the longest stop timeout and extra, and then gives up.
func (c *Control) StopAll(ctx context.Context, actor string, extra time.Duration) error {
	var longest time.Duration
	replies, err := Ask(ctx, c, func() []Pending {
		// This happens in one step with the stops, so that no start slips in between.
		c.reg.closing, longest = true, c.reg.procs.maxStopTimeout()
		return c.stopEach(actor, "", func(api.Process) bool { return true })
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, longest+extra)
	defer cancel()
	_, err = awaitEach(ctx, replies)
	return err
}

// AllowStarts allows starts again after StopAll.
func (c *Control) AllowStarts() { c.reg.box.Post(func() { c.reg.closing = false }) }

// stopEach asks the processes for which wanted returns true to stop, the oldest first.
func (c *Control) stopEach(by, signal string, wanted func(api.Process) bool) []Pending {
	live := c.reg.procs.selectOldestFirst(func(p *proc) bool { return !p.state().Ended() && wanted(p.currentView()) })
	replies := make([]Pending, len(live))
	for i, p := range live {
		replies[i] = c.newPending(p.rec.ID)
		c.reg.handle(p.rec.ID, event{kind: evStop, by: by, signal: signal, reply: replies[i].reply})
	}
	return replies
}

// awaitEach returns the stopped processes, and joins the errors of the others. It ignores a process
// that had ended already.
func awaitEach(ctx context.Context, replies []Pending) (stopped []api.Process, failed error) {
	for _, reply := range replies {
		p, err := reply.Wait(ctx)
		switch {
		case err == nil:
			stopped = append(stopped, p)
		case !errors.Is(err, api.CodeEnded):
			failed = errors.Join(failed, err)
		}
	}
	return stopped, failed
}

// ReapAfter sets how long processes left behind by agents may keep running. 0 means forever.
func (c *Control) ReapAfter(d time.Duration) { c.reg.box.Post(func() { c.leases.reapAfter = d }) }

// Close releases all terminals. The control goroutine must have stopped.
func (c *Control) Close() {
	for _, p := range c.reg.procs {
		p.disarm()
		p.stopBounding()
		p.closeSession()
	}
}

// WhenWritten returns a channel that is closed once everything decided so far is on disk. It may be
// called only once, before the first client connects.
func (c *Control) WhenWritten(ctx context.Context) (<-chan struct{}, error) {
	return Ask(ctx, c, c.reg.effects.whenWritten)
}

// Publish publishes an event.
func (c *Control) Publish(e api.Event) { c.reg.box.Post(func() { c.reg.hub.Publish(e, false) }) }

// PublishNow publishes an event before it returns. If the engine is exiting, PublishNow does
// nothing, because no subscriber is left.
func (c *Control) PublishNow(ctx context.Context, e api.Event) {
	_ = c.runOnLoop(ctx, func() error {
		c.reg.hub.Publish(e, false)
		return nil
	})
}

// PublishNotice publishes a notice.
func (c *Control) PublishNotice(text string) { c.reg.box.Post(func() { c.reg.publishNotice(text) }) }

// PublishNoticeOf publishes a notice about the process of r, with its present name.
func (c *Control) PublishNoticeOf(r store.Record, text string) {
	c.reg.box.Post(func() {
		name := r.Name
		if p := c.reg.procs[r.ID]; p != nil {
			name = p.rec.Name
		}
		c.reg.publishNotice(name + ": " + text)
	})
}

// ReportExit reports how a child has exited.
func (c *Control) ReportExit(child keeper.Child, e Ending) {
	c.reg.post(child.ID, event{kind: evExited, Launch: Launch{Child: child}, ending: e})
}

// ReportDrained reports that all output of a terminal has been read.
func (c *Control) ReportDrained(id string) { c.reg.post(id, event{kind: evDrained}) }

// ReportUnsure reports a start that the keeper has not confirmed in time.
func (c *Control) ReportUnsure(id string, err error) { c.reg.post(id, event{kind: evUnsure, err: err}) }

// RequestStop stops a process without waiting for it.
func (c *Control) RequestStop(id string) { c.reg.post(id, event{kind: evStop}) }

// Context returns the context of the engine's run.
func (c *Control) Context() context.Context { return c.reg.ctx }
