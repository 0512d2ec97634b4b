package supervise

import (
	"context"
	"time"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/engine/proctree"
	"tandem/engine/secrets"
	"tandem/persist/store"
)

// FindInterruption returns why a session found at the start of an engine ended although nobody
// ended it; nil if it did not. The session's terminal must be set already.
func (f *Found) FindInterruption() *store.Interruption {
	r := f.Rec
	if !r.TTY || r.Transient || StartsAtBoot(r.Restart) || r.Desired == desiredStopped || len(f.events) == 0 {
		return nil
	}
	switch e := f.events[0]; {
	case e.kind == evMissing && r.Identity != nil && e.rebooted && isUnknown(e.ending.Exit):
		return &store.Interruption{By: api.ByReboot, At: proctree.BornAt(store.Identity{})}
	case e.kind == evMissing && r.Identity != nil && isUnknown(e.ending.Exit),
		e.kind == evLost, e.kind == evFound && len(f.events) == 1 && f.Live == nil && f.Fault == nil:
		return &store.Interruption{By: api.ByCrash, At: time.Now()}
	}
	return nil
}

func isUnknown(e keeper.Exit) bool { return e.Unknown || e.Code == nil && e.Signal == "" }

// isInterrupted reports whether a session may be restored.
func (p *proc) isInterrupted() bool {
	return p.state().Ended() && p.rec.Interrupted != nil && !p.rec.Interrupted.Dismissed
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
	if !i.Dismissed {
		view.Interrupted = &api.Interruption{By: i.By, At: i.At, Program: secrets.RedactLine(i.Program)}
	}
}

// A Restoration says how to start an interrupted session again.
type Restoration struct {
	store.Command
	Cgroup string
}

// RestoreSession starts an interrupted session again under its id, and waits until it runs.
func (c *Control) RestoreSession(ctx context.Context, q Request, as Restoration) (api.Process, error) {
	return c.changeProcess(ctx, q, func(p *proc, reply chan<- outcome) error {
		if !p.isInterrupted() {
			return errNotInterrupted(p)
		}
		c.reg.log.Info("request", "event", "restore", "id", p.rec.ID, "by", q.Client)
		as.Environ = c.reg.environs.intern(as.Environ)
		p.rec.Command, p.rec.Cgroup = as.Command, as.Cgroup
		p.argv, p.command = redactCommand(as.Argv)
		c.reg.handle(p.rec.ID, event{kind: evRestart, restores: true, reply: reply})
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

func errNotInterrupted(p *proc) error {
	return api.Errorf(api.CodeConflict, "restore %s: no reboot or crash ended it", p.rec.Name).
		WithHint("Run `tandem restore --list` to see what can be restored.")
}
