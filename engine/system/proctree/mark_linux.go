package proctree

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

// A Mark identifies the child a process descends from. It is in the environment of each child,
// which passes it on, so it identifies orphans that have left their session.
type Mark struct{ ID, DataDir string }

// Environment variables of a mark.
const (
	IDVariable      = "TANDEM_SESSION_ID"
	DataDirVariable = "TANDEM_DATA_DIR"
)

// marks caches the marks of processes. The zero value is empty.
type marks struct {
	mu    sync.Mutex
	known map[int]knownMark
}

type knownMark struct {
	start uint64
	mark  Mark
	reads int
}

// marklessReads is how many times to read the environment of a process without a mark once it is
// older than execTime. Until then a new child may still have the keeper's environment.
const marklessReads = 20

// execTime is the maximum time between a fork by the keeper and the child's execve, even on a busy
// machine.
const execTime = 2 * time.Second

// youngestStart returns the start time from which a process may not have called execve yet, in clock
// ticks since boot.
func youngestStart() uint64 {
	const ticks = uint64(execTime / (time.Second / ticksPerSecond))
	return max(BootTicks(), ticks) - ticks
}

// mayBecomeOurs reports whether p may be a child of this data directory's keeper before its
// execve: it has one thread, and the keeper's environment or, during execve, none.
func mayBecomeOurs(p Process, dataDir string) bool {
	if p.IsZombie() || p.Threads != 1 || p.StartTime < youngestStart() {
		return false
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/environ")
	if err != nil {
		return isScarce(err)
	}
	m := parseMark(text)
	return len(text) == 0 || m.ID == "" && m.DataDir == dataDir
}

// findOrphans returns the processes with a mark whose parent collects orphans, by mark.
func (m *marks) findOrphans(all []Process) map[Mark][]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	// A new map drops the entries of exited processes.
	known := make(map[int]knownMark)
	found := make(map[Mark][]int)
	collects := orphanCollectors(all)
	young, patient, execs := youngestStart(), time.Now().Add(maxMarkWait), time.Now().Add(maxExecWait)
	for _, p := range all {
		if !collects[p.Parent] {
			continue
		}
		k, ok := m.known[p.PID]
		if !ok || k.start != p.StartTime {
			k = knownMark{start: p.StartTime}
		}
		if k.mark == (Mark{}) && k.reads < marklessReads {
			text, err := readEnviron(p.PID, patient) // an unreadable process has no mark
			// In execve, the environment is empty for a moment.
			for err == nil && len(text) == 0 && p.StartTime >= young && !p.IsZombie() && time.Now().Before(execs) {
				time.Sleep(time.Millisecond)
				text, err = readEnviron(p.PID, patient)
			}
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

// MayHaveLeft reports whether the exited process pid may have left something with its mark running.
// It is much cheaper than a pass over the process table: the kernel counts pids upwards until they wrap
// around, so it reads only those after pid.
func MayHaveLeft(pid int, m Mark) bool {
	var load [4]string
	last := 0
	text, err := os.ReadFile("/proc/loadavg")
	if err == nil {
		_, err = fmt.Sscan(string(text), &load[0], &load[1], &load[2], &load[3], &last)
	}
	if err != nil || last < pid {
		return true
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return true
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	return err != nil || slices.ContainsFunc(names, func(name string) bool {
		if n, err := strconv.Atoi(name); err != nil || n <= pid {
			return false
		}
		text, err := os.ReadFile("/proc/" + name + "/environ")
		// In execve, the environment is empty for a moment.
		return isScarce(err) || err == nil && (len(text) == 0 || completeMark(text) == m)
	})
}

// orphanCollectors returns the processes that may become the parent of orphans: pid 1, all ancestors of
// the engine, and its children, one of which may be the keeper.
func orphanCollectors(all []Process) map[int]bool {
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

// maxExecWait bounds the time one pass over the process table waits for programs in execve.
const maxExecWait = 50 * time.Millisecond

// maxMarkWait bounds the time one pass over the process table waits for free descriptors.
const maxMarkWait = time.Second

// readEnviron reads the environment of a process. If no descriptor is free, it retries until the
// deadline.
func readEnviron(pid int, deadline time.Time) ([]byte, error) {
	path := "/proc/" + strconv.Itoa(pid) + "/environ"
	text, err := os.ReadFile(path)
	for ; isScarce(err) && time.Now().Before(deadline); text, err = os.ReadFile(path) {
		time.Sleep(5 * time.Millisecond)
	}
	return text, err
}

// MarkOf returns the mark of a process; zero if it has none or belongs to another user.
func MarkOf(pid int) Mark {
	m, err := ReadMark(pid)
	if err != nil {
		return Mark{}
	}
	return m
}

// ReadMark is MarkOf for callers that must be sure there is no mark. It returns fs.ErrPermission
// if the environment may not be read.
func ReadMark(pid int) (Mark, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return Mark{}, err
	}
	return completeMark(text), nil
}

// completeMark returns the mark in an environment; zero if a part is missing.
func completeMark(environ []byte) Mark {
	m := parseMark(environ)
	if m.ID == "" || m.DataDir == "" {
		return Mark{}
	}
	return m
}

// parseMark returns the mark in an environment; missing variables are "".
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
