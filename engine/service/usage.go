package service

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/names"
	"tandem/engine/proctree"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

const (
	// sampleEvery is the time between samples of what processes use, and restEvery the time
	// to the next sample if none has run since the last one. With 3,000 idle processes a
	// sample takes about 25 ms.
	sampleEvery = 5 * time.Second
	restEvery   = 15 * time.Second
)

// Usage is what processes use. It is measured when somebody asks, and now and then
// all the time, so that whoever looks sees how it went before.
type Usage struct {
	processes func(context.Context) ([]supervise.Measurable, error)
	table     *proctree.Table
	dataDir   string
	meter     *proctree.Meter
}

// NewUsage measures the processes of an engine.
func NewUsage(processes func(context.Context) ([]supervise.Measurable, error), table *proctree.Table, dataDir string) *Usage {
	return &Usage{processes: processes, table: table, dataDir: dataDir, meter: proctree.NewMeter()}
}

// Sample samples until ctx ends.
func (u *Usage) Sample(ctx context.Context) {
	next := time.NewTimer(sampleEvery)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		all, err := u.processes(ctx)
		if err != nil {
			return // the engine ends
		}
		if u.meter.Sample(u.trees(all)) {
			next.Reset(sampleEvery)
		} else {
			next.Reset(restEvery)
		}
	}
}

// measure adds the usage of processes, including that of orphans left by exited ones.
func (u *Usage) measure(all []supervise.Measurable) {
	ids := idsOf(all)
	withRemains := func(procs []proctree.Process) map[int]store.Identity {
		marked := u.table.Orphans(procs)
		for i, who := range u.remains(all, procs, marked) {
			all[i].Who, ids[i] = who, who
		}
		return u.strays(all, marked)
	}
	for i, use := range u.meter.Measure(ids, withRemains) {
		all[i].View.Metrics = use
	}
}

// left returns how many processes started by an exited process are still running. Most leave none,
// and then the process group is gone, which is quick to check.
func (u *Usage) left(p api.Process) int {
	if p.LastPID == 0 || !proctree.HasGroup(p.LastPID) {
		return 0
	}
	one := []supervise.Measurable{{View: p}}
	u.measure(one)
	if use := one[0].View.Metrics; use != nil {
		return use.Processes
	}
	return 0
}

// listens reports whether a process, or what it has started, listens on a TCP port.
func (u *Usage) listens(m supervise.Measurable, port int) bool {
	if !proctree.HasListener(port) {
		return false
	}
	one := []supervise.Measurable{m}
	u.measure(one)
	return hasPort(one[0], port)
}

func hasPort(m supervise.Measurable, port int) bool {
	return m.View.Metrics != nil && slices.Contains(m.View.Metrics.Ports, port)
}

// portHolder names what listens on a TCP port instead of the process id; "" if nothing does.
func (u *Usage) portHolder(ctx context.Context, id string, port int) string {
	if !proctree.HasListener(port) {
		return ""
	}
	all, err := u.processes(ctx)
	if err != nil {
		return ""
	}
	u.measure(all)
	for _, m := range all {
		switch {
		case !hasPort(m, port):
		case m.View.ID == id:
			return ""
		default:
			return fmt.Sprintf("%s (%s)", m.View.Name, m.View.ID)
		}
	}
	program, pid := proctree.PortHolder(port)
	if pid == 0 {
		return "another user's program"
	}
	return fmt.Sprintf("%s (pid %d)", names.Shown(program), pid)
}

// trees are the roots of processes, and what finds their orphans.
func (u *Usage) trees(all []supervise.Measurable) ([]store.Identity, func([]proctree.Process) map[int]store.Identity) {
	return idsOf(all), func(procs []proctree.Process) map[int]store.Identity { return u.strays(all, u.table.Orphans(procs)) }
}

func idsOf(all []supervise.Measurable) []store.Identity {
	ids := make([]store.Identity, len(all))
	for i, m := range all {
		ids[i] = m.Who
	}
	return ids
}

// remains returns the first living orphan of each exited process that left any, by its index in all.
func (u *Usage) remains(all []supervise.Measurable, procs []proctree.Process, marked map[proctree.Mark][]int) map[int]store.Identity {
	boot, err := store.BootID()
	if err != nil {
		return nil
	}
	starts := map[int]uint64{}
	for _, p := range procs {
		if !p.Zombie {
			starts[p.PID] = p.StartTime
		}
	}
	found := map[int]store.Identity{}
	for i, m := range all {
		if m.Who.PID != 0 || m.View.Terminal != nil {
			continue
		}
		for _, pid := range marked[proctree.Mark{ID: m.View.ID, DataDir: u.dataDir}] {
			if start, ok := starts[pid]; ok {
				found[i] = store.Identity{BootID: boot, PID: pid, StartTime: start}
				break
			}
		}
	}
	return found
}

// strays are the orphans that carry the marks of processes, with the children
// of those. Like the end of a terminal, its metrics leave alone what has left it
// for good.
func (u *Usage) strays(all []supervise.Measurable, marked map[proctree.Mark][]int) map[int]store.Identity {
	strays := make(map[int]store.Identity)
	for _, m := range all {
		if m.Who.PID == 0 || m.View.Terminal != nil {
			continue
		}
		for _, pid := range marked[proctree.Mark{ID: m.View.ID, DataDir: u.dataDir}] {
			strays[pid] = m.Who
		}
	}
	return strays
}
