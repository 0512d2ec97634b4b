package supervise

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/engine/terminal"
	"tandem/persist/store"
)

// A Request is what somebody asks the control loop to do to a process. What it
// leads to is answered once it is announced.
type Request struct {
	ID      string // an id, a name or a unique prefix
	Kinds   []api.Kind
	By      string                  // who asks: person, or agent:NAME/VERSION
	Client  string                  // through which program, for the log
	Allowed func(api.Process) error // refuses it; called on the control goroutine
}

// A Pending is the answer to a request, which comes later.
type Pending struct {
	Began time.Time // of what was started before: when that was, if it is known

	c     *Control
	id    string
	reply chan outcome
}

func (c *Control) pending(id string) Pending {
	return Pending{c: c, id: id, reply: make(chan outcome, 1)}
}

// Wait waits for the answer. When ctx ends, nobody waits any more and ctx's error is
// returned as it is.
func (w Pending) Wait(ctx context.Context) (api.Process, error) {
	select {
	case o := <-w.reply:
		return o.process, o.err
	case <-w.c.done:
		return api.Process{}, api.ErrEnding()
	case <-ctx.Done():
	}
	select {
	case o := <-w.reply: // it was there in time
		return o.process, o.err
	default:
		w.c.box.Post(func() { w.c.abandon(w) })
		return api.Process{}, ctx.Err()
	}
}

// abandon drops an answer that nobody waits for any longer.
func (c *Control) abandon(w Pending) {
	if p := c.procs[w.id]; p != nil {
		p.waiters = slices.DeleteFunc(p.waiters, func(of waiter) bool { return of.reply == w.reply })
	}
}

