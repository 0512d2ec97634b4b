// Package usage measures the CPU time, memory and ports of sessions and processes, and finds programs
// left running by exited ones.
package usage

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/base/sleep"
	"tandem/engine/control/supervise"
	"tandem/engine/system/proctree"
	"tandem/engine/system/pty"
	"tandem/persist/store"
)

const (
	// sampleInterval is the time between two samples. If no process has run
	// since the last sample, it is idleSampleInterval. With 3,000 idle processes, a sample takes
	// about 25 ms.
	sampleInterval     = 5 * time.Second
	idleSampleInterval = 15 * time.Second
	// exitGrace is how long the children of an exited command may take to exit too. After that they
	// are reported as left running.
	exitGrace = 50 * time.Millisecond
)

// A Meter measures the usage of processes. It also takes samples in the background, so a reader gets
// a history.
type Meter struct {
	processes func(context.Context) ([]supervise.Measurable, error)
	table     *proctree.Table
	dataDir   string
	meter     *proctree.Meter
}

// NewMeter returns the meter of the processes that the function processes returns. dataDir is the data
// folder, part of the mark in their environment.
func NewMeter(processes func(context.Context) ([]supervise.Measurable, error), table *proctree.Table, dataDir string) *Meter {
	return &Meter{processes: processes, table: table, dataDir: dataDir, meter: proctree.NewMeter()}
}

// Sample samples until ctx ends.
func (u *Meter) Sample(ctx context.Context) {
	next := time.NewTimer(sampleInterval)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		all, err := u.processes(ctx)
		if err != nil {
			return // the engine is exiting
		}
		// While nothing runs, samples would cost time and show nothing new.
		if u.meter.Sample(u.processTrees(all)) {
			next.Reset(sampleInterval)
		} else {
			next.Reset(idleSampleInterval)
		}
	}
}

// Measure adds the usage of each process, including programs left running by exited ones.
func (u *Meter) Measure(all []supervise.Measurable) {
	ids := idsOf(all)
	withRemains := func(procs []proctree.Process) map[int]store.Identity {
		marked := u.table.Orphans(procs)
		for i, who := range u.findRemains(all, procs, marked) {
			all[i].Who, ids[i] = who, who
		}
		return u.orphans(all, marked)
	}
	for i, use := range u.meter.Measure(ids, withRemains) {
		if use != nil && isInputSilent(all[i].View) {
			use.WaitsForInput = pty.AwaitsInput(all[i].View.PID)
		}
		all[i].View.Metrics = use
	}
	u.addLeftPIDs(all)
}

// addLeftPIDs adds the PIDs of programs left running by exited processes.
func (u *Meter) addLeftPIDs(all []supervise.Measurable) {
	if !slices.ContainsFunc(all, func(m supervise.Measurable) bool { return m.View.HasRemains() }) {
		return
	}
	table, err := u.table.Read()
	if err != nil {
		return
	}
	for _, m := range all {
		if m.View.HasRemains() {
			m.View.Metrics.LeftPIDs = table.WithMark(u.markOf(m.View.ID))
		}
	}
}

func (u *Meter) markOf(id string) proctree.Mark { return proctree.Mark{ID: id, DataDir: u.dataDir} }

// MeasureOne returns a process with its usage.
func (u *Meter) MeasureOne(e supervise.Entry) api.Process {
	one := []supervise.Measurable{supervise.MeasurableOf(e.Rec, e.View)}
	u.Measure(one)
	return one[0].View
}

// isInputSilent reports whether a process runs with an open standard input to which nobody writes.
func isInputSilent(p api.Process) bool {
	return p.State == api.StateRunning && p.Terminal == nil && p.Supervision != nil && !p.Supervision.Stdin && !p.Supervision.NoStdin
}

