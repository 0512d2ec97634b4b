// Package procfs reads other processes' states on this machine from /proc, without the engine.
package procfs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A Stat holds fields of proc_pid_stat(5).
type Stat struct {
	Parent, Terminal, Foreground int // Terminal is a device number, 0 for none
	State, StartTime             string
}

// Read reads /proc/PID/stat. ok is false if there is no such process.
func Read(pid int) (s Stat, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil || pid == 0 {
		return s, false
	}
	// The program's name is in parentheses and may contain blanks and parentheses itself.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 20 {
		return s, false
	}
	s.State, s.StartTime = fields[0], fields[19]
	for i, to := range map[int]*int{1: &s.Parent, 4: &s.Terminal, 5: &s.Foreground} {
		*to, _ = strconv.Atoi(fields[i])
	}
	return s, true
}

// TTY returns the path of the process's terminal, a pseudo-terminal or a console of the machine, by
// the numbers in Linux's admin-guide/devices.txt. It returns "" for others.
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
