package proctree

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A child's cgroup (cgroups(7), version 2) contains all its descendants, even those that left the
// session, cleared their environment and lost their parent, or fork faster than the process table
// can be read. It is created only if this user may do so, for example because the service manager
// delegates a cgroup to the user or container.

// cgroupPrefix starts the names of Tandem's cgroups.
const cgroupPrefix = "tandem-"

// CgroupFolder returns the directory for the cgroups of children, below that of this process. It
// returns "" if none can be created.
func CgroupFolder() string {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	folder := folderOfCgroup(string(own), string(mounts))
	if folder == "" || unix.Access(folder, unix.W_OK) != nil || unix.Access(filepath.Join(folder, "cgroup.procs"), unix.W_OK) != nil {
		return ""
	}
	return folder
}

// folderOfCgroup returns the directory of a process's cgroup, given /proc/<pid>/cgroup and
// /proc/<pid>/mountinfo.
func folderOfCgroup(own, mounts string) string {
	path := ""
	for line := range strings.Lines(own) {
		if rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			path = rest
		}
	}
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "/..") || strings.HasSuffix(path, " (deleted)") {
		return ""
	}
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if len(fields) < 5 || !strings.HasPrefix(after, "cgroup2 ") {
			continue
		}
		rel, err := filepath.Rel(fields[3], path)
		if err == nil && filepath.IsLocal(rel) {
			return filepath.Join(fields[4], rel)
		}
	}
	return ""
}

// CgroupsOf returns the prefix of the paths of the cgroups for an engine's children, or "" if none
// can be created. It depends on the data directory, because engines with other ones may have
// children with the same ids.
func CgroupsOf(dataDir string) string {
	folder := CgroupFolder()
	if folder == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(dataDir))
	return filepath.Join(folder, fmt.Sprintf("%s%x-", cgroupPrefix, sum[:4]))
}

// CgroupFor returns the cgroup of the child with this id, given a result of CgroupsOf.
func CgroupFor(prefix, id string) string {
	if prefix == "" {
		return ""
	}
	return prefix + id
}

// CgroupOf returns the cgroup created for the child that pid descends from, or "".
func CgroupOf(pid int) string {
	own, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return ""
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	folder := folderOfCgroup(string(own), string(mounts))
	if !isChildCgroup(filepath.Base(folder)) {
		return ""
	}
	return folder
}

// isChildCgroup reports whether a cgroup's name is that of a child's, and not of a keeper's scope.
func isChildCgroup(name string) bool {
	return strings.HasPrefix(name, cgroupPrefix) && !strings.HasSuffix(name, ".scope")
}

// MakeCgroup creates a cgroup and reports whether it exists now.
func MakeCgroup(path string) bool {
	if path == "" {
		return false
	}
	err := os.Mkdir(path, 0o755)
	return err == nil || errors.Is(err, os.ErrExist)
}

// DropCgroup removes a cgroup and reports whether it is gone. A cgroup with processes cannot be
// removed.
func DropCgroup(path string) bool {
	if path == "" {
		return true
	}
	err := unix.Rmdir(path)
	return err == nil || err == unix.ENOENT
}

// Populated reports whether a cgroup or one below it contains a live process.
func Populated(cgroup string) bool {
	if cgroup == "" {
		return false
	}
	events, err := os.ReadFile(filepath.Join(cgroup, "cgroup.events"))
	return err == nil && bytes.Contains(events, []byte("populated 1"))
}

// LeaveChildCgroup moves this process out of the cgroup of another engine's child, if it is in
// one, so that it survives that child.
func LeaveChildCgroup() {
	if own := CgroupOf(os.Getpid()); own != "" {
		// If this fails, the process is killed with that child.
		_ = os.WriteFile(filepath.Join(filepath.Dir(own), "cgroup.procs"), []byte("0"), 0)
	}
}

// membersOf returns the processes in a cgroup.
func membersOf(cgroup string) (members []Process) {
	if cgroup == "" {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(cgroup, "cgroup.procs"))
	if err != nil {
		return nil
	}
	for word := range strings.FieldsSeq(string(text)) {
		pid, _ := strconv.Atoi(word)
		if p, ok := Read(pid); ok {
			members = append(members, p)
		}
	}
	return members
}

// KillCgroup kills all processes in a cgroup at once, including ones being forked (Linux 5.14).
func KillCgroup(cgroup string) {
	if cgroup != "" {
		// Before Linux 5.14, the caller kills the processes one by one.
		_ = os.WriteFile(filepath.Join(cgroup, "cgroup.kill"), []byte("1"), 0)
	}
}
