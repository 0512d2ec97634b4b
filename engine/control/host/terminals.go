package host

import (
	"context"
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"tandem/engine/base/panics"
	"tandem/engine/control/launch"
	"tandem/engine/control/supervise"
	"tandem/engine/system/keeper"
)

// InheritedTerminals are the terminals that the previous program of this process left open during
// an upgrade. The keys are id:pid, where pid is the child in the terminal.
type InheritedTerminals map[string]*os.File

func terminalName(id string, pid int) string { return id + ":" + strconv.Itoa(pid) }

// KeepTerminals duplicates the terminals for an upgrade. The descriptors are close-on-exec, and
// named as in InheritedTerminals. It must run after the control goroutine has stopped, and before
// Close.
func (h *Host) KeepTerminals() map[string]int {
	all := map[string]int{}
	supervise.Terminals{Of: h.Control}.Each(func(child keeper.Child, session supervise.Session) {
		s, ok := session.(interface{ Master() *os.File })
		if !ok || s.Master() == nil {
			return
		}
		raw, err := s.Master().SyscallConn()
		if err != nil {
			return
		}
		_ = raw.Control(func(own uintptr) {
			// If duplicating fails, the next program can still get the terminal from the keeper.
			if fd, err := unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 3); err == nil {
				all[terminalName(child.ID, child.PID)] = fd
			}
		})
	})
	return all
}

// offerTo gives the inherited terminals to a keeper that was started after the upgrade and does not
// have them.
func (i InheritedTerminals) offerTo(ctx context.Context, client launch.Keeper, h *Host) error {
	if len(i) == 0 {
		return nil
	}
	children, err := client.List(ctx)
	if err != nil {
		return err
	}
	held := make(map[string]bool, len(children))
	for _, c := range children {
		held[c.ID] = true
	}
	records, _ := h.store.Load() // terminals of unreadable records stay open here
	for _, r := range records {
		if r.Identity == nil || !r.TTY || held[r.ID] {
			continue
		}
		master := i[terminalName(r.ID, r.Identity.PID)]
		if master == nil {
			continue
		}
		child := keeper.Child{ID: r.ID, PID: r.Identity.PID, StartTime: r.Identity.StartTime, BootID: r.Identity.BootID, TTY: true}
		err := client.Adopt(ctx, child, h.store.Dir(r.ID), h.Observer.LogsOf(r), master)
		if errors.Is(err, keeper.ErrLost) {
			return err
		}
		if err != nil {
			h.log.Error("offer child to keeper", "id", r.ID, "error", err)
		}
	}
	return nil
}

// takeMaster removes and returns the terminal of a child. It returns nil if the terminal was not
// inherited.
func (i InheritedTerminals) takeMaster(child keeper.Child) *os.File {
	name := terminalName(child.ID, child.PID)
	master := i[name]
	delete(i, name)
	return master
}

// keep puts back the terminal of a child that takeMaster returned. A nil master is ignored.
func (i InheritedTerminals) keep(child keeper.Child, master *os.File) {
	if master != nil {
		i[terminalName(child.ID, child.PID)] = master
	}
}

// close closes the remaining terminals.
func (i InheritedTerminals) close() {
	for name, master := range i {
		master.Close()
		delete(i, name)
	}
}

// maxFetches is how many terminals are requested from the keeper at the same time.
const maxFetches = 16

// fetchMasters gets the terminals of the running sessions from the keeper. The results are in the
// order of all, with an error for each terminal that the keeper failed to send. It fetches several
// at a time, because each waits for the keeper.
func (h *Host) fetchMasters(ctx context.Context, client launch.Children, all []supervise.Found) ([]*os.File, []error) {
	masters, faults := make([]*os.File, len(all)), make([]error, len(all))
	var fetching panics.Group
	slots := make(chan struct{}, maxFetches)
	for i, f := range all {
		child, found := f.Child()
		if !found || !f.Rec.TTY {
			continue
		}
		if masters[i] = h.o.Inherited.takeMaster(child); masters[i] != nil {
			continue
		}
		slots <- struct{}{}
		fetching.Start(func() {
			defer func() { <-slots }()
			if masters[i], faults[i] = client.Master(ctx, f.Rec.ID); faults[i] != nil {
				h.log.Error("get terminal", "id", f.Rec.ID, "error", faults[i])
			}
		})
	}
	fetching.Wait()
	return masters, faults
}
