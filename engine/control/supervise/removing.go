package supervise

import (
	"tandem/engine/api"
	"tandem/persist/store"
)

func refuseRunning(p *proc, e event) {
	e.answer(outcome{err: ErrRunning(p.rec)})
}

// ErrRunning returns the error for removing a process while it, or a program that it started, is
// running.
func ErrRunning(r store.Record) error {
	return api.Errorf(api.CodeConflict, "remove %s: still running", r.Name).WithHint("stop it first: `tandem stop " + r.Name + "`")
}

// removeOnceStopped puts off the removal until the process is stopped.
func removeOnceStopped(p *proc, e event) {
	if p.rec.Desired != desiredStopped {
		e.answer(outcome{err: ErrRunning(p.rec)})
		return
	}
	p.removals = append(p.removals, e.reply)
}

func (s *stopping) removeStopped(p *proc) {
	for _, reply := range p.removals {
		id := p.rec.ID
		s.reg.box.Post(func() { s.reg.handle(id, event{kind: evRemove, reply: reply}) })
	}
	p.removals = nil
}

func (p *proc) failRemovals(err error) {
	for _, reply := range p.removals {
		event{reply: reply}.answer(outcome{err: err})
	}
	p.removals = nil
}

// removeEnded deletes a process from disk and table.
func (s *stopping) removeEnded(p *proc, e event) {
	p.addWaiter(e.reply, noState)
	if p.removing {
		return
	}
	p.removing = true
	s.deleteProcess(p)
}

func noState(api.State) bool { return false }

// deleteProcess removes a process from disk, then from the table, and then announces its removal.
func (s *stopping) deleteProcess(p *proc) {
	p.disarm()
	p.stopBounding()
	p.closeSession()
	id, durable := p.rec.ID, p.startsAtBoot()
	s.reg.effects.addJob(&p.work, &s.reg.effects.writes, func() {
		err := s.reg.executor.Remove(id, durable)
		s.reg.box.Post(func() { s.finishDelete(p, err) })
	})
}

func (s *stopping) finishDelete(p *proc, err error) {
	p.removing = false
	if err != nil {
		p.failWaiters(err)
		// After a failed first start the process was never announced, so it must not keep its id.
		if p.view.ID == "" {
			p.rec.NeverStarted = true
			s.reg.setState(p, api.StateFailed)
			p.updateShared()
		}
		return
	}
	for _, w := range p.waiters {
		w.reply <- outcome{process: p.view}
	}
	p.waiters = nil
	delete(s.reg.procs, p.rec.ID)
	s.wakeWaiting()
	if p.view.ID != "" {
		s.reg.hub.Publish(api.Event{Type: api.EventRemoved, ID: p.rec.ID}, p.rec.Transient)
	}
}
