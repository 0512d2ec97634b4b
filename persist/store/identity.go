package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"tandem/persist/procstat"
)

// procRoot is the mount point of proc(5).
const procRoot = "/proc"

// An Identity distinguishes a process from all others. The kernel reuses PIDs, so an Identity
// includes the start time and the boot.
type Identity struct {
	BootID    string `json:"boot_id"`
	PID       int    `json:"pid"`
	StartTime uint64 `json:"start_time"` // field 22 of /proc/<pid>/stat, clock ticks since boot
}

// WithoutPID returns the identity of a process of an earlier boot. Its PID means nothing any more,
// and is left out.
func (i Identity) WithoutPID() *Identity { return &Identity{BootID: i.BootID} }

// BootID returns the id of this boot (/proc/sys/kernel/random/boot_id).
func BootID() (string, error) { return bootID(procRoot) }

// Identify returns the identity of a live pid.
func Identify(pid int) (Identity, error) { return identify(procRoot, pid) }

// Alive reports whether the process is still running; a zombie is not. If that cannot be
// determined, it returns true: a read error must not lead to a second copy of the process, or to
// the removal of its directory.
func (i Identity) Alive() bool { return i.alive(procRoot) }

func bootID(root string) (string, error) {
	b, err := os.ReadFile(filepath.Join(root, "sys/kernel/random/boot_id"))
	if err != nil {
		return "", fmt.Errorf("read boot id: %w", err)
	}
	id := string(bytes.TrimSpace(b))
	if id == "" {
		return "", errors.New("read boot id: it is empty")
	}
	return id, nil
}

func identify(root string, pid int) (Identity, error) {
	boot, err := bootID(root)
	if err != nil {
		return Identity{}, err
	}
	st, err := readStat(root, pid)
	if err != nil {
		return Identity{}, fmt.Errorf("identify process %d: %w", pid, err)
	}
	return Identity{BootID: boot, PID: pid, StartTime: st.StartTime}, nil
}

func (i Identity) alive(root string) bool {
	if i.PID <= 0 {
		return false
	}
	// No process survives a reboot.
	if boot, err := bootID(root); err == nil && boot != i.BootID {
		return false
	}
	st, err := readStat(root, i.PID)
	// Other errors do not mean that the process has exited.
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return false
	}
	if err != nil {
		return true
	}
	return st.StartTime == i.StartTime && !st.IsZombie()
}

func readStat(root string, pid int) (procstat.Process, error) {
	return procstat.ReadFile(filepath.Join(root, strconv.Itoa(pid), "stat"))
}
