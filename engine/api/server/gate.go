package server

import (
	"context"
	"net/http"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/wire"
)

// A call is a request of an operation or a stream.
type call struct {
	api.Entry
	effect  api.Effect
	in      any  // pointer to the input
	lasting bool // its answer begins before the handler returns
	away    bool // it is carried out on another machine

	read   func(w http.ResponseWriter, r *http.Request) *api.Error // decodes the input into in
	handle func(ctx context.Context) (out any, err error)
	output func() any // a pointer to a zero output; nil for a stream
	answer func(out any, failure *api.Error)
}

// serve carries out a call. It is the only way from a request to a handler. So the steps here, and
// their order, decide what an agent can do; other packages only supply the rules.
func (m *Mux) serve(w http.ResponseWriter, r *http.Request, c *call) {
	var out any
	ctx, failure := m.identify(r)
	if failure == nil {
		failure = c.read(w, r)
	}
	if failure != nil {
		c.answer(nil, failure) // the caller or the call is unknown
		return
	}
	ctx = api.WithEffect(ctx, c.effect)
	began := time.Now()
	refused := m.protect(c, func() error { return m.redirect(ctx, c) })
	if refused == nil {
		refused = m.protect(c, func() error { return m.Policy(ctx, c.Entry, c.effect, c.in) })
	}
	if refused == nil {
		refused = m.protect(c, func() error { return m.checkBounds(ctx, c) })
	}
	if refused != nil {
		m.recordRefusal(ctx, c, refused)
		c.answer(nil, refused)
		return
	}
	if c.Outlives {
		ctx = context.WithoutCancel(ctx)
	}
	line, failure := m.beginLine(ctx, c, began)
	if failure == nil {
		failure = m.protect(c, func() (err error) {
			if out, err = c.handle(ctx); err == nil && !c.away && c.Access == api.Starting && m.Started != nil {
				m.Started(ctx, api.ProcessIDOf(out))
			}
			return err
		})
		failure = m.endLine(ctx, c, line, out, failure)
	}
	c.answer(out, failure)
}

// checkBounds applies the limits of the caller's connection, and then those of access.Guard, which
// may narrow the input.
func (m *Mux) checkBounds(ctx context.Context, c *call) error {
	origin := api.CallerOf(ctx).Origin
	switch {
	case origin.ReadOnly && c.effect != api.Read:
		return api.Errorf(api.CodeForbidden, "call %s: this connection may only read", c.Name).
			WithHint("the machine restricts this key to `tandem bridge --read-only`")
	case origin.From != "" && c.Name == wire.OpenName:
		return api.Errorf(api.CodeForbidden, "call %s: a connection from %s cannot reach other machines", c.Name, origin.From)
	}
	return m.check(ctx, c.Name, c.effect, c.in)
}

// protect runs a step of a call. If the step panics, only this call fails.
func (m *Mux) protect(c *call, step func() error) *api.Error {
	if err := m.guardPanics(c.Name, step); err != nil {
		return handlerError(err)
	}
	return nil
}

// A Recorder writes the log of agents' calls.
type Recorder interface {
	// Arguments returns an operation's input in the form of the log. It has no secrets and, if
	// hideTyped is set, no typed text.
	Arguments(in any, hideTyped bool) map[string]any
	// Begin writes the first part of the line about a call that changes something. end writes the
	// second part.
	Begin(e api.AuditEntry) (end func(outcome, process, failure string, took time.Duration) error, err error)
	// Record writes the whole line of another call.
	Record(e api.AuditEntry) error
}

// A line is the line about a call in the audit log. The zero line belongs to a call that is not
// recorded.
type line struct {
	entry  api.AuditEntry
	secret bool                                                             // its texts must not appear
	end    func(outcome, process, failure string, took time.Duration) error // writes its second part; nil unless the first is written
	began  time.Time
}

// isRecorded reports whether a call is recorded in the audit log: all calls of agents, except those
// that their server makes for itself and watching events, and changes by other people of a fleet.
// Refused calls are always recorded.
func (m *Mux) isRecorded(caller api.Caller, c *call) bool {
	switch {
	case m.Audit == nil:
		return false
	case caller.Agent():
		return !caller.IsServer(c.effect) && c.Name != wire.WatchName // clients watch again and again
	}
	return caller.Origin.Person != "" && c.effect != api.Read
}

