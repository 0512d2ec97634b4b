//go:build invariants

package supervise

import (
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/invariants"
	"tandem/persist/store"
)

func TestCheckPanicsOnADamagedProcess(t *testing.T) {
	for name, damage := range map[string]func(c *Control, p *proc){
		"under another id":              func(c *Control, p *proc) { p.rec.ID = "b" },
		"two live ones of a name":       func(c *Control, p *proc) { c.procs["b"].rec.Name = p.rec.Name },
		"left by a client that is here": func(c *Control, p *proc) { p.rec.LeftAt = time.Now(); c.leases.watches = map[string]int{"agent1": 1} },
		"client here that is leaving": func(c *Control, p *proc) {
			c.leases.watches = map[string]int{"agent1": 1}
			c.leases.expect("agent1", time.Hour)
		},
		"client watched by nobody":         func(c *Control, p *proc) { c.leases.watches = map[string]int{"agent1": 0} },
		"wanted neither way":               func(c *Control, p *proc) { p.rec.Desired = "" },
		"runs and is to be stopped":        func(c *Control, p *proc) { p.rec.Desired = desiredStopped },
		"runs without a child":             func(c *Control, p *proc) { p.rec.Identity = nil },
		"has a child before its start":     func(c *Control, p *proc) { p.rec.State = string(api.StateStarting) },
		"stopped and nobody asked":         func(c *Control, p *proc) { p.rec.State = string(api.StateStopped) },
		"its child is the one before":      func(c *Control, p *proc) { p.rec.Former = p.rec.Identity },
		"failed less than never":           func(c *Control, p *proc) { p.rec.Failures = -1 },
		"announced before it was saved":    func(c *Control, p *proc) { p.told = p.rev + 1 },
		"timer outside backoff":            func(c *Control, p *proc) { p.due = time.AfterFunc(time.Hour, func() {}) },
		"backoff without a timer":          func(c *Control, p *proc) { p.rec.State = string(api.StateBackoff) },
		"readiness of nothing to be ready": func(c *Control, p *proc) { p.unprobe = func() {} },
		"log of a terminal bounded":        func(c *Control, p *proc) { p.unbound = func() {} },
		"ended while it runs":              func(c *Control, p *proc) { p.killing = true },
		"removed while it runs":            func(c *Control, p *proc) { p.removing = true },
		"session without a terminal":       func(c *Control, p *proc) { p.rec.TTY = false },
		"runs, and nothing more can come":  func(c *Control, p *proc) { p.ending, p.drained = &Ending{}, true },
		"what was before it is awaited":    func(c *Control, p *proc) { p.before.Identity.PID = 5 },
		"waits for nothing":                func(c *Control, p *proc) { p.rec.State, p.rec.Identity = string(api.StateWaiting), nil },
		"runs and waits":                   func(c *Control, p *proc) { p.rec.After = []store.Dependency{{ID: "b"}} },
		"waits for itself": func(c *Control, p *proc) {
			p.rec.State, p.rec.After = string(api.StateExited), []store.Dependency{{ID: "a"}}
		},
		"to be removed, and not stopped":   func(c *Control, p *proc) { p.removals = []chan<- outcome{nil} },
		"somebody waits for what there is": func(c *Control, p *proc) { p.waiters = []waiter{{until: HasStarted, reply: make(chan outcome, 1)}} },
		"others see another state":         func(c *Control, p *proc) { p.shared.state.Store(api.StateStopping) },
		"others see no session":            func(c *Control, p *proc) { p.shared.live.Store(nil) },
	} {
		withRig(t, func(r *rig) {
			r.owned("a", "agent1", api.LeaseDetached)
			r.running("b")
			r.stop() // what follows is on no control goroutine
			r.c.frozen = false
			checkTable(r.c)
			if invariants.Broken(func() { damage(r.c, r.c.procs["a"]); checkTable(r.c) }) == "" {
				t.Errorf("%s: no check fails", name)
			}
			r.c.frozen = true
			r.c.leases.stop()
			if due := r.c.procs["a"].due; due != nil {
				due.Stop()
			}
		})
	}
}

func TestCheckPanicsOnAVerdictOutOfBounds(t *testing.T) {
	for _, v := range []verdict{
		{state: api.StateBackoff, failures: 4, delay: time.Second}, {state: api.StateBackoff, failures: 1},
		{state: api.StateBackoff, delay: time.Second}, {state: api.StateBackoff, failures: 1, delay: longestDelay + 1},
		{state: api.StateStarting, failures: 1}, {state: api.StateRunning},
	} {
		if invariants.Broken(func() { v.check(store.Restart{Max: 3}) }) == "" {
			t.Errorf("%+v: no check fails", v)
		}
	}
}
