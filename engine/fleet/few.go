package fleet

import (
	"context"
	"maps"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/sleep"
)

// MostFew is up to how many machines of a fleet are shown as those of config.toml are:
// dashboards keep a connection to each.
const MostFew = 32

// watchStep is how soon it is told at the latest that a machine is away.
const watchStep = time.Second

// few are the machines, if they are few.
func (p *Person) few() []api.Machine {
	connected := p.State() == nil
	p.view.mu.Lock()
	defer p.view.mu.Unlock()
	names := slices.Sorted(maps.Keys(p.view.hosts))
	if len(names) > MostFew {
		names = slices.Sorted(slices.Values(p.opened))
	}
	var list []api.Machine
	for _, name := range names {
		if h, ok := p.view.hosts[name]; ok {
			list = append(list, linked(h.told(connected)))
		}
	}
	return list
}

// summary is a fleet of many machines; nil for one of few.
func (p *Person) summary() *api.FleetSummary {
	connected := p.State() == nil
	p.view.mu.Lock()
	defer p.view.mu.Unlock()
	if len(p.view.hosts) <= MostFew {
		return nil
	}
	s := &api.FleetSummary{Machines: len(p.view.hosts)}
	for _, h := range p.view.hosts {
		m := h.told(connected)
		if m.State == api.FleetAway {
			s.Away++
			continue
		}
		s.Processes += m.Processes
		s.Failed += m.Failed
	}
	return s
}

// show has a machine of many shown as those of config.toml are, or no more. One that
// was shown for long goes when they become too many.
func (p *Person) show(name string, on bool) (m api.Machine, known bool) {
	connected := p.State() == nil
	p.view.mu.Lock()
	defer p.view.mu.Unlock()
	h, known := p.view.hosts[name]
	if !known {
		return m, false
	}
	p.opened = slices.DeleteFunc(p.opened, func(other string) bool { return other == name })
	if on {
		p.opened = append(p.opened, name)
		p.opened = p.opened[max(len(p.opened)-MostFew, 0):]
	}
	p.view.tell()
	return linked(h.told(connected)), true
}

// linked is a machine as a link would tell of it.
func linked(m api.FleetMachine) api.Machine {
	l := api.Machine{Name: m.Name, State: api.MachineConnected, Version: m.Version, Target: "the fleet", Fleet: true, RTTMS: m.RTTMS}
	if m.State == api.FleetAway {
		seen := m.LastSeen
		l.State, l.LastSeen, l.Error = api.MachineAway, &seen, "the hub receives nothing from it"
	}
	return l
}

// watch tells of changes until ctx ends.
func (p *Person) watch(ctx context.Context) {
	told := map[string]api.Machine{}
	var many api.FleetSummary
	tick := time.NewTicker(watchStep)
	defer tick.Stop()
	for {
		now := map[string]api.Machine{}
		for _, m := range p.few() {
			now[m.Name] = m
			if was, known := told[m.Name]; !known || was.State != m.State || was.Version != m.Version {
				p.tell(&m)
			}
		}
		for name, m := range told {
			if _, there := now[name]; !there {
				m.State, m.Error = api.MachineAway, "it is no longer shown"
				p.tell(&m)
			}
		}
		s := api.FleetSummary{}
		if n := p.summary(); n != nil {
			s.Machines, s.Away = n.Machines, n.Away
		}
		if s != many {
			many = s
			p.tell(nil)
		}
		told = now
		p.view.mu.Lock()
		changed := p.view.changed
		p.view.mu.Unlock()
		select {
		case <-tick.C:
		case <-changed:
			if sleep.For(ctx, settle) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
