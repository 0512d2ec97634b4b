package proctree

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"time"
)

// A Mark is what every child of ours has in its environment and hands on to
// what it starts: it tells whose an orphan is that has left its session.
type Mark struct{ ID, DataDir string }

// The environment variables that a mark is in.
const (
	IDVariable      = "TANDEM_SESSION_ID"
	DataDirVariable = "TANDEM_DATA_DIR"
)

// marks remembers the marks that were read, one for each process. Its zero
// value is empty.
type marks struct {
	mu    sync.Mutex
	known map[int]marked
}

type marked struct {
	start uint64
	mark  Mark
	reads int
}

// marklessReads is how often a process without a mark is looked at once it has
// lived for execTime: until then a child of the keeper may have only what it was
// forked with.
const marklessReads = 20

// execTime is the most time that passes from a fork of the keeper until the child
// has become its program, however busy the machine is.
const execTime = 2 * time.Second

// youngest is the start time from which on a process may still be on the way to
// its program, in clock ticks since boot.
func youngest() uint64 {
	const ticks = uint64(execTime / (time.Second / ticksPerSecond))
	return max(BootTicks(), ticks) - ticks
}

// mayBecomeOurs reports whether a process may be the child of a keeper of this
// data folder that has not become its program yet: it has one thread, and the
// environment of the keeper or, within execve, none.
func mayBecomeOurs(p Process, dataDir string) bool {
	if p.Zombie || p.threads != 1 || p.StartTime < youngest() {
		return false
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/environ")
	if err != nil {
		return isScarce(err)
	}
	m := parseMark(text)
	return len(text) == 0 || m.ID == "" && m.DataDir == dataDir
}

// orphans gives the processes that whoever collects orphans is the parent of,
// by their mark.
func (m *marks) orphans(all []Process) map[Mark][]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := make(map[int]marked)
	found := make(map[Mark][]int)
	collects := collectors(all)
	young, patient := youngest(), time.Now().Add(maxMarkWait)
	for _, p := range all {
		if !collects[p.Parent] {
			continue
		}
		k, ok := m.known[p.PID]
		if !ok || k.start != p.StartTime {
			k = marked{start: p.StartTime}
		}
		if k.mark == (Mark{}) && k.reads < marklessReads {
			text, _ := readEnviron(p.PID, patient) // what cannot be read has no mark
			k.mark = completeMark(text)
			if p.StartTime < young {
				k.reads++
			}
		}
		known[p.PID] = k
		if k.mark != (Mark{}) {
			found[k.mark] = append(found[k.mark], p.PID)
		}
	}
	m.known = known
	return found
}

// collectors are the processes that orphans of ours get as their parent: pid 1
// and whatever the engine descends from, or else a keeper that it has started.
func collectors(all []Process) map[int]bool {
	collects := map[int]bool{1: true}
	parents := make(map[int]int)
	self := os.Getpid()
	for _, p := range all {
		parents[p.PID] = p.Parent
		if p.Parent == self {
			collects[p.PID] = true
		}
	}
	for pid := parents[self]; pid > 1; pid = parents[pid] {
		collects[pid] = true
	}
	return collects
}

// maxMarkWait bounds how long one pass over the process table waits for descriptors.
const maxMarkWait = time.Second

// readEnviron reads the environment of a process. If no descriptor is free, it retries until
// the deadline.
func readEnviron(pid int, deadline time.Time) ([]byte, error) {
	path := "/proc/" + strconv.Itoa(pid) + "/environ"
	text, err := os.ReadFile(path)
	for ; isScarce(err) && time.Now().Before(deadline); text, err = os.ReadFile(path) {
		time.Sleep(5 * time.Millisecond)
	}
	return text, err
}

// MarkOf reads the mark in a process's environment; none if it has none or
// is another user's.
func MarkOf(pid int) Mark {
	m, err := ReadMark(pid)
	if err != nil {
		return Mark{}
	}
	return m
}

// ReadMark is MarkOf for whoever must know that there is no mark. The error is
// fs.ErrPermission for a process that does not let its environment be read.
func ReadMark(pid int) (Mark, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return Mark{}, err
	}
	return completeMark(text), nil
}

// completeMark reads the mark in an environment; none if a part is missing.
func completeMark(environ []byte) Mark {
	m := parseMark(environ)
	if m.ID == "" || m.DataDir == "" {
		return Mark{}
	}
	return m
}

// parseMark reads the mark in an environment; a variable that is not there is "".
func parseMark(environ []byte) (m Mark) {
	for pair := range bytes.SplitSeq(environ, []byte{0}) {
		name, value, _ := bytes.Cut(pair, []byte("="))
		switch string(name) {
		case IDVariable:
			m.ID = string(value)
		case DataDirVariable:
			m.DataDir = string(value)
		}
	}
	return m
}
