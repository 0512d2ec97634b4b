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
	"tandem/engine/panics"
	"tandem/engine/proctree"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

// problemsTold is how many damaged records a person is told of; the log has all.
const problemsTold = 20

// takeStock gathers what there is and fills the control's table with it. It
// runs before the control goroutine does.
func (h *host) takeStock(ctx context.Context, c *supervise.Control, client keeperClient) error {
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
	s := supervise.Survey{
		BootID:   h.bootID,
		Keeper:   h.link.keeper(),
		Records:  records,
		Children: children,
		Exit:     h.pastExit,
		Alive:    store.Identity.Alive,
		Orphan:   func(r store.Record) (store.Identity, bool) { return h.orphanOf(r, look()) },
		Guess:    guessRecord,
		Logged:   h.mayBeLogged,
	}
	all, forget := s.Plan()
	all = append(all, s.Unrecorded(h.markedFolders(look()))...)
	masters := h.fetchMasters(ctx, client, all)
	for i, f := range all {
		if api.State(f.Rec.State).Ended() {
			proctree.DropCgroup(f.Rec.Cgroup) // an engine before may not have come to it
		}
		h.restoreGrant(&f)
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
func (h *host) place(ctx context.Context, c *supervise.Control, client keeperClient, f supervise.Found, master *os.File) error {
	child, found := f.Child()
	if f.Orphan {
		if err := client.Adopt(ctx, child, h.store.Dir(f.Rec.ID), h.logsOf(f.Rec), nil); err != nil {
			return fmt.Errorf("hand %s to the keeper: %w", f.Rec.ID, err)
		}
	}
	switch {
	case !f.Rec.TTY:
	case !found:
		f.Bytes = h.logSize(f.Rec)
	case master != nil:
		f.Live = h.adoptSession(f.Rec, child, master)
	}
	c.Restore(f, h.store.LogPath(f.Rec))
	return nil
}

// mastersAtOnce bounds how many terminals the keeper is asked for at a time.
const mastersAtOnce = 16

// fetchMasters gets the terminals of the sessions that live, each at the place of
// its record: one after the other would cost a wait for the keeper each.
func (h *host) fetchMasters(ctx context.Context, client keeperClient, all []supervise.Found) []*os.File {
	masters := make([]*os.File, len(all))
	var fetching panics.Group
	slots := make(chan struct{}, mastersAtOnce)
	for i, f := range all {
		if _, lives := f.Child(); !lives || !f.Rec.TTY {
			continue
		}
		slots <- struct{}{}
		fetching.Start(func() {
			defer func() { <-slots }()
			master, err := client.Master(ctx, f.Rec.ID)
			if err != nil {
				h.log.Error("get terminal", "id", f.Rec.ID, "error", err)
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
	r := supervise.NewRecord(c.ID, api.KindProcess)
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
	path := h.store.LogPath(r)
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
