package supervise

import (
	"context"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/secrets"
	"tandem/engine/system/keeper"
	"tandem/engine/system/proctree"
	"tandem/persist/store"
)

const (
	// shutdownWindow is the time before an engine's last sign of life in which a shutdown may have
	// caused an exit: systemd gives programs 90 s to exit.
	shutdownWindow = 2 * time.Minute
	// maxTypedExit is the longest time between input and an exit with 0 that the input may have
	// caused.
	maxTypedExit = 10 * time.Second
)

// An Aftermath is what a starting engine knows about the end of the previous one. It decides which
// sessions were interrupted, that is, ended by a reboot or crash.
//
// During a shutdown, programs exit before or after the engine and the keeper, and some turn the
// hangup of their terminal into an ordinary exit. So if the keeper exited as well, an exit shortly
// before the end of the engine also counts as an interruption.
type Aftermath struct {
	BootID   string
	Booted   time.Time
	Now      time.Time
	Former   store.Identity // the keeper that exited with the previous engine; PID 0 if none did
	LastSign time.Time      // last sign of life of the previous engine
}

// FindAftermath finds out how the previous engine ended. last is the description it left behind.
// written returns when a session's log was last written to.
func (s Survey) FindAftermath(all []Found, last store.LastEngine, written func(store.Record) time.Time) Aftermath {
	a := Aftermath{BootID: s.BootID, Booted: proctree.BornAt(store.Identity{}), Now: time.Now(), LastSign: last.StoppedAt}
	for _, f := range all {
		for _, run := range f.Rec.Runs {
			a.noteSign(run.EndedAt)
		}
		a.noteSign(f.Rec.StartedAt)
		a.noteSign(f.exited().At)
		if f.Rec.TTY {
			a.noteSign(written(f.Rec))
		}
	}
	switch {
	case s.Keeper == nil || last.Keeper.PID == 0 || last.Keeper == *s.Keeper:
	// Otherwise the keeper may have been replaced while the engine was still running.
	case last.Keeper.BootID != s.BootID || a.LastSign.Before(proctree.BornAt(*s.Keeper)):
		a.Former = last.Keeper
	}
	return a
}

func (a *Aftermath) noteSign(at time.Time) {
	if at.After(a.LastSign) {
		a.LastSign = at
	}
}

// exited returns how the child exited before this engine started, as far as that is known.
func (f *Found) exited() Ending {
	end := Ending{Exit: keeper.Exit{Unknown: true}}
	if f.ending != nil {
		end = *f.ending
	} else if len(f.events) > 0 && f.events[0].kind == evMissing {
		end = f.events[0].ending
	}
	// The previous engine noticed the exit, but did not learn its status.
	if last := len(f.Rec.Runs) - 1; end.At.IsZero() && last >= 0 {
		end.At = f.Rec.Runs[last].EndedAt
	}
	return end
}

// IsInterrupted reports whether a session was interrupted before this engine started. The terminal
// in f must be set already.
func (a Aftermath) IsInterrupted(f *Found) bool {
	r := f.Rec
	if !r.TTY || r.Private || r.Transient || StartsAtBoot(r.Restart) || r.Desired == desiredStopped || r.Identity == nil || r.Interrupted != nil {
		return false
	}
	if len(f.events) > 0 && f.events[0].kind != evMissing {
		return f.events[0].kind == evLost || f.events[0].kind == evFound && len(f.events) == 1 && f.Live == nil
	}
	end := f.exited()
	if isUnknown(end.Exit) && end.At.IsZero() {
		return !api.State(r.State).Ended()
	}
	return r.Identity.BootID == a.Former.BootID && !end.At.Before(a.LastSign.Add(-shutdownWindow)) && !isTypedExit(r, end)
}

// isTypedExit reports whether a session probably exited because the user told it to.
func isTypedExit(r store.Record, e Ending) bool {
	if e.Exit.Code == nil || *e.Exit.Code != 0 || len(r.Runs) == 0 {
		return false
	}
	typed := r.Runs[len(r.Runs)-1].TypedAt
	return !typed.IsZero() && e.At.Sub(typed) <= maxTypedExit
}

// Describe returns the interruption of a session, without the program that ran in it.
func (a Aftermath) Describe(r store.Record) store.Interruption {
	if r.Identity.BootID != a.BootID {
		return store.Interruption{By: api.ByReboot, At: a.Booted, LastSign: a.LastSign}
	}
	return store.Interruption{By: api.ByCrash, At: a.Now, LastSign: a.LastSign}
}

func isUnknown(e keeper.Exit) bool { return e.Unknown || e.Code == nil && e.Signal == "" }

