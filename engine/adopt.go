package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/engine/names"
	"tandem/engine/proctree"
	"tandem/persist/store"
)

// problemsTold is how many damaged records a person is told of; the log has all.
const problemsTold = 20

// takeStock gathers what there is and fills the control's table with it. It
// runs before the control goroutine does.
func (h *host) takeStock(ctx context.Context, c *control, client keeperClient) error {
	children, err := client.List(ctx)
	if err != nil {
		return fmt.Errorf("list children: %w", err)
	}
	records, problems := h.store.Load()
	for _, p := range problems {
		h.log.Error("load record", "error", p)
		h.problems = append(h.problems, p.Error())
	}
	h.problems = h.problems[:min(len(h.problems), problemsTold)]
	look := sync.OnceValue(func() *proctree.Snapshot { return h.lookForStarted(ctx) })
	s := survey{
		bootID:   h.bootID,
		records:  records,
		children: children,
		exit:     h.pastExit,
		alive:    store.Identity.Alive,
		orphan:   func(r store.Record) (store.Identity, bool) { return h.orphanOf(r, look()) },
		guess:    guessRecord,
	}
	all, forget := s.plan()
	all = append(all, s.unrecorded(h.markedFolders(look()))...)
	masters := h.fetchMasters(ctx, client, all)
	for i, f := range all {
		if api.State(f.rec.State).Ended() {
			proctree.DropCgroup(f.rec.Cgroup) // an engine before may not have come to it
		}
		h.readmit(&f)
		if err := h.place(ctx, c, client, f, masters[i]); err != nil {
			return err
		}
	}
	for _, id := range forget {
		if err := client.Forget(ctx, id); err != nil {
			h.log.Warn("forget child", "id", id, "error", err)
		}
	}
	return nil
}

func (h *host) pastExit(id string) (store.Exit, bool) {
	e, ok, err := h.store.Exit(id)
	if err != nil {
		h.log.Warn("read exit", "id", id, "error", err)
	}
	return e, ok && err == nil
}

// place readies what a record needs and puts it into the table.
func (h *host) place(ctx context.Context, c *control, client keeperClient, f found, master *os.File) error {
	child, found := f.child()
	if f.orphan {
		if err := client.Adopt(ctx, child, h.store.Dir(f.rec.ID), h.logsOf(f.rec), nil); err != nil {
			return fmt.Errorf("hand %s to the keeper: %w", f.rec.ID, err)
		}
	}
	switch {
	case !f.rec.TTY:
	case !found:
		f.bytes = h.logSize(f.rec)
	case master != nil:
		f.live = h.adoptSession(f.rec, child, master)
	}
	c.restore(f, h.logPath(f.rec))
	return nil
}

// mastersAtOnce bounds how many terminals the keeper is asked for at a time.
const mastersAtOnce = 16

// fetchMasters gets the terminals of the sessions that live, each at the place of
// its record: one after the other would cost a wait for the keeper each.
func (h *host) fetchMasters(ctx context.Context, client keeperClient, all []found) []*os.File {
	masters := make([]*os.File, len(all))
	var fetching sync.WaitGroup
	slots := make(chan struct{}, mastersAtOnce)
	for i, f := range all {
		if _, lives := f.child(); !lives || !f.rec.TTY {
			continue
		}
		slots <- struct{}{}
		fetching.Go(func() {
			defer func() { <-slots }()
			master, err := client.Master(ctx, f.rec.ID)
			if err != nil {
				h.log.Error("get terminal", "id", f.rec.ID, "error", err)
				return
			}
			masters[i] = master
		})
	}
	fetching.Wait()
	return masters
}

// guessRecord makes a record for a child whose own was lost.
func guessRecord(c keeper.Child) store.Record {
	r := newRecord(c.ID, api.KindProcess)
	if c.TTY {
		r.Kind = string(api.KindSession)
	}
	r.TTY = c.TTY
	proc := "/proc/" + strconv.Itoa(c.PID)
	if line, err := os.ReadFile(filepath.Join(proc, "cmdline")); err == nil {
		r.Argv = strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	}
	if len(r.Argv) == 0 || r.Argv[0] == "" {
		r.Argv = []string{"unknown"}
	}
	if cwd, err := os.Readlink(filepath.Join(proc, "cwd")); err == nil {
		r.CWD = cwd
	}
	r.Name = names.OfProgram(r.Argv)
	return r
}

// logSize is the length of the log of something that has ended. After a crash
// the file is longer, by what was set aside for output that never came; opening
// and closing it cuts that off.
func (h *host) logSize(r store.Record) int64 {
	path := h.logPath(r)
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	if info.Size() == 0 || info.Size()%int64(os.Getpagesize()) != 0 {
		return info.Size()
	}
	log, err := h.openLog(r)
	if err != nil {
		return info.Size()
	}
	end := log.End()
	if err := log.Close(); err != nil {
		h.log.Warn("close log", "path", path, "error", err)
	}
	return end
}
