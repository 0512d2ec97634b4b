// Package procfs tells of processes on this machine what verbs need to know of those beside
// them, without asking the engine.
package procfs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A Stat is what proc_pid_stat(5) tells of a process.
type Stat struct {
	Parent, Terminal, Foreground int // Terminal is 0 for none
	State, Born                  string
}

// Read reads /proc/PID/stat.
func Read(pid int) (s Stat, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil || pid == 0 {
		return s, false
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 20 {
		return s, false
	}
	s.State, s.Born = fields[0], fields[19]
	for i, to := range map[int]*int{1: &s.Parent, 4: &s.Terminal, 5: &s.Foreground} {
		*to, _ = strconv.Atoi(fields[i])
	}
	return s, true
}

// TTY is the name of its terminal, a pseudo-terminal or a console of the machine, by the
// numbers in Linux's admin-guide/devices.txt; "" without one.
func (s Stat) TTY() string {
	minor := s.Terminal&0xff | s.Terminal>>12&0xfff00
	switch major := s.Terminal >> 8 & 0xfff; {
	case major == 136:
		return fmt.Sprintf("/dev/pts/%d", minor)
	case major == 4 && minor > 0 && minor < 64:
		return fmt.Sprintf("/dev/tty%d", minor)
	}
	return ""
}
