// Package retry calls an engine that may crash or be replaced during the call. It repeats calls
// marked as repeatable in the table of operations. For others, the error says whether the call may
// have been carried out.
//
// client.Client makes each call only once: activation, shutdown, attachments and the dashboard's
// reads must learn at once that the engine is lost.
package retry

import (
	"context"
	"errors"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/base/sleep"
)

const (
	// returnLimit is how long to wait for another engine after one was lost.
	returnLimit = 15 * time.Second
	// awayLimit is how long to retry read-only calls of another machine. Thus a followed log
	// resumes when the laptop wakes.
	awayLimit = 10 * time.Minute
	// activateAfter is how long the keeper may take to restart a lost engine before this client
	// does.
	activateAfter = 500 * time.Millisecond
	// returnPoll is the interval between retries.
	returnPoll = 20 * time.Millisecond
	// steadyCall is how long a call must have lasted to count as accepted by a healthy engine. If
	// the engine is lost after that, the time limit starts anew.
	steadyCall = time.Second
)

// A Conn is a client that survives the loss of its engine. It is safe for concurrent use.
type Conn struct {
	*client.Client
	Hasty bool // do not wait for an offline machine
	// Away, if set, is called when a read-only call starts waiting for an offline machine. Such
	// calls then wait until their context is done. If Away is nil, they give up after awayLimit.
	Away    func()
	connect func(context.Context) (*client.Client, error) // nil if another process starts the engine
}

// Connect returns a Conn that uses the client returned by connect, which should start an engine if
// necessary. If the engine is lost for long, connect is called again. The caller must close the
// Conn.
func Connect(ctx context.Context, connect func(context.Context) (*client.Client, error)) (*Conn, error) {
	first, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	return &Conn{Client: first, connect: connect}, nil
}

// Once returns the engine for calls made only once.
func (c *Conn) Once() api.Engine { return c.Client }

// Do carries out an operation; see api.Operation.Call. If the connection to the engine is lost, Do
// repeats a call that was never sent or can be repeated, within the call's own time limit.
// Otherwise the error has CodeUnsure: the call may have been carried out.
func (c *Conn) Do(ctx context.Context, name string, effect api.Effect, in, out any) error {
	began := time.Now()
	var lost time.Time
	sent, told, limit := false, false, returnLimit
	if c.Machine() != "" && effect == api.Read && !c.Hasty {
		limit = awayLimit
	}
	for ask := in; ; ask = withRemainingTime(in, time.Since(began)) {
		called := time.Now()
		var reached atomic.Bool
		err := c.Client.Do(withReachedFlag(ctx, &reached), name, effect, ask, out)
		gone, maySent := isLost(err)
		// If ctx ends during a reconnection, err says nothing about the call before, so give up
		// below.
		if !gone && (lost.IsZero() || ctx.Err() == nil || reached.Load()) {
			if sent && err != nil {
				return c.resolveRepeat(ctx, name, effect, in, out, err)
			}
			return err
		}
		if c.Hasty && c.Machine() != "" && !maySent && !sent {
			return err
		}
		sent = sent || maySent
		if sent && !api.IsRepeatable(name, effect, in) {
			return unsureError(name, in, err)
		}
		if lost.IsZero() || time.Since(called) > steadyCall && maySent {
			lost = time.Now()
		}
		patient := c.Away != nil && c.Machine() != "" && effect == api.Read
		if patient && !maySent && !told {
			told = true
			c.Away()
		}
		if !patient && time.Since(lost) > limit {
			return giveUpError(name, effect, in, sent, err)
		}
		if c.waitForEngine(ctx, time.Since(lost)) != nil || ctx.Err() != nil {
			return giveUpError(name, effect, in, sent, err)
		}
	}
}

// withReachedFlag returns a context that sets reached when a call has got a connection.
func withReachedFlag(ctx context.Context, reached *atomic.Bool) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { reached.Store(true) }})
}

// isLost reports whether err means that the engine is lost (gone), and whether the engine may have
// received the call (sent).
func isLost(err error) (gone, sent bool) {
	var lost *client.Lost
	if errors.As(err, &lost) {
		return true, lost.Sent
	}
	ending := api.IsEnding(err)
	return ending, ending
}

// resolveRepeat interprets the error of a repeated call. If the first call had already removed or
// stopped the process, it returns nil and reads the process into out.
func (c *Conn) resolveRepeat(ctx context.Context, name string, effect api.Effect, in, out any, err error) error {
	missing := errors.Is(err, api.CodeNotFound)
	switch api.RepeatOf(name, effect) {
	case api.RepeatGone:
		if missing {
			return nil
		}
	case api.RepeatEnded:
		if p, ok := out.(*api.Process); ok && (missing || errors.Is(err, api.CodeEnded)) {
			return c.readStopped(ctx, idToStop(in), p)
		}
	}
	return err
}

