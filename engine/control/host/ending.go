package host

import (
	"context"
	"errors"
	"os"

	"tandem/engine/base/names"
	"tandem/engine/base/panics"
	"tandem/engine/control/supervise"
	"tandem/engine/system/proctree"
	"tandem/persist/store"
)

// treeOf returns the process tree of a record's child. Programs detached from an interactive shell
// are not part of it, because the user may want them to keep running. aliveUntil is when the child
// was last known to exist, in clock ticks since boot.
func (h *Host) treeOf(r store.Record, aliveUntil uint64) *proctree.Tree {
	t := proctree.NewTree(*r.Identity, os.Getpid(), h.Link.PID())
	t.Held, t.Cgroup = aliveUntil, r.Cgroup
	if !r.Sandboxed && !supervise.IsFromAgent(r) { // an agent's program could pose as another keeper
		t.DataDir = h.o.DataDir
	}
	if !r.TTY || !names.IsPlainShell(r.Argv) {
		t.Mark = proctree.Mark{ID: r.ID, DataDir: h.o.DataDir}
	}
	return t
}

// CgroupOf returns the cgroup for a record's child. It returns "" for an interactive shell, because
// programs started from it may be meant to outlive it.
func (h *Host) CgroupOf(r store.Record) string {
	if r.TTY && names.IsPlainShell(r.Argv) {
		return ""
	}
	return proctree.CgroupFor(h.Launcher.Cgroups.Prefix, r.ID)
}

// StopTree implements supervise.Executor.
func (h *Host) StopTree(ctx context.Context, r store.Record, aliveUntil uint64, signal string) error {
	if h.Link.PID() == 0 { // without a keeper, exits go unreported
		aliveUntil = 0
	}
	return h.treeOf(r, aliveUntil).End(ctx, &h.Table, stopSteps(r, signal))
}

// StopRemains implements supervise.Executor.
func (h *Host) StopRemains(ctx context.Context, records []store.Record, signal string) (int, error) {
	left, err := h.livingRemains(records)
	if err != nil {
		return 0, err
	}
	failed := make(chan error, len(left))
	caught := make(chan *panics.Caught, len(left))
	for r, t := range left {
		h.log.Info("kill programs left running by an exited process", "id", r.ID, "name", r.Name)
		go func() {
			var err error
			caught <- panics.Catch(func() { err = t.End(ctx, &h.Table, stopSteps(*r, signal)) })
			failed <- err
		}()
	}
	// Raise a worker's panic in this goroutine, because the caller recovers it.
	for range left {
		(<-caught).Raise()
		err = errors.Join(err, <-failed)
	}
	return len(left), err
}

// HaveRemains implements supervise.Executor.
func (h *Host) HaveRemains(records []store.Record) (map[string]bool, error) {
	left, err := h.livingRemains(records)
	ids := make(map[string]bool)
	for r := range left {
		ids[r.ID] = true
	}
	return ids, err
}

// livingRemains returns the trees of exited children in which a process is still running. Only
// processes with the record's mark count, because the PID of the child may have been reused.
func (h *Host) livingRemains(records []store.Record) (map[*store.Record]*proctree.Tree, error) {
	all, err := h.Table.Read()
	if err != nil {
		return nil, err
	}
	left := make(map[*store.Record]*proctree.Tree)
	for i := range records {
		r := &records[i]
		if r.Identity == nil || r.Identity.BootID != h.bootID {
			continue
		}
		if t := h.treeOf(*r, 0); t.Lives(all) {
			left[r] = t
		}
	}
	return left, nil
}
