package tmux

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A stat is what /proc tells of a process.
type stat struct {
	parent, terminal, foreground int
	state, born                  string
}

// readStat reads /proc/PID/stat.
func readStat(pid int) (s stat, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil || pid == 0 {
		return s, false
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 20 {
		return s, false
	}
	s.state, s.born = fields[0], fields[19]
	for i, to := range map[int]*int{1: &s.parent, 4: &s.terminal, 5: &s.foreground} {
		*to, _ = strconv.Atoi(fields[i])
	}
	return s, true
}

func (s stat) tty() string {
	if s.terminal == 0 {
		return ""
	}
	minor := s.terminal&0xff | s.terminal>>12&0xfff00
	major := s.terminal >> 8 & 0xfff
	return fmt.Sprintf("/dev/pts/%d", minor+(major-136)<<8)
}

// foregroundName is what has the terminal of a process.
func foregroundName(pid int) string {
	s, ok := readStat(pid)
	if !ok || s.foreground <= 0 {
		return ""
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", s.foreground))
	if err != nil || len(text) == 0 {
		return ""
	}
	word, _, _ := strings.Cut(string(text), "\x00")
	return filepath.Base(strings.TrimPrefix(word, "-"))
}

// foregroundFolder is where that works.
func foregroundFolder(pid int) string {
	s, ok := readStat(pid)
	if !ok || s.foreground <= 0 {
		return ""
	}
	dir, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", s.foreground))
	return dir
}
