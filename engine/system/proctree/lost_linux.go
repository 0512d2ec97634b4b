package proctree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tandem/persist/datadir"
	"tandem/persist/store"
)

// A Lost is a keeper whose data directory was deleted while programs ran. No client can reach them
// any more.
type Lost struct {
	Keeper   int // its PID
	Programs []Process
}

// deletedLock returns the path shown by the kernel for the lock of a deleted data directory; see
// proc_pid_fd(5).
func deletedLock(dataDir string) string {
	return filepath.Join(dataDir, datadir.KeeperLock) + " (deleted)"
}

// FindLost finds keepers whose data directory dataDir was deleted, even if it exists again.
func FindLost(dataDir string) ([]Lost, error) {
	all, err := All()
	if err != nil {
		return nil, err
	}
	var lost []Lost
	for _, p := range all {
		if p.IsZombie() || p.Name != keeperName || !hasOpen(p.PID, deletedLock(dataDir)) {
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

// keeperName is the process name of a keeper.
const keeperName = "tandem-keeper"

// hasOpen reports whether a process has a file open; false for processes of other users.
func hasOpen(pid int, path string) bool {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	names, _ := os.ReadDir(dir)
	for _, name := range names {
		if to, err := os.Readlink(filepath.Join(dir, name.Name())); err == nil && to == path {
			return true
		}
	}
	return false
}

// runsProgram reports whether a keeper's child runs the program of a session or process. The engine
// does not; neither does an exiting child, whose command line is empty.
func runsProgram(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && len(line) > 0 && !strings.HasSuffix(string(line), "\x00engine\x00")
}

// End stops the keeper and everything under it.
func (l Lost) End(ctx context.Context) error {
	id, err := store.Identify(l.Keeper)
	if err != nil { // it has exited by itself
		return nil
	}
	for _, p := range l.Programs { // no engine is left to remove their cgroups
		defer DropCgroup(CgroupOf(p.PID))
	}
	var table Table
	return NewTree(id).End(ctx, &table, TerminalSteps(0))
}
