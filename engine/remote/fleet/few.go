package fleet

import (
	"context"
	"maps"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
)

// MaxFew is the size up to which all machines of a fleet are listed like those of config.toml, with
// a connection from each dashboard.
const MaxFew = 32

// watchInterval is how often to check for machines that went offline.
const watchInterval = time.Second

// listFew returns all machines of a small fleet, or the selected ones of a large one.
func (p *Person) listFew() []api.Machine {
	connected := p.State() == nil
	p.view.mu.Lock()
	defer p.view.mu.Unlock()
	names := slices.Sorted(maps.Keys(p.view.hosts))
	if len(names) > MaxFew {
		names = slices.Sorted(slices.Values(p.selected))
	}
	var list []api.Machine
	for _, name := range names {
		if h, ok := p.view.hosts[name]; ok {
			list = append(list, toMachine(h.toFleetMachine(connected)))
		}
	}
	return list
}

// summarize returns the totals of a large fleet; nil for a small one.
func (p *Person) summarize() *api.FleetSummary {
	connected := p.State() == nil
	p.view.mu.Lock()
	defer p.view.mu.Unlock()
	if len(p.view.hosts) <= MaxFew {
		return nil
	}
	s := &api.FleetSummary{Machines: len(p.view.hosts)}
	for _, h := range p.view.hosts {
		if h.toFleetMachine(connected).State == api.FleetAway {
			s.Away++
		}
	}
	return s
}

// selectMachine lists a machine of a large fleet like those of config.toml, or stops listing it. If
// too many are selected, the oldest is dropped.
func (p *Person) selectMachine(name string, on bool) (m api.Machine, known bool) {
	connected := p.State() == nil
	p.view.mu.Lock()
	defer p.view.mu.Unlock()
	h, known := p.view.hosts[name]
	if !known {
		return m, false
	}
	p.selected = slices.DeleteFunc(p.selected, func(other string) bool { return other == name })
	if on {
		p.selected = append(p.selected, name)
		p.selected = p.selected[max(len(p.selected)-MaxFew, 0):]
	}
	p.view.wakeWaiters()
	return toMachine(h.toFleetMachine(connected)), true
}

// toMachine converts a machine to the form used for those of config.toml.
func toMachine(m api.FleetMachine) api.Machine {
	l := api.Machine{Name: m.Name, State: api.MachineConnected, Version: m.Version, Target: "the fleet", Fleet: true, RTTMS: m.RTTMS}
	if m.State == api.FleetAway {
		seen := m.LastSeen
		l.State, l.LastSeen, l.Error = api.MachineAway, &seen, "the hub receives nothing from it"
	}
	return l
}

// watchChanges reports changes until ctx is done.
func (p *Person) watchChanges(ctx context.Context) {
	reported := map[string]api.Machine{}
	var summary api.FleetSummary
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		now := map[string]api.Machine{}
		for _, m := range p.listFew() {
			now[m.Name] = m
			if old, known := reported[m.Name]; !known || old.State != m.State || old.Version != m.Version {
				p.notify(&m)
			}
		}
		for name, m := range reported {
			if _, ok := now[name]; !ok {
				m.State, m.Error = api.MachineAway, "it is no longer shown"
				p.notify(&m)
			}
		}
		s := api.FleetSummary{}
		if many := p.summarize(); many != nil {
			s = *many
		}
		if s != summary {
			summary = s
			p.notify(nil)
		}
		reported = now
		p.view.mu.Lock()
		changed := p.view.changed
		p.view.mu.Unlock()
		select {
		case <-tick.C:
		case <-changed:
			if sleep.For(ctx, batchTime) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
