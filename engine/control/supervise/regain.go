package supervise

import (
	"context"

	"tandem/engine/api"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

// An engine that cannot fetch a terminal when it starts fetches it later. Until then the
// session runs without a screen.

// Terminals gives access to the terminals of the sessions in the table of a Control.
type Terminals struct{ Of *Control }

// Regain gives a child's session its terminal. It calls open on the control goroutine
// and reports whether it did: a session that has exited needs no terminal.
func (t Terminals) Regain(ctx context.Context, child keeper.Child, open func(store.Record) Session) (used bool, err error) {
	c := t.Of
	err = c.runOnLoop(ctx, func() error {
		p := c.reg.procs[child.ID]
		if used = !c.reg.frozen && lacksTerminal(p, child); !used {
			return nil
		}
		p.live, p.drained, p.rec.Error = open(p.rec), false, ""
		p.live.Admit(p.rec.Keyboard != "", p.rec.Open)
		if p.state() == api.StateStopping {
			p.live.Stopping()
		}
		p.updateShared()
		c.reg.saveChange(p)
		return nil
	})
	return used, err
}

// Lacks reports whether a child is running in a session that has no terminal yet.
func (t Terminals) Lacks(ctx context.Context, child keeper.Child) (bool, error) {
	return Ask(ctx, t.Of, func() bool { return lacksTerminal(t.Of.reg.procs[child.ID], child) })
}

// Abandon kills the session of a child whose terminal cannot be recovered.
func (t Terminals) Abandon(child keeper.Child) {
	t.Of.reg.box.Post(func() {
		if p := t.Of.reg.procs[child.ID]; lacksTerminal(p, child) && !p.killing {
			t.Of.reg.handle(child.ID, event{kind: evLost})
		}
	})
}

// Each calls f with the child and the session of each process running in a terminal.
// The control goroutine must have stopped.
func (t Terminals) Each(f func(keeper.Child, Session)) {
	for _, p := range t.Of.reg.procs {
		if p.live != nil && p.rec.Identity != nil && p.ending == nil && !p.state().Ended() {
			f(childOf(p.rec), p.live)
		}
	}
}

func lacksTerminal(p *proc, child keeper.Child) bool {
	return p != nil && p.rec.TTY && p.live == nil && p.ending == nil && !p.state().Ended() &&
		p.rec.Identity != nil && *p.rec.Identity == IdentityOf(child)
}
