package proctree

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A child's cgroup (cgroups(7), version 2) holds all that comes of it: also what
// has left its session, emptied its environment and lost its parent, or forks
// faster than anybody can look. It is made where this user may make one, as a
// service manager allows a user or a container its own.

// cgroupPrefix begins the names of cgroups of ours.
const cgroupPrefix = "tandem-"

// CgroupFolder is where the cgroups of children go, below that of this process;
// "" if none can be made there.
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

// folderOfCgroup finds the folder of a process's cgroup from what
// /proc/<pid>/cgroup and /proc/<pid>/mountinfo say.
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

// CgroupFor is the cgroup of the child with an id; "" if folder is, where cgroups go.
func CgroupFor(folder, id string) string {
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, cgroupPrefix+id)
}

// CgroupOf returns the cgroup made for the child that pid comes from, or "".
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
	if !strings.HasPrefix(filepath.Base(folder), cgroupPrefix) {
		return ""
	}
	return folder
}

// MakeCgroup makes a cgroup; false if there is none.
func MakeCgroup(path string) bool {
	if path == "" {
		return false
	}
	err := os.Mkdir(path, 0o755)
	return err == nil || errors.Is(err, os.ErrExist)
}

// DropCgroup removes a cgroup and reports whether it is gone. One that still
// holds a process stays.
func DropCgroup(path string) bool {
	if path == "" {
		return true
	}
	err := unix.Rmdir(path)
	return err == nil || err == unix.ENOENT
}

// Populated reports whether anything lives in a cgroup or below it.
func Populated(cgroup string) bool {
	if cgroup == "" {
		return false
	}
	events, err := os.ReadFile(filepath.Join(cgroup, "cgroup.events"))
	return err == nil && bytes.Contains(events, []byte("populated 1"))
}

// LeaveChildCgroup moves this process out of the cgroup of another engine's child, if it is in
// one, so that it outlives that child.
func LeaveChildCgroup() {
	if own := CgroupOf(os.Getpid()); own != "" {
		// If it fails, this process ends with that child.
		_ = os.WriteFile(filepath.Join(filepath.Dir(own), "cgroup.procs"), []byte("0"), 0)
	}
}

// membersOf lists the processes of a cgroup.
func membersOf(cgroup string) (members []Process) {
	if cgroup == "" {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(cgroup, "cgroup.procs"))
	if err != nil {
		return nil
	}
	n := numbers{text: text}
	for {
		pid := int(n.next(n.field + 1))
		if n.bad {
			return members
		}
		if p, ok := Read(pid); ok {
			members = append(members, p)
		}
	}
}

// KillCgroup kills everything in a cgroup at once, also what is being forked
// (Linux 5.14).
func KillCgroup(cgroup string) {
	if cgroup != "" {
		// Before 5.14 its processes are killed one by one, as all others.
		_ = os.WriteFile(filepath.Join(cgroup, "cgroup.kill"), []byte("1"), 0)
	}
}
