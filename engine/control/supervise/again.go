package supervise

import (
	"context"
	"maps"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/persist/store"
)

// FindEarlierStart handles a start whose id is taken. If the process under r.ID was started from
// the same record, w waits until its state satisfies until. ok is false if there is no such
// process, or if it was removed because it never started. The error is a CodeConflict if another
// start took the id.
func (c *Control) FindEarlierStart(ctx context.Context, r store.Record, until func(api.State) bool) (w Pending, ok bool, err error) {
	w = c.newPending(r.ID)
	removed := false
	ok, err = askWithError(ctx, c, func() (bool, error) {
		p := c.reg.procs[r.ID]
		switch {
		case p == nil:
			return false, nil
		case !p.isSameStart(r):
			return false, api.Errorf(api.CodeConflict, "start %s: id %s is taken", r.Kind, r.ID)
		// It never ran, so the caller may start it again. Its removal must finish first.
		case p.neverStarted() || p.removing && p.view.ID == "":
			removed = true
			c.reg.handle(r.ID, event{kind: evRemove, reply: w.reply})
			return false, nil
		case p.rec.Unsure && p.state().Ended():
			w.reply <- outcome{err: ErrUnsure(p.rec)}
			return true, nil
		}
		if p.rec.Unanswered { // until this caller disconnects, too
			p.rec.Unanswered = false
			c.reg.saveChange(p)
		}
		p.answerWhen(until, w.reply)
		if w.Began = p.rec.StartedAt; w.Began.IsZero() {
			w.Began = p.rec.CreatedAt
		}
		return true, nil
	})
	if err == nil && removed {
		_, err = w.Wait(ctx)
	}
	return w, ok, err
}

// isSameStart reports whether r describes the start that made this process. The engine may have
// appended a number to its name, and a client may have renamed it, which is a revision.
func (p *proc) isSameStart(r store.Record) bool {
	return slices.Equal(p.rec.Argv, r.Argv) && p.rec.CWD == r.CWD && maps.Equal(p.rec.Env, r.Env) &&
		(p.rec.Revision > 0 || strings.HasPrefix(p.rec.Name, r.Name)) &&
		p.rec.Kind == r.Kind && p.rec.Owner == r.Owner && p.rec.Actor == r.Actor
}

// neverStarted reports whether the engine exited without attempting the process's first start.
func (p *proc) neverStarted() bool { return p.state() == api.StateFailed && p.rec.NeverStarted }
