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
	root   string // the mounted directory of the file system
	point  string // the mount point
}

// mounts are all mounts, in the order of their creation.
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
			continue // not a path, but a namespace's file
		}
		table = append(table, mount{fields[2], unescape(fields[3]), unescape(fields[4])})
	}
	return table
}

// unescape decodes the kernel's octal escapes of blanks and backslashes, such as \040.
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

// aliases returns the other paths of the file at path, and of everything mounted below it.
func (table mounts) aliases(path string) []string {
	var found []string
	if i := table.mountOf(path); i >= 0 {
		inside := filepath.Join(table[i].root, strings.TrimPrefix(path, table[i].point))
		found = table.pathsTo(table[i].device, inside)
	}
	for _, m := range table {
		if m.point != path && isWithin(m.point, path) {
			found = append(found, table.pathsTo(m.device, m.root)...)
		}
	}
	return found
}

// onFileSystemsOf returns the mounts of the file systems containing some paths.
func (table mounts) onFileSystemsOf(paths ...string) mounts {
	var devices []string
	for _, path := range paths {
		if i := table.mountOf(path); i >= 0 {
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

// mountOf returns the index of the mount containing path; -1 if there is none.
func (table mounts) mountOf(path string) int {
	best := -1
	for i, m := range table {
		// Of equal mount points, the later mount covers the earlier one.
		if isWithin(path, m.point) && (best < 0 || len(m.point) >= len(table[best].point)) {
			best = i
		}
	}
	return best
}

// pathsTo returns the paths of a file in a file system, and of mounts below it.
func (table mounts) pathsTo(device, inside string) []string {
	var found []string
	for _, m := range table {
		switch {
		case m.device != device:
		case isWithin(inside, m.root):
			rest := strings.TrimPrefix(inside, m.root)
			found = append(found, filepath.Join(m.point, rest))
		case isWithin(m.root, inside):
			found = append(found, m.point)
		}
	}
	return found
}
