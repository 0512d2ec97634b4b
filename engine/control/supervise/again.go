package supervise

import (
	"context"
	"maps"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/persist/store"
)

// FindEarlierStart handles a start whose id is taken. If the process with this id was started from
// the same record, w waits for until(state) to become true for its state. ok is false if there is no
// such process, or if it was removed because it never started. The error is a CodeConflict if the
// id belongs to another start.
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
		// The process never ran, so the caller may start it again, but only after it is removed.
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

// isSameStart reports whether r describes the start of this process. The names may differ: the
// engine may have appended a number, or a client may have renamed the process, which increases the
// revision.
func (p *proc) isSameStart(r store.Record) bool {
	// The command of a private session is not in its record.
	unknown := p.rec.Private && r.Private && len(p.rec.Argv) == 0
	return (unknown || slices.Equal(p.rec.Argv, r.Argv) && p.rec.CWD == r.CWD && maps.Equal(p.rec.Env, r.Env)) &&
		(p.rec.Revision > 0 || strings.HasPrefix(p.rec.Name, r.Name)) &&
		p.rec.Kind == r.Kind && p.rec.Owner == r.Owner && p.rec.Actor == r.Actor
}

// neverStarted reports whether the engine exited before it attempted the first start of the
// process.
func (p *proc) neverStarted() bool { return p.state() == api.StateFailed && p.rec.NeverStarted }
