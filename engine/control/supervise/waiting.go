package supervise

import (
	"fmt"
	"slices"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/persist/store"
)

// A process with dependencies waits in the engine, not in its client. Its record lists the
// dependencies that are not met yet, so a new engine goes on waiting for them.

// waiting holds back processes whose dependencies are not met yet.
type waiting struct {
	reg      *registry
	queued   bool                              // a check of waiting processes is queued
	spawnNow func(p *proc, before Predecessor) // spawns a child
	claimRun func(p *proc)                     // makes a new run its client's own
}

// resolveDependencies finds the processes to be waited for by the process id. Like a call that
// changes something, asked must contain whole names or ids.
func (ps processes) resolveDependencies(asked []store.Dependency, id string) ([]store.Dependency, error) {
	var found []store.Dependency
	for _, d := range asked {
		on, err := ps.findAmong(isKnownOrNew, d.ID, nil, true)
		if err != nil {
			return nil, err
		}
		switch {
		case on.rec.ID == id:
			return nil, api.Errorf(api.CodeInvalid, "start %s: it cannot wait for itself", on.rec.Name)
		case ps.waitsFor(on, id):
			return nil, api.Errorf(api.CodeInvalid, "wait for %s: it is waiting for this process", on.rec.Name)
		}
		found = append(found, store.Dependency{ID: on.rec.ID, Name: on.rec.Name, Condition: d.Condition})
	}
	return found, nil
}

// waitsFor reports whether p waits for the process with this id, directly or through others.
func (ps processes) waitsFor(p *proc, id string) bool {
	return p.state() == api.StateWaiting && slices.ContainsFunc(p.rec.After, func(d store.Dependency) bool {
		on := ps[d.ID]
		return d.ID == id || on != nil && ps.waitsFor(on, id)
	})
}

// DependenciesOf checks the dependencies given by a client and converts them to the form in
// records.
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

// wakeSoon queues one check of all waiting processes, for all changes of this moment.
func (w *waiting) wakeSoon() {
	if w.queued {
		return
	}
	w.queued = true
	w.reg.box.Post(func() {
		w.queued = false
		// Begin with the oldest, so that processes start in the order of their requests.
		for _, p := range w.reg.procs.selectOldestFirst(func(p *proc) bool { return p.state() == api.StateWaiting }) {
			w.reg.handle(p.rec.ID, event{kind: evDue})
		}
	})
}

// checkDependencies starts a waiting process once its last dependency is met. If a dependency can
// no longer be met, the process fails. A condition that was met once stays met.
func (w *waiting) checkDependencies(p *proc, _ event) {
	var left []store.Dependency
	for _, d := range p.rec.After {
		switch holds, obstacle := checkDependency(w.reg.procs[d.ID], d); {
		case obstacle != "":
			p.rec.Error = obstacle
			w.reg.setState(p, api.StateFailed)
			return
		case !holds:
			left = append(left, d)
		}
	}
	switch {
	case len(left) == 0 && !w.reg.closing:
		w.startWaiting(p)
	case len(left) < len(p.rec.After) && len(left) > 0:
		p.rec.After = left
		w.reg.saveChange(p)
	}
}

// checkDependency reports whether process p meets the dependency d. obstacle says why it never can.
// p is nil if the process was removed.
func checkDependency(p *proc, d store.Dependency) (holds bool, obstacle string) {
	if p == nil {
		return false, fmt.Sprintf("%s was removed before it %s", d.Name, conditionPhrase(d))
	}
	state, done := p.state(), p.state().Ended() || p.state() == api.StateBackoff
	switch api.Condition(d.Condition) {
	case api.ConditionStarted:
		holds = p.rec.Identity != nil && state != api.StateStarting
	case api.ConditionCompleted:
		holds = done && p.rec.Identity != nil
	case api.ConditionSucceeded:
		holds = done && p.ending != nil && isSuccess(p.rec.Restart, p.ending.Exit)
	default:
		holds = p.isReady()
	}
	if holds || !state.Ended() {
		return holds, ""
	}
	return false, fmt.Sprintf("%s %s", d.Name, p.describeShortfall(d))
}

// conditionPhrase returns the condition of a dependency as words.
func conditionPhrase(d store.Dependency) string {
	switch api.Condition(d.Condition) {
	case api.ConditionStarted:
		return "was started"
	case api.ConditionCompleted, api.ConditionSucceeded:
		return "had completed"
	}
	return "was ready"
}

// describeShortfall describes how a process ended without meeting the dependency d.
func (p *proc) describeShortfall(d store.Dependency) string {
	before := " before it " + conditionPhrase(d)
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

// startWaiting starts a process whose wait is over.
func (w *waiting) startWaiting(p *proc) {
	before := p.predecessor
	if now := p.releaseRun(); now.Live != nil { // a viewer had opened the previous screen
		before.Live = now.Live
	}
	p.predecessor, p.rec.After = Predecessor{}, nil
	w.spawnNow(p, before)
}

// restartWaiting starts a waiting process at once, or gives it other dependencies to wait for.
func (w *waiting) restartWaiting(p *proc, e event) {
	switch {
	case w.reg.closing:
		e.answer(outcome{err: api.ErrEnding()})
	case len(e.after) > 0:
		p.rec.After = slices.Clone(e.after)
		p.acceptRestart(e)
		w.reg.saveChange(p)
		w.wakeSoon()
	default:
		p.acceptRestart(e)
		w.startWaiting(p)
	}
}

// waitForNextRun makes an ended process wait for its dependencies before its next start.
func (w *waiting) waitForNextRun(p *proc, e event) {
	p.rec.Restarts++
	p.rec.Error = ""
	p.predecessor = p.prepareNextRun(e)
	w.claimRun(p)
	p.rec.After = e.after
	w.reg.setState(p, api.StateWaiting)
	w.wakeSoon()
}

// resumeWaiting lets a process go on waiting after a start of the engine. The check is queued,
// because the table is still being filled.
func (w *waiting) resumeWaiting(*proc, event) { w.wakeSoon() }

// stopWaiting cancels a start that is waiting.
func (w *waiting) stopWaiting(p *proc, e event) {
	p.addWaiter(e.reply, api.State.Ended)
	p.rec.Desired, p.rec.EndedBy = desiredStopped, e.by
	w.reg.setState(p, api.StateStopped)
}
