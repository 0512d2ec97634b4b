package engine

import (
	"context"
	"errors"
	"os"

	"tandem/engine/names"
	"tandem/engine/panics"
	"tandem/engine/proctree"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

// treeOf is a record's child and all that came of it. What somebody has started
// from a shell may have left that for good, as a person's daemons do. held is
// until when the child is known to have been there, in clock ticks since boot.
func (h *host) treeOf(r store.Record, held uint64) *proctree.Tree {
	t := proctree.NewTree(*r.Identity, os.Getpid(), h.link.pid())
	t.Held, t.Cgroup = held, r.Cgroup
	if !r.Sandboxed && !supervise.IsFromAgent(r) { // an agent's program could pose as another keeper
		t.DataDir = h.o.DataDir
	}
	if !r.TTY || !names.IsPlainShell(r.Argv) {
		t.Mark = proctree.Mark{ID: r.ID, DataDir: h.o.DataDir}
	}
	return t
}

// EndTree ends a record's child and all that came of it.
func (h *host) StopTree(ctx context.Context, r store.Record, held uint64, signal string) error {
	if h.link.pid() == 0 { // without a keeper nobody tells of an end
		held = 0
	}
	return h.treeOf(r, held).End(ctx, &h.table, stepsOf(r, signal))
}

// EndRemains ends what records whose child has ended left running, and gives
// how many of them had left something. Only processes with their mark are
// theirs: the pid of a child that has ended may have been reused.
func (h *host) StopRemains(ctx context.Context, records []store.Record, signal string) (int, error) {
	boot, err := store.BootID()
	if err != nil {
		return 0, err
	}
	all, err := h.table.Read()
	if err != nil {
		return 0, err
	}
	n, failed := 0, make(chan error, len(records))
	caught := make(chan *panics.Caught, len(records))
	for _, r := range records {
		if r.Identity == nil || r.Identity.BootID != boot {
			continue
		}
		t := h.treeOf(r, 0)
		if !t.Lives(all) {
			continue
		}
		n++
		h.log.Info("kill what an exited process left behind", "id", r.ID, "name", r.Name)
		go func() {
			var err error
			caught <- panics.Catch(func() { err = t.End(ctx, &h.table, stepsOf(r, signal)) })
			failed <- err
		}()
	}
	for range n {
		(<-caught).Raise()
		err = errors.Join(err, <-failed)
	}
	return n, err
}
