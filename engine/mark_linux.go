package engine

import (
	"bytes"
	"os"
	"strconv"
	"sync"
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

// marklessReads is how often a process without a mark is looked at: for a moment
// a child of the keeper has only what it was forked with.
const marklessReads = 20

// orphans gives the processes that whoever collects orphans is the parent of,
// by their mark.
func (m *marks) orphans(all []procStat) map[mark][]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := make(map[int]marked)
	found := make(map[mark][]int)
	collects := collectors(all)
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
			k.reads++
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
func readMark(pid int) (m mark) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return mark{}
	}
	for pair := range bytes.SplitSeq(text, []byte{0}) {
		name, value, _ := bytes.Cut(pair, []byte("="))
		switch string(name) {
		case idVariable:
			m.id = string(value)
		case dirVariable:
			m.dataDir = string(value)
		}
	}
	if m.id == "" || m.dataDir == "" {
		return mark{}
	}
	return m
}
