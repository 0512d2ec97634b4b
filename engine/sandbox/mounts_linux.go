//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A mount is a line of /proc/self/mountinfo (proc_pid_mountinfo(5)).
type mount struct {
	device string // major:minor of the file system
	root   string // the folder of the file system that is mounted
	point  string // where
}

// mounts are all mounts, in the order in which they were made.
type mounts []mount

func readMounts() (mounts, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("list mounts: %w", err)
	}
	return parseMounts(string(data)), nil
}

func parseMounts(text string) mounts {
	var table mounts
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 5 || !strings.HasPrefix(fields[3], "/") {
			continue // a root that is not a path: a namespace's file
		}
		table = append(table, mount{fields[2], unescape(fields[3]), unescape(fields[4])})
	}
	return table
}

// unescape undoes the kernel's \ooo for blanks and backslashes.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// aliases are the other paths at which what is at path, and what is mounted
// below it, can be reached.
func (table mounts) aliases(path string) []string {
	var found []string
	if i := table.holding(path); i >= 0 {
		inside := filepath.Join(table[i].root, strings.TrimPrefix(path, table[i].point))
		found = table.reaching(table[i].device, inside)
	}
	for _, m := range table {
		if m.point != path && within(m.point, path) {
			found = append(found, table.reaching(m.device, m.root)...)
		}
	}
	return found
}

// sharing are the mounts of the file systems that some paths are on.
func (table mounts) sharing(paths ...string) mounts {
	var devices []string
	for _, path := range paths {
		if i := table.holding(path); i >= 0 {
			devices = append(devices, table[i].device)
		}
	}
	var some mounts
	for _, m := range table {
		if slices.Contains(devices, m.device) {
			some = append(some, m)
		}
	}
	return some
}

// holding is the index of the mount that a path is on, -1 if there is none.
func (table mounts) holding(path string) int {
	best := -1
	for i, m := range table {
		if within(path, m.point) && (best < 0 || len(m.point) >= len(table[best].point)) {
			best = i
		}
	}
	return best
}

// reaching are the paths at which a file of a file system, or the part of it
// that is below the file, can be reached.
func (table mounts) reaching(device, inside string) []string {
	var found []string
	for _, m := range table {
		switch {
		case m.device != device:
		case within(inside, m.root):
			rest := strings.TrimPrefix(inside, m.root)
			found = append(found, filepath.Join(m.point, rest))
		case within(m.root, inside):
			found = append(found, m.point)
		}
	}
	return found
}