// isInterrupted reports whether the user is offered to restore the session.
func (p *proc) isInterrupted() bool {
	return p.state().Ended() && p.rec.Desired != desiredStopped && p.rec.Interrupted != nil && !p.rec.Interrupted.Dismissed
}

// describeInterruption adds the interruption of a session to its view.
func describeInterruption(view *api.Process, p *proc) {
	if p.rec.Interrupted == nil || !p.state().Ended() {
		return
	}
	i := p.rec.Interrupted
	if i.Folder != "" {
		view.CWD = i.Folder
	}
	if p.isInterrupted() {
		view.Interrupted = &api.Interruption{By: i.By, At: i.At, Program: secrets.RedactLine(i.Program)}
	}
}

// A Restoration says with which command an ended session is started again.
type Restoration struct {
	store.Command
	Cgroup string
	ID     string              // made by the caller, to recognize a repeated call; may be ""
	End    *store.Interruption // what the session was doing; nil for an interrupted one, whose record has it
}

// IsRestorable reports whether the session of a record can be started again with a shell below its last
// screen, once it has ended.
func IsRestorable(r store.Record) bool { return r.TTY && !r.Private && !r.Transient }

// RestoreSession starts an ended session again under its id, and waits until it runs.
func (c *Control) RestoreSession(ctx context.Context, q Request, as Restoration) (api.Process, error) {
	return c.changeProcess(ctx, q, func(p *proc, reply chan<- outcome) error {
		switch {
		case p.isInterrupted():
		case p.wasRestartedAs(as.ID):
			p.answerWhen(isUp, reply)
			return nil
		case as.End != nil && p.state().Ended() && IsRestorable(p.rec):
			p.rec.Interrupted = as.End
		default:
			return errNotRestorable(p)
		}
		c.reg.log.Info("request", "event", "restore", "id", p.rec.ID, "by", q.Client)
		as.Environ = c.reg.environs.intern(as.Environ)
		if !slices.Equal(as.Argv, p.rec.Argv) { // the rules of the program are not for the shell in its place
			p.rec.Supervision, p.rec.Project = store.Supervision{}, nil
		}
		if p.rec.Owner != "" { // the user wants it, whether its agent comes back or not
			p.rec.Lease = string(api.LeaseForever)
		}
		p.rec.Command, p.rec.Cgroup = as.Command, as.Cgroup
		p.argv, p.command = redactCommand(as.Argv)
		c.reg.handle(p.rec.ID, event{kind: evRestart, restores: true, restartID: as.ID, reply: reply})
		return nil
	})
}

// DismissInterruption stops offering to restore a session.
func (c *Control) DismissInterruption(ctx context.Context, q Request) (api.Process, error) {
	return c.changeProcess(ctx, q, func(p *proc, reply chan<- outcome) error {
		if !p.isInterrupted() {
			reply <- outcome{process: p.currentView()}
			return nil
		}
		dismissed := *p.rec.Interrupted
		dismissed.Dismissed = true
		p.rec.Interrupted = &dismissed
		p.addWaiter(reply, anyState)
		c.reg.saveChange(p)
		return nil
	})
}

// SetFolder records the folder of a session whose program does not report it.
func (c *Control) SetFolder(id, folder string) {
	c.reg.box.Post(func() {
		if p := c.reg.procs[id]; p != nil && !c.reg.frozen && p.live != nil && p.rec.Folder != folder {
			p.rec.Folder = folder
			c.reg.saveChange(p)
		}
	})
}

// noteTyping returns a function to be called just before the command of a restored session is
// typed. It records that, and waits until the record is on disk. Should this engine be killed, the
// next one does not type the command again.
func (g *registry) noteTyping(p *proc) func(context.Context) error {
	return func(ctx context.Context) error {
		saved := make(chan error, 1)
		g.box.Post(func() {
			if g.frozen || g.procs[p.rec.ID] != p || p.rec.Typing == "" {
				saved <- api.ErrEnding()
				return
			}
			p.rec.Typing = ""
			rec := p.rec
			g.effects.addJob(&p.work, &g.effects.writes, func() { saved <- g.executor.Save(rec, false) })
		})
		select {
		case err := <-saved:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func errNotRestorable(p *proc) error {
	switch {
	case !p.state().Ended():
		return api.Errorf(api.CodeConflict, "restore %s: it runs", p.rec.Name).WithHint("only a session that has ended can be restored")
	case p.rec.Private:
		return api.Errorf(api.CodeConflict, "restore %s: it is private, so its screen and folder are not kept", p.rec.Name).WithHint("start a new session")
	}
	return api.Errorf(api.CodeConflict, "restore %s: it has no screen", p.rec.Name).WithHint("`tandem restart` runs its command again")
}
