package supervise

import (
	"context"
	"errors"

	"tandem/engine/api"
	"tandem/persist/store"
)

// PrivateName is the name of a private session that has been given none. It is not derived from the
// command, because it is saved.
const PrivateName = "private"

// Private decides who may use private sessions. Its methods must not be called on the control
// goroutine.
type Private struct {
	// MayUse returns an error if the caller of ctx may not use a private session called name. It is
	// nil if every caller may.
	MayUse func(ctx context.Context, name string) error
}

// check returns an error if the record is of a private session, and ctx is of a call whose caller
// may not use it.
func (s Private) check(ctx context.Context, r store.Record) error {
	if !r.Private || s.MayUse == nil {
		return nil
	}
	return s.MayUse(ctx, r.Name)
}

// hidesFrom reports whether the caller of ctx may not use private sessions.
func (s Private) hidesFrom(ctx context.Context) bool {
	return s.MayUse != nil && s.MayUse(ctx, PrivateName) != nil
}

// viewFilter returns a function that removes the content of a private session from its view, unless
// the caller of ctx may use private sessions. It reports whether it did.
func (s Private) viewFilter(ctx context.Context) func(view *api.Process) bool {
	hides, known := false, false
	return func(view *api.Process) bool {
		if !view.IsPrivate() {
			return false
		}
		if !known {
			hides, known = s.hidesFrom(ctx), true
		}
		if hides {
			*view = view.WithoutContent()
		}
		return hides
	}
}

// eventFilter returns a function that does the same for the views in an event.
func (s Private) eventFilter(ctx context.Context) func(e api.Event) api.Event {
	if s.hidesFrom(ctx) {
		return api.Event.WithoutPrivate
	}
	return func(e api.Event) api.Event { return e }
}

// checkFound is check for the process that find returns on the control goroutine. The caller has to
// handle the errors of find.
func (s Private) checkFound(ctx context.Context, c *Control, find func() (*proc, error)) error {
	if s.MayUse == nil {
		return nil
	}
	r, err := askWithError(ctx, c, func() (r store.Record, err error) {
		p, err := find()
		if err == nil {
			r = p.rec
		}
		return r, err
	})
	if err != nil {
		return nil
	}
	return s.check(ctx, r)
}

// cannotRestart returns an error for a private session whose command only an earlier engine knew.
func (p *proc) cannotRestart() error {
	if !p.rec.Private || len(p.rec.Argv) > 0 {
		return nil
	}
	return api.Errorf(api.CodeConflict, "restart %s: it is private, so its command was lost when the engine was restarted", p.rec.Name).
		WithHint("start a new one: tandem new --private")
}

var errNotLogged = errors.New("not logged: the session is private")

// loggedError returns an error for engine.log. If the session is private, it leaves out err, which
// may name the command or the folder.
func (p *proc) loggedError(err error) error {
	if p.rec.Private {
		return errNotLogged
	}
	return err
}