// FindLeft returns the programs left running by a process after its exit, if they are still there
// after exitGrace.
func (u *Meter) FindLeft(ctx context.Context, p api.Process) []int {
	// During a long run, pids may have wrapped around.
	if p.LastPID == 0 || RunTime(p) < time.Second && !proctree.MayHaveLeft(p.LastPID, u.markOf(p.ID)) {
		return nil
	}
	table, err := u.table.Read()
	if err != nil || len(table.WithMark(u.markOf(p.ID))) == 0 || sleep.For(ctx, exitGrace) != nil {
		return nil
	}
	if table, err = u.table.Read(); err != nil {
		return nil
	}
	return table.WithMark(u.markOf(p.ID))
}

// IsListening reports whether a process or its descendants listen on a TCP port.
func (u *Meter) IsListening(m supervise.Measurable, port int) bool {
	// Listing all listeners takes less time than measuring a process tree.
	if !proctree.HasListener(port) {
		return false
	}
	one := []supervise.Measurable{m}
	u.Measure(one)
	return hasPort(one[0], port)
}

func hasPort(m supervise.Measurable, port int) bool {
	return m.View.Metrics != nil && slices.Contains(m.View.Metrics.Ports, port)
}

// PortHolder returns the name of the program listening on a TCP port. It returns "" if there is none,
// or if it is the process with this id.
func (u *Meter) PortHolder(ctx context.Context, id string, port int) string {
	if !proctree.HasListener(port) {
		return ""
	}
	all, err := u.processes(ctx)
	if err != nil {
		return ""
	}
	u.Measure(all)
	for _, m := range all {
		switch {
		case !hasPort(m, port):
		case m.View.ID == id:
			return ""
		default:
			return fmt.Sprintf("%s (%s)", m.View.Name, m.View.ID)
		}
	}
	// None of ours: search all processes of this user.
	program, pid := proctree.PortHolder(port)
	if pid == 0 {
		return "another user's program"
	}
	return fmt.Sprintf("%s (pid %d)", names.Shown(program), pid)
}

// processTrees returns the root of each process tree, and a function mapping orphans to their roots.
func (u *Meter) processTrees(all []supervise.Measurable) ([]store.Identity, func([]proctree.Process) map[int]store.Identity) {
	return idsOf(all), func(procs []proctree.Process) map[int]store.Identity { return u.orphans(all, u.table.Orphans(procs)) }
}

func idsOf(all []supervise.Measurable) []store.Identity {
	ids := make([]store.Identity, len(all))
	for i, m := range all {
		ids[i] = m.Who
	}
	return ids
}

// findRemains returns, for each exited process, a program left running by it. The keys are indexes
// in all.
func (u *Meter) findRemains(all []supervise.Measurable, procs []proctree.Process, marked map[proctree.Mark][]int) map[int]store.Identity {
	boot, err := store.BootID()
	if err != nil {
		return nil
	}
	starts := map[int]uint64{}
	for _, p := range procs {
		if !p.IsZombie() {
			starts[p.PID] = p.StartTime
		}
	}
	found := map[int]store.Identity{}
	for i, m := range all {
		if m.Who.PID != 0 || m.View.Terminal != nil {
			continue
		}
		for _, pid := range marked[u.markOf(m.View.ID)] {
			if start, ok := starts[pid]; ok {
				found[i] = store.Identity{BootID: boot, PID: pid, StartTime: start}
				break
			}
		}
	}
	return found
}

// orphans maps the PIDs of orphans to the child whose mark they carry. Sessions are left out,
// because programs detached from a terminal count neither for its end nor for its usage.
func (u *Meter) orphans(all []supervise.Measurable, marked map[proctree.Mark][]int) map[int]store.Identity {
	orphans := make(map[int]store.Identity)
	for _, m := range all {
		if m.Who.PID == 0 || m.View.Terminal != nil {
			continue
		}
		for _, pid := range marked[u.markOf(m.View.ID)] {
			orphans[pid] = m.Who
		}
	}
	return orphans
}

// RunTime returns how long a process ran, or has been running.
func RunTime(p api.Process) time.Duration {
	if p.ExitedAt != nil {
		return max(p.ExitedAt.Sub(p.StartedAt), 0)
	}
	return time.Since(p.StartedAt)
}
