package prompt

import (
	"os"
	"strconv"
	"strings"

	"tandem/engine/system/pty"
)

// programs tells a Shell about the programs in its terminal, as the system knows them. Tests have
// their own implementation.
type programs interface {
	inspect(child int) pty.Look // the program in the foreground; child is the one of the session
	hasOutput() bool            // there is output that was not read yet
	foreground() int            // process group in the foreground; 0 if unknown
	arguments(pid int) []string // nil if unknown
	environ(pid int) string     // as in /proc; "" if unknown
}

// ptyPrograms are the programs in the terminal of a PTY, given its master.
type ptyPrograms struct{ master *os.File }

func (p ptyPrograms) inspect(child int) pty.Look { return pty.InspectForeground(p.master, child) }

func (p ptyPrograms) hasOutput() bool { return pty.HasOutput(p.master) }

func (p ptyPrograms) foreground() int {
	group, err := pty.Foreground(p.master)
	if err != nil {
		return 0
	}
	return group
}

func (ptyPrograms) arguments(pid int) []string {
	text := readProc(pid, "cmdline")
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\x00"), "\x00")
}

func (ptyPrograms) environ(pid int) string { return readProc(pid, "environ") }

func readProc(pid int, name string) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + name)
	if err != nil {
		return ""
	}
	return string(text)
}
