package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tandem/engine/proctree"
	"tandem/persist/datadir"
	"tandem/persist/store"
)

// A Lost keeper's data folder was deleted while programs ran: no client can reach
// them any more.
type Lost struct {
	Keeper   int // its pid
	Programs []proctree.Process
}

// deletedLock is how the kernel shows the lock of a data folder that was deleted,
// see proc_pid_fd(5).
func deletedLock(dataDir string) string {
	return filepath.Join(dataDir, datadir.KeeperLock) + " (deleted)"
}

// FindLost looks for keepers of a data folder that was deleted and perhaps made
// again.
func FindLost(dataDir string) ([]Lost, error) {
	all, err := proctree.All()
	if err != nil {
		return nil, err
	}
	var lost []Lost
	for _, p := range all {
		if p.Zombie || p.Name != keeperName || !holdsOpen(p.PID, deletedLock(dataDir)) {
			continue
		}
		l := Lost{Keeper: p.PID}
		for _, child := range all {
			if child.Parent == p.PID && runsProgram(child.PID) {
				l.Programs = append(l.Programs, child)
			}
		}
		lost = append(lost, l)
	}
	return lost, nil
}

// keeperName is what the kernel calls a keeper.
const keeperName = "tandem-keeper"

// holdsOpen reports whether a process has a file open. Those of other users
// cannot be looked into.
func holdsOpen(pid int, path string) bool {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	names, _ := os.ReadDir(dir)
	for _, name := range names {
		if to, err := os.Readlink(filepath.Join(dir, name.Name())); err == nil && to == path {
			return true
		}
	}
	return false
}

// runsProgram reports whether a keeper's child runs a program of a session or process. The
// engine does not; neither does a child that is exiting or has exited, whose command line is empty.
func runsProgram(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && len(line) > 0 && !strings.HasSuffix(string(line), "\x00engine\x00")
}

// End ends the keeper and everything under it.
func (l Lost) End(ctx context.Context) error {
	id, err := store.Identify(l.Keeper)
	if err != nil { // it has ended by itself
		return nil
	}
	for _, p := range l.Programs { // no engine is left to remove their cgroups
		defer proctree.DropCgroup(proctree.CgroupOf(p.PID))
	}
	var table proctree.Table
	return proctree.NewTree(id).End(ctx, &table, proctree.TerminalSteps(0))
}
