package engine

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"time"
)

// A mark is what every child of ours has in its environment and hands on to
// what it starts: it tells whose an orphan is that has left its session.
type mark struct{ id, dataDir string }

const (
	idVariable  = "TANDEM_SESSION_ID"
	dirVariable = "TANDEM_DATA_DIR"
)

// marks remembers the marks that were read, one for each process. Its zero
// value is empty.
type marks struct {
	mu    sync.Mutex
	known map[int]marked
}

type marked struct {
	start uint64
	mark  mark
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
	return max(bootTicks(), ticks) - ticks
}

// mayBecomeOurs reports whether a process may be the child of a keeper of this
// data folder that has not become its program yet: it has one thread, and the
// environment of the keeper or, within execve, none.
func mayBecomeOurs(p procStat, dataDir string) bool {
	if p.zombie || p.threads != 1 || p.startTime < youngest() {
		return false
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/environ")
	if err != nil {
		return false
	}
	m := parseMark(text)
	return len(text) == 0 || m.id == "" && m.dataDir == dataDir
}

// orphans gives the processes that whoever collects orphans is the parent of,
// by their mark.
func (m *marks) orphans(all []procStat) map[mark][]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := make(map[int]marked)
	found := make(map[mark][]int)
	collects := collectors(all)
	young := youngest()
	for _, p := range all {
		if !collects[p.parent] {
			continue
		}
		k, ok := m.known[p.pid]
		if !ok || k.start != p.startTime {
			k = marked{start: p.startTime}
		}
		if k.mark == (mark{}) && k.reads < marklessReads {
			k.mark = readMark(p.pid)
			if p.startTime < young {
				k.reads++
			}
		}
		known[p.pid] = k
		if k.mark != (mark{}) {
			found[k.mark] = append(found[k.mark], p.pid)
		}
	}
	m.known = known
	return found
}

// collectors are the processes that orphans of ours get as their parent: pid 1
// and whatever the engine descends from, or else a keeper that it has started.
func collectors(all []procStat) map[int]bool {
	collects := map[int]bool{1: true}
	parents := make(map[int]int)
	self := os.Getpid()
	for _, p := range all {
		parents[p.pid] = p.parent
		if p.parent == self {
			collects[p.pid] = true
		}
	}
	for pid := parents[self]; pid > 1; pid = parents[pid] {
		collects[pid] = true
	}
	return collects
}

// readMark reads the mark in a process's environment; none if it has none or
// is another user's.
func readMark(pid int) mark {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return mark{}
	}
	m := parseMark(text)
	if m.id == "" || m.dataDir == "" {
		return mark{}
	}
	return m
}

// parseMark reads the mark in an environment; a variable that is not there is "".
func parseMark(environ []byte) (m mark) {
	for pair := range bytes.SplitSeq(environ, []byte{0}) {
		name, value, _ := bytes.Cut(pair, []byte("="))
		switch string(name) {
		case idVariable:
			m.id = string(value)
		case dirVariable:
			m.dataDir = string(value)
		}
	}
	return m
}
