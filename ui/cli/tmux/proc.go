package tmux

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tandem/ui/cli/procfs"
)

// foregroundName returns the name of the program in the foreground of a process's terminal; "" if it
// cannot be read.
func foregroundName(pid int) string {
	s, _ := procfs.Read(pid)
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
	s, _ := procfs.Read(pid)
	dir, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", s.Foreground))
	return dir
}
