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
}

// orphans gives the processes that whoever collects orphans is the parent of,
// by their mark.
func (m *marks) orphans(all *snapshot) map[mark][]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := make(map[int]marked)
	found := make(map[mark][]int)
	for _, collector := range collectors(all) {
		for _, pid := range all.byParent[collector] {
			p := all.byPID[pid]
			k, ok := m.known[pid]
			if !ok || k.start != p.startTime || k.mark == (mark{}) {
				k = marked{p.startTime, readMark(pid)}
			}
			known[pid] = k
			found[k.mark] = append(found[k.mark], pid)
		}
	}
	delete(found, mark{})
	m.known = known
	return found
}

// collectors are the processes that orphans of ours get as their parent: pid 1
// and whatever the engine descends from, or else a keeper that it has started.
func collectors(all *snapshot) []int {
	above := append([]int{1}, all.byParent[os.Getpid()]...)
	for pid := os.Getppid(); pid > 1; pid = all.byPID[pid].parent {
		above = append(above, pid)
	}
	return above
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