// recordRefusal writes the audit log's line about a call that the policy or the bounds have refused.
// It writes nothing if the user is asked, because the call is not refused yet.
func (m *Mux) recordRefusal(ctx context.Context, c *call, refused *api.Error) {
	caller := api.CallerOf(ctx)
	if m.Audit == nil || refused.Question != nil || !caller.Agent() && caller.Origin.Person == "" {
		return
	}
	l := m.newLine(ctx, c, time.Now())
	l.entry.Outcome, l.entry.Error = outcomeOf(ctx, refused), l.textOf(refused)
	if err := m.Audit.Record(l.entry); err != nil {
		m.Log.Error("write audit log", "operation", c.Name, "error", err) // it is refused anyway
	}
}

// beginLine writes the first part of a call's line, if the call changes something. If that fails,
// the call must not change anything.
func (m *Mux) beginLine(ctx context.Context, c *call, began time.Time) (l line, failure *api.Error) {
	if !m.isRecorded(api.CallerOf(ctx), c) {
		return line{}, nil
	}
	l = m.newLine(ctx, c, began)
	if c.effect == api.Read && !c.lasting {
		return l, nil
	}
	end, err := m.Audit.Begin(l.entry)
	if err != nil {
		return line{}, auditError(c, err)
	}
	l.end = end
	return l, nil
}

// endLine writes the rest of a call's line, and returns the final error of the call. If the line
// cannot be written, a read is not answered.
func (m *Mux) endLine(ctx context.Context, c *call, l line, out any, failure *api.Error) *api.Error {
	if l.began.IsZero() {
		return failure
	}
	outcome, took := outcomeOf(ctx, failure), time.Since(l.began)
	process := api.ProcessIDOf(out)
	if failure != nil {
		process = ""
	}
	if l.end != nil {
		text := l.textOf(failure)
		if failed := api.FailureOf(out); failure == nil && failed != "" {
			outcome, text = api.OutcomeFailed, failed
		}
		if err := l.end(outcome, process, text, took); err != nil {
			m.Log.Error("write audit log", "operation", c.Name, "error", err) // it is done
		}
		return failure
	}
	l.entry.Outcome, l.entry.DurationMS, l.entry.Error = outcome, api.Milliseconds(took), l.textOf(failure)
	if err := m.Audit.Record(l.entry); err != nil {
		return auditError(c, err)
	}
	return failure
}

func auditError(c *call, err error) *api.Error {
	return api.Errorf(api.CodeUnavailable, "call %s: write the audit log: %v", c.Name, err).
		WithHint("agents are served again once it can be written")
}

// newLine returns the first part of a call's line. Everything that identifies the caller comes from
// the connection and its server, never from the input.
func (m *Mux) newLine(ctx context.Context, c *call, at time.Time) line {
	caller := api.CallerOf(ctx)
	e := api.AuditEntry{
		Time: at, Actor: caller.Actor(), Agent: caller.Bounds.Name, Client: caller.Owner, From: caller.Origin.From,
		Call: caller.Call, Tool: c.Name, Operation: c.Name,
	}
	if caller.Origin.Person != "" && !caller.Agent() {
		e.Actor = "person:" + caller.Origin.Person
	}
	if len(caller.Tools) > 0 {
		e.Tool = caller.Tools[0]
	}
	if host := c.Host(c.in); host != nil {
		e.Host = *host
	}
	about := c.Subject(c.in)
	secret := about.Command != "" && about.Session != "" && m.Secret != nil && m.Secret(ctx, about.Session)
	if p, ok := c.in.(interface{ IsPrivate() bool }); ok && p.IsPrivate() && !caller.Agent() {
		secret = true
	} else {
		e.Arguments = m.Audit.Arguments(c.in, secret)
	}
	e.Process = about.Session
	return line{entry: e, secret: secret, began: at}
}

// textOf returns the text of an error for the log. It leaves out typed text, which the error may
// quote.
func (l line) textOf(failure *api.Error) string {
	switch {
	case failure == nil:
		return ""
	case l.secret:
		return string(failure.Code)
	}
	return failure.Message
}

// outcomeOf returns the outcome for the audit log.
func outcomeOf(ctx context.Context, failure *api.Error) string {
	if failure != nil && ctx.Err() != nil {
		return api.OutcomeCancelled
	}
	return api.OutcomeOf(asError(failure))
}

// asError avoids an error holding a nil *api.Error.
func asError(e *api.Error) error {
	if e == nil {
		return nil
	}
	return e
}