// try runs f on the control goroutine and gives what it returned.
func try[T any](ctx context.Context, c *Control, f func() (T, error)) (T, error) {
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

// on runs f on the control goroutine and gives its error.
func (c *Control) on(ctx context.Context, f func() error) error {
	_, err := try(ctx, c, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// StartNew begins to start a new record, whose log is at logPath. The answer comes
// when its announced state is as wanted, or it could not be started.
func (c *Control) StartNew(ctx context.Context, r store.Record, logPath string, named bool, until func(api.State) bool) (Pending, error) {
	w := c.pending(r.ID)
	return w, c.on(ctx, func() error { return c.start(r, logPath, named, until, w.reply) })
}

// start puts a new record into the table. reply is answered when its announced
// state is as wanted, or it could not be started.
func (c *Control) start(r store.Record, logPath string, named bool, until func(api.State) bool, reply chan<- outcome) error {
	switch other := c.procs.namedLive(r.Name); {
	case c.closing:
		return api.ErrEnding()
	case other != nil && named:
		return api.Errorf(api.CodeConflict, "start %s: %s %s is called %s already", r.Kind, other.rec.Kind, other.rec.ID, r.Name).
			WithHint("choose another name")
	}
	after, err := c.procs.dependencies(r.After, r.ID)
	if err != nil {
		return err
	}
	r.Name, r.After = c.procs.freeName(r.Name), after
	if len(after) > 0 {
		r.State = string(api.StateWaiting)
	}
	p := c.insert(r, logPath)
	p.await(reply, until)
	if len(after) > 0 {
		c.save(p)
		wakeSoon(c)
	} else {
		spawnFirst(c, p)
	}
	return nil
}

// answerWhen answers with the announced process as soon as its state satisfies until.
func (p *proc) answerWhen(until func(api.State) bool, reply chan<- outcome) {
	if p.view.State == p.state() && until(p.state()) {
		reply <- outcome{process: p.current()}
		return
	}
	p.await(reply, until)
}

func HasStarted(s api.State) bool { return s != api.StateStarting }

func always(api.State) bool { return true }

// StopProcess, RestartProcess and RemoveProcess feed the event that asks for it.
// StopProcess sends signal instead of the process's own, and SIGKILL after
// timeoutMS; "" and 0 leave that to the process.
func (c *Control) StopProcess(ctx context.Context, q Request, signal string, timeoutMS int) (api.Process, error) {
	return c.request(ctx, q, event{kind: evStop, signal: signal, timeoutMS: timeoutMS})
}

// RestartProcess starts a process that is not running once its dependencies are met. If it
// was already restarted under this restart id, it only waits for that; "" means no id.
func (c *Control) RestartProcess(ctx context.Context, q Request, after []store.Dependency, id string) (api.Process, error) {
	return c.request(ctx, q, event{kind: evRestart, after: after, restartID: id})
}

func (c *Control) RemoveProcess(ctx context.Context, q Request) (api.Process, error) {
	return c.request(ctx, q, event{kind: evRemove})
}

// request hands an event to a process and waits for the answer.
func (c *Control) request(ctx context.Context, q Request, e event) (api.Process, error) {
	w := c.pending("")
	e.reply, e.by = w.reply, q.By
	err := c.on(ctx, func() error {
		p, err := c.procs.findToEnd(q.ID, q.Kinds...)
		if err == nil {
			err = q.check(c, p)
		}
		if err == nil {
			e.after, err = c.procs.dependencies(e.after, p.rec.ID)
		}
		if err != nil {
			return err
		}
		w.id = p.rec.ID
		if e.kind == evRestart && p.wasRestartedAs(e.restartID) {
			p.answerWhen(isUp, w.reply)
			return nil
		}
		c.log.Info("request", "event", e.kind, "id", p.rec.ID, "by", q.Client)
		c.handle(p.rec.ID, e)
		return nil
	})
	if err != nil {
		return api.Process{}, err
	}
	return w.Wait(ctx)
}

func (q Request) check(c *Control, p *proc) error {
	if q.Allowed == nil {
		return nil
	}
	return q.Allowed(p.current())
}

// change changes what is wanted of a process and waits until that is announced.
// f runs on the control goroutine and has to save the process, or to answer.
func (c *Control) change(ctx context.Context, q Request, f func(p *proc, reply chan<- outcome) error) (api.Process, error) {
	w := c.pending("")
	err := c.on(ctx, func() error {
		p, err := c.procs.find(q.ID, q.Kinds...)
		if err == nil {
			err = q.check(c, p)
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

// SetKeyboard notes who has a session's keyboard, "" for whoever types, and
// whether agents may type that it is outside the sandbox of.
func (c *Control) SetKeyboard(ctx context.Context, q Request, holder string, open bool) (api.Process, error) {
	w := c.pending("")
	s, err := try(ctx, c, func() (*terminal.Session, error) {
		p, err := c.procs.find(q.ID, api.KindSession)
		switch {
		case err != nil:
			return nil, err
		case p.state().Ended():
			return nil, api.Errorf(api.CodeEnded, "keyboard of %s: it has ended", p.rec.Name)
		}
		w.id, p.rec.Keyboard, p.rec.Open = p.rec.ID, holder, open
		s, _ := p.live.(*terminal.Session)
		if s != nil {
			s.Admit(holder != "", open)
		}
		p.await(w.reply, always)
		c.save(p)
		return s, nil
	})
	if err != nil {
		return api.Process{}, err
	}
	if s != nil { // an agent's viewer may decide its size, or not any more
		s.DecideSize(ctx)
	}
	return w.Wait(ctx)
}

// Keep makes a daemon of a command, so that it is not forgotten when it has
// ended.
func (c *Control) Keep(ctx context.Context, id string, lines int) (api.Process, error) {
	return c.change(ctx, Request{ID: id}, func(p *proc, reply chan<- outcome) error {
		p.rec.Transient, p.rec.Daemon = false, &store.Daemon{Lines: lines}
		p.await(reply, always)
		c.save(p)
		return nil
	})
}

// An Update is what is to be different of a process from now on; nil leaves
// something as it is.
type Update struct {
	Restart   *store.Restart
	KeepAlive *bool
	Name      *string
	LogLimit  *int64
	Revision  int64 // of the process that the update is based on; 0 for any
}

// UpdateProcess changes what is wanted of a process, whatever it does.
func (c *Control) UpdateProcess(ctx context.Context, q Request, u Update) (api.Process, error) {
	return c.change(ctx, q, func(p *proc, reply chan<- outcome) error { return apply(c, p, u, reply) })
}

// apply applies an update. What waited for a restart that is no longer wanted has
// ended.
func apply(c *Control, p *proc, u Update, reply chan<- outcome) error {
	restart := p.rec.Restart
	if u.Restart != nil {
		restart = *u.Restart
	}
	if u.KeepAlive != nil {
		switch {
		case *u.KeepAlive && !StartsAtBoot(restart):
			restart.Policy, restart.Prompt = string(api.PolicyAlways), false
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
	if changes && u.Revision != 0 && u.Revision != p.rec.Revision+1 {
		return api.Errorf(api.CodeConflict, "update %s: changed since revision %d", p.rec.Name, u.Revision).
			WithHint("Call process.get for its current state and revision, and check whether the change is still needed.")
	}
	if name != p.rec.Name {
		if err := c.procs.checkName(p, name); err != nil {
			return err
		}
	}
	if changes {
		p.rec.Revision++
	}
	if limit != p.rec.LogLimit {
		p.rec.LogLimit = limit
		if p.unbound != nil {
			p.release()
			p.unbound = c.world.Bound(p.rec)
		}
	}
	p.rec.Name, p.rec.Restart = name, restart
	p.await(reply, always)
	if p.state() == api.StateBackoff && !wantsRestart(restart, p.life()) {
		p.disarm()
		c.become(p, api.StateExited)
		p.share()
		forget(c, p)
		return nil
	}
	c.save(p)
	return nil
}

// AwaitThat waits until something announced of a process holds.
func (c *Control) AwaitThat(ctx context.Context, id string, holds func(s api.State, runs int, ready, crashLoop bool) bool) (api.Process, error) {
	now := func(p *proc) bool { return holds(p.state(), p.runs, p.isReady(), p.isCrashLoop()) }
	return c.change(ctx, Request{ID: id}, func(p *proc, reply chan<- outcome) error {
		if p.view.State == p.state() && now(p) {
			reply <- outcome{process: p.current()}
			return nil
		}
		p.await(reply, func(api.State) bool { return now(p) })
		return nil
	})
}

// isReady reports whether a process runs and is ready; one without a readiness
// check is as soon as it runs.
func (p *proc) isReady() bool {
	return p.state() == api.StateRunning && (p.rec.Ready == nil || p.rec.WasReady)
}

// crashLoop is how many short runs in a row make a crash loop.
const crashLoop = 2

// isCrashLoop reports whether a process is waiting to be restarted after several short runs.
func (p *proc) isCrashLoop() bool {
	return p.state() == api.StateBackoff && p.rec.Failures >= crashLoop
}

// Announced is what was announced of a process, or will be for the first time.
func (c *Control) Announced(ctx context.Context, id string) (api.Process, error) {
	w := c.pending(id)
	err := c.on(ctx, func() error {
		switch p := c.procs[id]; {
		case p == nil:
			return errRemoved(id)
		case p.view.ID != "":
			w.reply <- outcome{process: p.current()}
		default:
			p.await(w.reply, HasStarted)
		}
		return nil
	})
	if err != nil {
		return api.Process{}, err
	}
	return w.Wait(ctx)
}

// StopSome asks everything that is wanted to end, and returns what has ended. The error
// joins those of the others.
func (c *Control) StopSome(ctx context.Context, signal string, wanted func(api.Process) bool) ([]api.Process, error) {
	replies, err := Ask(ctx, c, func() []Pending { return c.stopEach(signal, wanted) })
	if err != nil {
		return nil, err
	}
	return awaitEach(ctx, replies)
}

// StopAll asks everything to end and lets nothing new start; after a failure, starts
// are allowed again. It gives up on what has not ended extra after the longest stop
// timeout.
func (c *Control) StopAll(ctx context.Context, extra time.Duration) error {
	var longest time.Duration
	replies, err := Ask(ctx, c, func() []Pending {
		c.closing, longest = true, c.procs.longestStop()
		return c.stopEach("", func(api.Process) bool { return true })
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, longest+extra)
	defer cancel()
	_, err = awaitEach(ctx, replies)
	return err
}

// Reopen allows starts again after StopAll.
func (c *Control) Reopen() { c.box.Post(func() { c.closing = false }) }

// stopEach asks all that are wanted to end, oldest first.
func (c *Control) stopEach(signal string, wanted func(api.Process) bool) []Pending {
	live := c.procs.oldestFirst(func(p *proc) bool { return !p.state().Ended() && wanted(p.current()) })
	replies := make([]Pending, len(live))
	for i, p := range live {
		replies[i] = c.pending(p.rec.ID)
		c.handle(p.rec.ID, event{kind: evStop, signal: signal, reply: replies[i].reply})
	}
	return replies
}

// awaitEach gives what has ended, and joins the errors of the rest. What had ended
// before it was asked is neither.
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

// ReapAfter has what agents leave behind ended after d from now on; 0: never.
func (c *Control) ReapAfter(d time.Duration) { c.box.Post(func() { c.leases.reap = d }) }

// Close releases all terminals, once the control goroutine has stopped.
func (c *Control) Close() {
	for _, p := range c.procs {
		p.disarm()
		p.release()
		p.close()
	}
}

// Written returns a channel that is closed once everything decided so far is on disk.
// It is called once, before the first client.
func (c *Control) Written(ctx context.Context) (<-chan struct{}, error) {
	return Ask(ctx, c, c.effects.written)
}

// Tell publishes an event.
func (c *Control) Tell(e api.Event) { c.box.Post(func() { c.hub.publish(e) }) }

// TellNow publishes an event before it returns. When the engine is ending, there is
// nobody left to tell.
func (c *Control) TellNow(ctx context.Context, e api.Event) {
	_ = c.on(ctx, func() error {
		c.hub.publish(e)
		return nil
	})
}

// TellNotice publishes a notice.
func (c *Control) TellNotice(text string) { c.box.Post(func() { c.notice(text) }) }

// Exited tells how a child has ended.
func (c *Control) Exited(child keeper.Child, e Ending) {
	c.post(child.ID, event{kind: evExited, Started: Started{Child: child}, ending: e})
}

// Drained tells that all output of a terminal has been read.
func (c *Control) Drained(id string) { c.post(id, event{kind: evDrained}) }

// Unsure tells that nobody knows yet whether a start was carried out.
func (c *Control) Unsure(id string, err error) { c.post(id, event{kind: evUnsure, err: err}) }

// End stops a process that nobody needs any more, without waiting.
func (c *Control) End(id string) { c.post(id, event{kind: evStop}) }

// Context ends when the engine does.
func (c *Control) Context() context.Context { return c.ctx }
