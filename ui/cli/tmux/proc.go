package tmux

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tandem/persist/procstat"
)

// foregroundName returns the name of the program in the foreground of a process's terminal; "" if it
// cannot be read.
func foregroundName(pid int) string {
	s, _ := procstat.Read(pid)
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", s.Foreground))
	if len(text) == 0 {
		return ""
	}
	word, _, _ := strings.Cut(string(text), "\x00")
	return filepath.Base(strings.TrimPrefix(word, "-"))
}

// foregroundDirectory returns the working directory of the program in the foreground of a process's
// terminal.
func foregroundDirectory(pid int) string {
	s, _ := procstat.Read(pid)
	dir, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", s.Foreground))
	return dir
}

// startTime returns the start time of a process; "" if there is none.
func startTime(pid int) string {
	p, err := procstat.Read(pid)
	if err != nil {
		return ""
	}
	return strconv.FormatUint(p.StartTime, 10)
}
