// Package procstat reads the state of processes from /proc/PID/stat; see proc_pid_stat(5).
package procstat

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// A Process holds some of the fields in the stat file of a process. Negative numbers are read as 0.
type Process struct {
	PID, Parent, Group, Session int
	Name                        string
	State                       byte // R, S, T, Z, …
	Terminal                    int  // device number, 0 for none
	Foreground                  int  // process group in the foreground of Terminal
	Flags                       uint64
	CPU                         uint64 // clock ticks used by itself and by the children it has waited for
	Threads                     int
	StartTime                   uint64 // clock ticks since boot
	ExitCode                    int    // of a zombie, as from wait(2); 0 without permission to read it
}

// IsZombie reports whether the process has exited but is not reaped yet.
func (p Process) IsZombie() bool { return p.State == 'Z' || p.State == 'X' }

// Read reads a process.
func Read(pid int) (Process, error) { return ReadFile("/proc/" + strconv.Itoa(pid) + "/stat") }

// ReadFile reads the stat file of a process or thread.
func ReadFile(path string) (Process, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Process{}, err
	}
	return Parse(text)
}

var errDamaged = errors.New("stat line is damaged")

// Parse parses a stat file. The name in parentheses may contain anything, including parentheses and
// newlines.
func Parse(text []byte) (Process, error) {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return Process{}, errDamaged
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(text[:open])))
	if err != nil {
		return Process{}, errDamaged
	}
	const state, last = 3, 52
	var field [last + 1]uint64 // by the numbers in the manual
	p, n := Process{PID: pid, Name: string(text[open+1 : end])}, state
	for word := range bytes.FieldsSeq(text[end+1:]) {
		switch {
		case n > last, word[0] == '-' && len(word) > 1:
		case n > state:
			if field[n], err = strconv.ParseUint(string(word), 10, 64); err != nil {
				return Process{}, fmt.Errorf("stat line is damaged: %w", err)
			}
		case len(word) == 1:
			p.State = word[0]
		}
		n++
	}
	if n <= last || p.State == 0 {
		return Process{}, errDamaged
	}
	p.Parent, p.Group, p.Session, p.Terminal, p.Foreground = int(field[4]), int(field[5]), int(field[6]), int(field[7]), int(field[8])
	p.Flags, p.CPU, p.Threads = field[9], field[14]+field[15]+field[16]+field[17], int(field[20])
	p.StartTime, p.ExitCode = field[22], int(field[last])
	return p, nil
}
