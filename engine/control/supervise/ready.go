package supervise

import (
	"context"

	"tandem/engine/api"
	"tandem/engine/system/keeper"
)

// probeReadiness starts the readiness check of a running child.
func (s *starting) probeReadiness(p *proc, child keeper.Child) {
	if p.rec.Ready == nil || p.rec.WasReady {
		return
	}
	ctx, cancel := context.WithCancel(s.reg.ctx)
	p.cancelProbe = cancel
	rec := p.rec
	s.reg.effects.runBlocking(func() {
		defer cancel()
		err := s.reg.observer.Probe(ctx, rec)
		switch {
		// The child exited or is being stopped, so nobody needs its readiness any more.
		case ctx.Err() != nil:
		case err != nil:
			s.reg.post(rec.ID, event{kind: evUnready, Launch: Launch{Child: child}, err: err})
		default:
			s.reg.post(rec.ID, event{kind: evReady, Launch: Launch{Child: child}})
		}
	})
}

// noteReady records a successful readiness check.
func (s *starting) noteReady(p *proc, e event) {
	if !isSameChild(p.rec.Identity, e.Child) || p.rec.WasReady {
		return
	}
	p.rec.WasReady = true
	s.reg.saveChange(p)
}

// stopUnready stops a child that was not ready in time. Its restart policy decides whether it is
// started again.
func (s *starting) stopUnready(p *proc, e event) {
	if !isSameChild(p.rec.Identity, e.Child) || p.ending != nil {
		return
	}
	p.stop.fault = e.err.Error()
	p.rec.Error = p.stop.fault
	s.reg.publishNotice(p.rec.Name + ": " + p.stop.fault)
	s.reg.setState(p, api.StateStopping)
	s.runs.stopTree(p)
}
