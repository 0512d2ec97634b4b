package proctree

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func HasListener(port int) bool { return len(listenersOn(port)) > 0 }

// PortHolder returns the name and pid of a program that listens on a TCP port. pid is 0 if none is
// found, for example because it belongs to another user.
func PortHolder(port int) (program string, pid int) {
	inodes := listenersOn(port)
	dir, err := os.Open("/proc")
	if err != nil || len(inodes) == 0 {
		return "", 0
	}
	defer dir.Close()
	all, err := All()
	if err != nil {
		return "", 0
	}
	// The oldest holder owns the socket: a forked child has it too, until its execve.
	slices.SortFunc(all, func(a, b Process) int { return cmp.Compare(a.StartTime, b.StartTime) })
	proc := procfs{dir: dir}
	for _, p := range all {
		number, holds := strconv.Itoa(p.PID), false
		proc.eachFile(number, func(dir int, name string) {
			n, err := unix.Readlinkat(dir, name, proc.buf[:])
			if inode, ok := socketInode(proc.buf[:max(n, 0)]); err == nil && ok && inodes[inode] {
				holds = true
			}
		})
		if holds {
			return strings.TrimSpace(string(proc.readFile(number + "/comm"))), p.PID
		}
	}
	return "", 0
}

// listenersOn returns the inodes of the sockets listening on a TCP port.
func listenersOn(port int) map[uint32]bool {
	inodes := make(map[uint32]bool)
	for inode, on := range listeningPorts() {
		if on == port {
			inodes[inode] = true
		}
	}
	return inodes
}
