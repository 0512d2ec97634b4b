package engine

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"tandem/engine/names"
	"tandem/persist"

	"golang.org/x/sys/unix"
)

// A child's cgroup (cgroups(7), version 2) holds all that comes of it: also what
// has left its session, emptied its environment and lost its parent, or forks
// faster than anybody can look. It is made where this user may make one, as a
// service manager allows a user or a container its own.

// cgroupPrefix begins the names of cgroups of ours.
const cgroupPrefix = "tandem-"

// cgroupFolder is where the cgroups of children go, below that of this process;
// "" if none can be made there.
func cgroupFolder() string {
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

// cgroupOf is the cgroup that a record's child gets, or "". What somebody starts
// from a shell may leave that for good, so a shell has none.
func (h *host) cgroupOf(r persist.Record) string {
	if h.cgroups == "" || r.TTY && names.IsPlainShell(r.Argv) {
		return ""
	}
	return filepath.Join(h.cgroups, cgroupPrefix+r.ID)
}

// makeCgroup makes a cgroup; false if there is none.
func makeCgroup(path string) bool {
	if path == "" {
		return false
	}
	err := os.Mkdir(path, 0o755)
	return err == nil || errors.Is(err, os.ErrExist)
}

// dropCgroup removes a cgroup in which nothing is left.
func dropCgroup(path string) {
	if path != "" {
		_ = unix.Rmdir(path) // where something is left, it is needed
	}
}

// populated reports whether anything lives in a cgroup or below it.
func populated(cgroup string) bool {
	if cgroup == "" {
		return false
	}
	events, err := os.ReadFile(filepath.Join(cgroup, "cgroup.events"))
	return err == nil && bytes.Contains(events, []byte("populated 1"))
}

// membersOf lists the processes of a cgroup.
func membersOf(cgroup string) (members []procStat) {
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
		if p, ok := readStat(pid); ok {
			members = append(members, p)
		}
	}
}

// killCgroup kills everything in a cgroup at once, also what is being forked
// (Linux 5.14).
func killCgroup(cgroup string) {
	if cgroup != "" {
		// Before 5.14 its processes are killed one by one, as all others.
		_ = os.WriteFile(filepath.Join(cgroup, "cgroup.kill"), []byte("1"), 0)
	}
}