// readStopped reads the stopped process with this id into p. The record of a one-shot command may
// be gone already.
func (c *Conn) readStopped(ctx context.Context, id string, p *api.Process) error {
	now, err := api.ProcessGet.Call(ctx, c, api.IDInput{ID: id})
	if errors.Is(err, api.CodeNotFound) {
		now, err = api.Process{ID: id, Name: id, State: api.StateStopped}, nil
	}
	if err == nil {
		*p = now
	}
	return err
}

// idToStop returns the id of the process that a call would stop. in is the input of the call.
func idToStop(in any) string {
	switch in := in.(type) {
	case api.ProcessStopInput:
		return in.ID
	case api.IDInput:
		return in.ID
	}
	return ""
}

// startID returns the id that the caller has chosen for a new session or process, or "".
func startID(in any) string {
	switch in := in.(type) {
	case api.ExecInput:
		return in.ID
	case api.ProcessStartInput:
		return in.ID
	case api.SessionStartInput:
		return in.ID
	}
	return ""
}

// withRemainingTime returns the input for repeating a call after the time passed. Waits get shorter
// timeouts. The timeout of a command counts from its start, so it is not changed.
func withRemainingTime(in any, passed time.Duration) any {
	left := func(ms int) int {
		if ms == 0 {
			return 0
		}
		return max(ms-int(passed.Milliseconds()), 1) // 0 would mean the default
	}
	switch in := in.(type) {
	case api.ProcessWaitInput:
		in.TimeoutMS = left(in.TimeoutMS)
		return in
	case api.SessionWaitInput:
		in.TimeoutMS = left(in.TimeoutMS)
		return in
	case api.ProcessLogInput:
		in.WaitMS = left(in.WaitMS)
		return in
	case api.ProcessLogsInput:
		in.WaitMS = left(in.WaitMS)
		return in
	}
	return in
}

// giveUpError returns the error for a call that is given up because no engine has returned.
func giveUpError(name string, effect api.Effect, in any, sent bool, err error) error {
	switch {
	case effect == api.Read:
		return err
	case sent:
		return unsureError(name, in, err)
	}
	return api.Errorf(api.CodeUnavailable, "%v: nothing was done", err).WithHint("try again")
}

// unsureError returns the error for a call whose answer was lost. It names the possible effect.
func unsureError(name string, in any, err error) error {
	if id := startID(in); id != "" {
		return api.Errorf(api.CodeUnsure, "%v: it may have been started as %s", err, id).
			WithHint("`tandem ps` shows whether it runs, `tandem logs " + id + "` what it printed")
	}
	switch name {
	case api.SessionWrite.Name, api.SessionInsert.Name, api.SessionExec.Name:
		return api.Errorf(api.CodeUnsure, "%v: it may have been typed", err).WithHint("check the screen before typing it again")
	case api.ProcessWrite.Name:
		return api.Errorf(api.CodeUnsure, "%v: it may have been written", err).WithHint("check the log before writing it again")
	}
	return api.Errorf(api.CodeUnsure, "%v: it may have been done", err).WithHint("check before doing it again")
}

// waitForEngine sleeps for one poll interval. If the engine has been gone for too long, it starts
// it.
func (c *Conn) waitForEngine(ctx context.Context, gone time.Duration) error {
	if err := sleep.For(ctx, returnPoll); err != nil {
		return err
	}
	if gone < activateAfter || c.connect == nil {
		return nil
	}
	next, err := c.connect(ctx)
	if errors.Is(err, api.CodeUnavailable) {
		return nil
	}
	if err != nil {
		return err
	}
	next.Close() // c.Client reconnects to the same socket
	return nil
}

// maxWaitCall is the maximum duration of one call that RepeatUntil makes.
const maxWaitCall = 50 * time.Second

// RepeatUntil calls wait until it is done, fails or the timeout expires. Each call blocks for at
// most ms milliseconds. A timeout of 0 means none.
func RepeatUntil[Out any](timeout time.Duration, wait func(ms int) (out Out, done bool, err error)) (Out, error) {
	deadline := time.Now().Add(timeout)
	for {
		left := maxWaitCall
		if timeout > 0 {
			left = min(left, time.Until(deadline))
		}
		out, done, err := wait(max(int(left.Milliseconds()), 1))
		if err != nil || done || timeout > 0 && !time.Now().Before(deadline) {
			return out, err
		}
	}
}

// Wait waits until a condition is met, the process exits, or the timeout expires. In the latter two
// cases, Met is empty. A timeout of 0 means none.
func Wait(ctx context.Context, c *Conn, in api.ProcessWaitInput, timeout time.Duration) (api.ProcessWaitOutput, error) {
	return RepeatUntil(timeout, func(ms int) (out api.ProcessWaitOutput, done bool, err error) {
		in.TimeoutMS = ms
		out, err = api.ProcessWait.Call(ctx, c, in)
		return out, out.IsFinal(), err
	})
}
