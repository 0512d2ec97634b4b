// Package retry calls an engine that may crash or be replaced during the call. It
// retries calls that the table of operations allows to be repeated; for the others,
// the error says whether the call may have been carried out.
//
// It is not part of client.Client, which makes each call once: activation, shutdown, attachments and
// the reads of the dashboard have to learn at once that the engine is lost.
package retry

import (
	"context"
	"errors"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/sleep"
)

const (
	// returnLimit is how long an engine that is gone may take to come back.
	returnLimit = 15 * time.Second
	// awayLimit is how long another machine may, when nothing but reading is asked
	// of it: a log that is followed goes on when the laptop wakes up.
	awayLimit = 10 * time.Minute
	// activateAfter is when one that its keeper did not start again is started.
	activateAfter = 500 * time.Millisecond
	// returnPoll is how often it is looked for.
	returnPoll = 20 * time.Millisecond
	// steady is how long a call lasts whose engine was there for it: what is lost then
	// is another one.
	steady = time.Second
)

// A Conn is a client that outlives the engine it was made to. It is safe for
// concurrent use.
type Conn struct {
	*client.Client
	Hasty bool // a machine that is away is not waited for
	// Away is called when a call that changes nothing begins to wait for a machine that
	// is away, which it then does for as long as its caller; nil: it gives up after a while.
	Away    func()
	connect func(context.Context) (*client.Client, error) // nil if another process starts the engine
}

// Connect connects, and connects again when the engine is gone for long: connect
// starts one if need be. The result has to be closed.
func Connect(ctx context.Context, connect func(context.Context) (*client.Client, error)) (*Conn, error) {
	first, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	return &Conn{Client: first, connect: connect}, nil
}

// Do carries out an operation; see api.Operation.Call. If the connection to the engine
// is lost, Do retries a call that was never sent or is api.Repeatable, within the
// call's own time limit. Otherwise the error has CodeUnsure: it may have been done.
func (c *Conn) Do(ctx context.Context, name string, effect api.Effect, in, out any) error {
	began := time.Now()
	var lost time.Time
	sent, told, limit := false, false, returnLimit
	if c.Machine() != "" && effect == api.Read && !c.Hasty {
		limit = awayLimit
	}
	for ask := in; ; ask = after(in, time.Since(began)) {
		called := time.Now()
		var reached atomic.Bool
		err := c.Client.Do(noting(ctx, &reached), name, effect, ask, out)
		gone, maySent := isLost(err)
		if !gone && (lost.IsZero() || ctx.Err() == nil || reached.Load()) {
			if sent && err != nil {
				return c.settle(ctx, name, effect, in, out, err)
			}
			return err
		}
		if c.Hasty && c.Machine() != "" && !maySent && !sent {
			return err
		}
		sent = sent || maySent
		if sent && !api.IsRepeatable(name, effect, in) {
			return unsure(name, in, err)
		}
		if lost.IsZero() || time.Since(called) > steady && maySent {
			lost = time.Now()
		}
		patient := c.Away != nil && c.Machine() != "" && effect == api.Read
		if patient && !maySent && !told {
			told = true
			c.Away()
		}
		if !patient && time.Since(lost) > limit {
			return given(name, effect, in, sent, err)
		}
		if c.await(ctx, time.Since(lost)) != nil || ctx.Err() != nil {
			return given(name, effect, in, sent, err)
		}
	}
}

// noting notes in a context whether a call has reached anything.
func noting(ctx context.Context, reached *atomic.Bool) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { reached.Store(true) }})
}

// isLost reports whether an error says that the engine has gone, and whether the call
// may have reached it.
func isLost(err error) (gone, sent bool) {
	var lost *client.Lost
	if errors.As(err, &lost) {
		return true, lost.Sent
	}
	ending := api.IsEnding(err)
	return ending, ending
}

// settle interprets the error of a repeated call: it returns nil if the first call had
// already removed or stopped the process, and then reads the process into out.
func (c *Conn) settle(ctx context.Context, name string, effect api.Effect, in, out any, err error) error {
	missing := errors.Is(err, api.CodeNotFound)
	switch api.RepeatOf(name, effect) {
	case api.RepeatGone:
		if missing {
			return nil
		}
	case api.RepeatEnded:
		if p, ok := out.(*api.Process); ok && (missing || errors.Is(err, api.CodeEnded)) {
			return c.readStopped(ctx, stoppedID(in), p)
		}
	}
	return err
}

// readStopped reads the stopped process id into p. The record of a transient process may be gone.
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

// stoppedID returns the id of the process that a stop call with input in is for.
func stoppedID(in any) string {
	switch in := in.(type) {
	case api.ProcessStopInput:
		return in.ID
	case api.IDInput:
		return in.ID
	}
	return ""
}

// startID is the id that the caller has made for what a call starts.
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

// after is the input of a call that is made again some time after it was made: what
// waits has that much less time. A command's counts from its start.
func after(in any, passed time.Duration) any {
	left := func(ms int) int {
		if ms == 0 {
			return 0
		}
		return max(ms-int(passed.Milliseconds()), 1)
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
	}
	return in
}

// given is the error of a call that was given up, as no engine came back.
func given(name string, effect api.Effect, in any, sent bool, err error) error {
	switch {
	case effect == api.Read:
		return err
	case sent:
		return unsure(name, in, err)
	}
	return api.Errorf(api.CodeUnavailable, "%v: nothing was done", err).WithHint("try again")
}

// unsure says of a call whose answer was lost what may have come of it.
func unsure(name string, in any, err error) error {
	if id := startID(in); id != "" {
		return api.Errorf(api.CodeUnsure, "%v: it may have been started as %s", err, id).
			WithHint("`tandem ps` shows whether it runs, `tandem logs " + id + "` what it printed")
	}
	switch name {
	case api.SessionWrite.Name, api.SessionExec.Name:
		return api.Errorf(api.CodeUnsure, "%v: it may have been typed", err).WithHint("look at the screen before you type it again")
	case api.ProcessWrite.Name:
		return api.Errorf(api.CodeUnsure, "%v: it may have been written", err).WithHint("look at the log before you write it again")
	}
	return api.Errorf(api.CodeUnsure, "%v: it may have been done", err).WithHint("look before you do it again")
}

// await lets some time go by, and starts the engine when it has been gone for
// too long.
func (c *Conn) await(ctx context.Context, gone time.Duration) error {
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
	next.Close() // our own client reaches the same socket
	return nil
}

// waitCall is the longest that one call of Until lasts.
const waitCall = 50 * time.Second

// Until makes a call that waits for at most so many milliseconds, again and
// again, until it is done or the timeout is over. A timeout of 0 is none.
func Until[Out any](timeout time.Duration, wait func(ms int) (out Out, done bool, err error)) (Out, error) {
	deadline := time.Now().Add(timeout)
	for {
		left := waitCall
		if timeout > 0 {
			left = min(left, time.Until(deadline))
		}
		out, done, err := wait(max(int(left.Milliseconds()), 1))
		if err != nil || done || timeout > 0 && !time.Now().Before(deadline) {
			return out, err
		}
	}
}

// Wait asks until a condition holds, none can any more as the process has
// ended, or it is too late; then Met is empty. A timeout of 0 is none.
func Wait(ctx context.Context, c *Conn, in api.ProcessWaitInput, timeout time.Duration) (api.ProcessWaitOutput, error) {
	return Until(timeout, func(ms int) (out api.ProcessWaitOutput, done bool, err error) {
		in.TimeoutMS = ms
		out, err = api.ProcessWait.Call(ctx, c, in)
		return out, out.IsFinal(), err
	})
}
