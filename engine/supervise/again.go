package supervise

import (
	"context"
	"slices"

	"tandem/engine/api"
	"tandem/persist/store"
)

// StartedBefore is StartNew of a record whose id is taken: if the same was started under
// it, the answer is that one's. ok is false if nothing was, or nothing is any more.
func (c *Control) StartedBefore(ctx context.Context, r store.Record, until func(api.State) bool) (w Pending, ok bool, err error) {
	w = c.pending(r.ID)
	removed := false
	ok, err = try(ctx, c, func() (bool, error) {
		p := c.procs[r.ID]
		switch {
		case p == nil:
			return false, nil
		case !p.isSameStart(r):
			return false, api.Errorf(api.CodeConflict, "start %s: id %s is taken", r.Kind, r.ID)
		case p.wasNotBegun() || p.removing && p.view.ID == "":
			removed = true
			c.handle(r.ID, event{kind: evRemove, reply: w.reply})
			return false, nil
		case p.rec.Unsure && p.state().Ended():
			w.reply <- outcome{err: ErrUnsure(p.rec)}
			return true, nil
		}
		p.answerWhen(until, w.reply)
		w.Began = p.rec.StartedAt
		return true, nil
	})
	if err == nil && removed {
		_, err = w.Wait(ctx)
	}
	return w, ok, err
}

// isSameStart reports whether a record is of what was started as this process.
func (p *proc) isSameStart(r store.Record) bool {
	return slices.Equal(p.rec.Argv, r.Argv) && p.rec.Kind == r.Kind && p.rec.Owner == r.Owner && p.rec.Actor == r.Actor
}

// wasNotBegun reports whether a first start came to nothing for sure, as its engine ended.
func (p *proc) wasNotBegun() bool { return p.state() == api.StateFailed && p.rec.Error == notBegun }
