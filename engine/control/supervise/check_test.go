//go:build invariants

package supervise

import (
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/invariants"
	"tandem/persist/store"
)

func TestCheckPanicsOnInconsistentProcess(t *testing.T) {
	for name, damage := range map[string]func(c *Control, p *proc){
		"id differs from its key":     func(c *Control, p *proc) { p.rec.ID = "b" },
		"two live ones with one name": func(c *Control, p *proc) { c.reg.procs["b"].rec.Name = p.rec.Name },
		"left by a connected client":  func(c *Control, p *proc) { p.rec.LeftAt = time.Now(); c.leases.watches = map[string]int{"agent1": 1} },
		"connected client with a timer": func(c *Control, p *proc) {
			c.leases.watches = map[string]int{"agent1": 1}
			c.leases.expectReturn("agent1", time.Hour)
		},
		"client without a watch":         func(c *Control, p *proc) { c.leases.watches = map[string]int{"agent1": 0} },
		"unknown desired state":          func(c *Control, p *proc) { p.rec.Desired = "" },
		"running but to be stopped":      func(c *Control, p *proc) { p.rec.Desired = desiredStopped },
		"running without a child":        func(c *Control, p *proc) { p.rec.Identity = nil },
		"child before its start":         func(c *Control, p *proc) { p.rec.State = string(api.StateStarting) },
		"stopped without a request":      func(c *Control, p *proc) { p.rec.State = string(api.StateStopped) },
		"child equals the previous one":  func(c *Control, p *proc) { p.rec.Former = p.rec.Identity },
		"negative failures":              func(c *Control, p *proc) { p.rec.Failures = -1 },
		"announced before it was saved":  func(c *Control, p *proc) { p.announcedRev = p.rev + 1 },
		"timer outside backoff":          func(c *Control, p *proc) { p.retryTimer = time.AfterFunc(time.Hour, func() {}) },
		"backoff without a timer":        func(c *Control, p *proc) { p.rec.State = string(api.StateBackoff) },
		"readiness check without a rule": func(c *Control, p *proc) { p.cancelProbe = func() {} },
		"log of a terminal bounded":      func(c *Control, p *proc) { p.stopBound = func() {} },
		"tree stopped while running":     func(c *Control, p *proc) { p.killing = true },
		"removed while running":          func(c *Control, p *proc) { p.removing = true },
		"session without a terminal":     func(c *Control, p *proc) { p.rec.TTY = false },
		"running after its exit":         func(c *Control, p *proc) { p.ending, p.drained = &Ending{}, true },
		"running with a predecessor":     func(c *Control, p *proc) { p.predecessor.Identity.PID = 5 },
		"waiting for nothing":            func(c *Control, p *proc) { p.rec.State, p.rec.Identity = string(api.StateWaiting), nil },
		"running with dependencies":      func(c *Control, p *proc) { p.rec.After = []store.Dependency{{ID: "b"}} },
		"depends on itself": func(c *Control, p *proc) {
			p.rec.State, p.rec.After = string(api.StateExited), []store.Dependency{{ID: "a"}}
		},
		"pending removal while running":  func(c *Control, p *proc) { p.removals = []chan<- outcome{nil} },
		"waiter for the announced state": func(c *Control, p *proc) { p.waiters = []waiter{{until: HasStarted, reply: make(chan outcome, 1)}} },
		"shared state differs":           func(c *Control, p *proc) { p.shared.state.Store(api.StateStopping) },
		"shared session is missing":      func(c *Control, p *proc) { p.shared.live.Store(nil) },
	} {
		withRig(t, func(r *rig) {
			r.startOwned("a", "agent1", api.LeaseDetached)
			r.startRunning("b")
			r.stop() // the rest runs without the control goroutine
			r.c.reg.frozen = false
			r.c.checkTable()
			if invariants.Broken(func() { damage(r.c, r.c.reg.procs["a"]); r.c.checkTable() }) == "" {
				t.Errorf("%s: no check fails", name)
			}
			r.c.reg.frozen = true
			r.c.leases.stopTimers()
			if due := r.c.reg.procs["a"].retryTimer; due != nil {
				due.Stop()
			}
		})
	}
}

func TestCheckPanicsOnVerdictOutOfBounds(t *testing.T) {
	for _, v := range []verdict{
		{state: api.StateBackoff, failures: 4, delay: time.Second}, {state: api.StateBackoff, failures: 1},
		{state: api.StateBackoff, delay: time.Second}, {state: api.StateBackoff, failures: 1, delay: maxDelay + 1},
		{state: api.StateStarting, failures: 1}, {state: api.StateRunning},
	} {
		if invariants.Broken(func() { v.check(store.Restart{Max: 3}) }) == "" {
			t.Errorf("%+v: no check fails", v)
		}
	}
}
