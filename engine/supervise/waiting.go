package supervise

import (
	"fmt"
	"slices"

	"tandem/engine/api"
	"tandem/engine/names"
	"tandem/persist/store"
)

// What is to start after others waits here, not in the caller: its record says what it
// waits for, so a new engine carries on with that.

// dependencies finds what a process is to be started after.
func (ps processes) dependencies(asked []store.Dependency, id string) ([]store.Dependency, error) {
	var found []store.Dependency
	for _, d := range asked {
		on, err := ps.findToEnd(d.ID)
		if err != nil {
			return nil, err
		}
		if on.rec.ID == id {
			return nil, api.Errorf(api.CodeInvalid, "start %s: it cannot wait for itself", on.rec.Name)
		}
		found = append(found, store.Dependency{ID: on.rec.ID, Name: on.rec.Name, Condition: d.Condition})
	}
	return found, nil
}

// DependenciesOf checks what a client wants a process to be started after.
func DependenciesOf(in []api.Dependency) ([]store.Dependency, error) {
	var after []store.Dependency
	for _, d := range in {
		switch d.Condition {
		case "":
			d.Condition = api.ConditionReady
		case api.ConditionStarted, api.ConditionReady, api.ConditionCompleted, api.ConditionSucceeded:
		default:
			return nil, api.Errorf(api.CodeInvalid, "start after %s: unknown condition %s", names.Shown(d.ID), names.Shown(string(d.Condition))).
				WithHint("must be started, ready, completed or completed_successfully")
		}
		after = append(after, store.Dependency{ID: d.ID, Condition: string(d.Condition)})
	}
	return after, nil
}

// wakeSoon looks once at what waits, for all that changes at this moment.
func wakeSoon(c *Control) {
	if c.waking {
		return
	}
	c.waking = true
	c.box.Post(func() {
		c.waking = false
		for _, p := range c.procs.oldestFirst(func(p *proc) bool { return p.state() == api.StateWaiting }) {
			c.handle(p.rec.ID, event{kind: evDue})
		}
	})
}

// lookAgain starts what no longer waits for anything, and fails what waits for
// something that cannot come. A condition that has held once counts for good.
func lookAgain(c *Control, p *proc, _ event) {
	var left []store.Dependency
	for _, d := range p.rec.After {
		switch holds, never := reached(c.procs[d.ID], d); {
		case never != "":
			p.rec.Error = never
			c.become(p, api.StateFailed)
			return
		case !holds:
			left = append(left, d)
		}
	}
	switch {
	case len(left) == 0 && !c.closing:
		startUnstarted(c, p)
	case len(left) < len(p.rec.After) && len(left) > 0:
		p.rec.After = left
		c.save(p)
	}
}

// reached reports whether a process has come as far as a dependency on it wants,
// or why it never will; nil is one that was removed.
func reached(on *proc, d store.Dependency) (holds bool, never string) {
	if on == nil {
		return false, fmt.Sprintf("%s was removed before it %s", d.Name, awaited(d))
	}
	state, done := on.state(), on.state().Ended() || on.state() == api.StateBackoff
	switch api.Condition(d.Condition) {
	case api.ConditionStarted:
		holds = on.rec.Identity != nil && state != api.StateStarting
	case api.ConditionCompleted:
		holds = done && on.rec.Identity != nil
	case api.ConditionSucceeded:
		holds = done && on.ending != nil && succeeded(on.rec.Restart, on.ending.Exit)
	default:
		holds = on.isReady()
	}
	if holds || !state.Ended() {
		return holds, ""
	}
	return false, fmt.Sprintf("%s %s", d.Name, on.fellShort(d))
}

// awaited says what a dependency waits for.
func awaited(d store.Dependency) string {
	switch api.Condition(d.Condition) {
	case api.ConditionStarted:
		return "was started"
	case api.ConditionCompleted, api.ConditionSucceeded:
		return "had completed"
	}
	return "was ready"
}

// fellShort says how a process ended without coming as far as was waited for.
func (p *proc) fellShort(d store.Dependency) string {
	before := " before it " + awaited(d)
	if api.Condition(d.Condition) == api.ConditionSucceeded && p.ending != nil {
		before = ""
	}
	switch {
	case p.state() == api.StateStopped:
		return "was stopped" + before
	case p.state() == api.StateFailed && p.rec.Error != "":
		return "failed" + before + ": " + p.rec.Error
	case p.ending != nil && p.ending.Exit.Code != nil:
		return fmt.Sprintf("exited with %d%s", *p.ending.Exit.Code, before)
	case p.ending != nil && p.ending.Exit.Signal != "":
		return "was killed by " + p.ending.Exit.Signal + before
	}
	return "exited" + before
}

// startUnstarted starts what has waited long enough.
func startUnstarted(c *Control, p *proc) {
	before := p.before
	if now := p.leave(); now.Live != nil { // somebody looks at it already
		before.Live = now.Live
	}
	p.before, p.rec.After = Predecessor{}, nil
	c.become(p, api.StateStarting)
	spawnOnceSaved(c, p, before)
}

// startAnyway starts what somebody does not want to wait any longer.
func startAnyway(c *Control, p *proc, e event) {
	switch {
	case c.closing:
		e.answer(outcome{err: api.ErrEnding()})
	case len(e.after) > 0:
		p.rec.After = slices.Clone(e.after)
		p.acceptRestart(e)
		c.save(p)
		wakeSoon(c)
	default:
		p.acceptRestart(e)
		startUnstarted(c, p)
	}
}

// waitAgain makes a process that has ended wait for its next start.
func waitAgain(c *Control, p *proc, e event) {
	p.rec.Restarts++
	p.rec.Error = ""
	p.before = p.renew()
	c.leases.claim(p)
	p.rec.After = e.after
	c.become(p, api.StateWaiting)
	wakeSoon(c)
}

// goOnWaiting is what a new engine does with what waits: it looks once all records are
// in the table.
func goOnWaiting(c *Control, _ *proc, _ event) { wakeSoon(c) }

// stopUnstarted calls off a start that waits.
func stopUnstarted(c *Control, p *proc, e event) {
	p.await(e.reply, api.State.Ended)
	p.rec.Desired, p.rec.EndedBy = desiredStopped, e.by
	c.become(p, api.StateStopped)
}
