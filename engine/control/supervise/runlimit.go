package supervise

import (
	"context"
	"sync"
	"time"

	"tandem/persist/store"
)

// The call that runs a one-shot command also enforces its time limit. If that call is lost, with
// its client or its engine, the limit in the record is enforced.

// CommandStopTimeout is the time between SIGTERM and SIGKILL for a one-shot command that has
// reached its time limit.
const CommandStopTimeout = 2 * time.Second

// callers counts the calls that wait for each one-shot command.
type callers struct {
	mu    sync.Mutex
	calls map[string]int // by id
}

// AttendCommand counts a call that waits for a one-shot command, until leave is called. If the last
// caller has disconnected by then, the command is stopped at its time limit, or once the caller's
// grace is over. It is then marked: nobody got the result.
func (c *Control) AttendCommand(ctx context.Context, id string) (leave func()) {
	c.callers.mu.Lock()
	defer c.callers.mu.Unlock()
	if c.callers.calls == nil {
		c.callers.calls = make(map[string]int)
	}
	c.callers.calls[id]++
	return func() {
		c.callers.mu.Lock()
		defer c.callers.mu.Unlock()
		if c.callers.calls[id]--; c.callers.calls[id] > 0 {
			return
		}
		if delete(c.callers.calls, id); ctx.Err() != nil {
			c.reg.onProcess(id, c.leases.handleLostCaller)
		}
	}
}

// SetRunLimit changes the time limit of a one-shot command. It is enforced by the command's caller,
// and by the engine only if the caller is lost.
func (c *Control) SetRunLimit(id string, limit store.RunLimit) {
	c.reg.onProcess(id, func(p *proc) { c.leases.setLimit(p, limit) })
}

func (g *registry) onProcess(id string, f func(p *proc)) {
	g.box.Post(func() {
		if p := g.procs[id]; p != nil {
			f(p)
		}
	})
}

func (l *leases) setLimit(p *proc, limit store.RunLimit) {
	p.limit.stop()
	changed := p.rec.RunLimit != limit
	p.rec.RunLimit = limit
	if changed && p.view.ID != "" && !p.state().Ended() { // the first announcement saves it too
		l.reg.saveChange(p)
	}
}

// A limitTimer stops a one-shot command that has no caller. The zero value is not running.
type limitTimer struct{ timer *time.Timer }

func (t *limitTimer) stop() {
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
}

func (l *leases) handleLostCaller(p *proc) {
	p.rec.Unanswered = true
	if p.view.ID != "" && !p.removing { // the first announcement saves it too
		l.reg.saveChange(p)
	}
	l.keepLimit(p)
}

// keepLimit stops a command without a caller when its time limit is reached, or when its caller's
// grace is over.
func (l *leases) keepLimit(p *proc) {
	limit := p.rec.RunLimit
	if p.state().Ended() || limit == (store.RunLimit{}) {
		return
	}
	if limit.CallerGraceMS > 0 {
		over := time.Now().Add(time.Duration(limit.CallerGraceMS) * time.Millisecond)
		if limit.StopAt.IsZero() || over.Before(limit.StopAt) {
			limit.StopAt = over
		}
	}
	l.setLimit(p, limit)
	id := p.rec.ID
	var timer *time.Timer
	timer = time.AfterFunc(time.Until(limit.StopAt), func() {
		l.reg.box.Post(func() {
			// The caller may have returned, or the command exited, after the timer fired.
			if p := l.reg.procs[id]; p != nil && p.limit.timer == timer && !p.state().Ended() {
				l.reg.log.Info("stop a command whose caller has disconnected", "id", id)
				l.reg.handle(id, event{kind: evStop, signal: "SIGTERM", timeoutMS: int(CommandStopTimeout.Milliseconds())})
			}
		})
	})
	p.limit.timer = timer
}
