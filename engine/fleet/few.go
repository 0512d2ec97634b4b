package fleet

import (
	"context"
	"maps"
	"slices"
	"time"

	"tandem/engine/api"
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
	if len(p.view.hosts) > MostFew {
		return nil
	}
	var list []api.Machine
	for _, name := range slices.Sorted(maps.Keys(p.view.hosts)) {
		list = append(list, linked(p.view.hosts[name].told(connected)))
	}
	return list
}

// linked is a machine as a link would tell of it.
func linked(m api.FleetMachine) api.Machine {
	l := api.Machine{Name: m.Name, State: api.MachineConnected, Version: m.Version, Target: "the fleet"}
	if m.State == api.FleetAway {
		seen := m.LastSeen
		l.State, l.LastSeen, l.Error = api.MachineAway, &seen, "the hub does not hear from it"
	}
	return l
}

// watch tells of changes until ctx ends.
func (p *Person) watch(ctx context.Context) {
	told := map[string]api.Machine{}
	tick := time.NewTicker(watchStep)
	defer tick.Stop()
	for {
		now := map[string]api.Machine{}
		for _, m := range p.few() {
			now[m.Name] = m
			if was, known := told[m.Name]; !known || was.State != m.State || was.Version != m.Version {
				p.tell(m)
			}
		}
		for name, m := range told {
			if _, there := now[name]; !there {
				m.State, m.Error = api.MachineAway, "the fleet has it no more"
				p.tell(m)
			}
		}
		told = now
		p.view.mu.Lock()
		changed := p.view.changed
		p.view.mu.Unlock()
		select {
		case <-tick.C:
		case <-changed:
			if !sleep(ctx, settle) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
