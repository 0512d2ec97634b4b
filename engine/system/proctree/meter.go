package proctree

import (
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/persist/store"
)

const (
	// ticksPerSecond is the unit of CPU times in /proc (USER_HZ), the same on all Linux systems.
	// One tick per second is 1 %.
	ticksPerSecond = 100
	// minInterval is the shortest interval for a CPU percentage. Earlier calls get the previous
	// value.
	minInterval = 200 * time.Millisecond
	// youngTree is the maximum age of a tree at its first measurement for the history to include
	// its whole life. An older tree may have used its CPU time long ago.
	youngTree = 15 * time.Second
)

// A Meter measures processes on request. In between it only keeps state.
type Meter struct {
	mu      sync.Mutex // held during a measurement
	trees   map[store.Identity]*treeUse
	members map[int]*member // by pid
	sockets listeners
	sampled time.Duration // time since boot of the last sample that read the process table
}

func NewMeter() *Meter {
	return &Meter{trees: make(map[store.Identity]*treeUse), members: make(map[int]*member)}
}

// A treeUse is the measured use of a process and its descendants. Times are since boot.
type treeUse struct {
	at      time.Duration // time of the last measurement; at first, the start of the root
	percent float64
	fresh   uint64 // ticks not in the history yet
	past    past
	moved   uint64 // ticks of exited members that their parents' times now include
}

type member struct {
	root      store.Identity
	parent    int
	startTime uint64
	cpu       uint64 // ticks counted so far
	threads   int
	pulse     uint64 // run time at the last sample, in nanoseconds or ticks
	held      heldSockets
}

// A measurement is one pass over the process table for some trees.
type measurement struct {
	*Meter
	now   time.Duration
	all   []Process
	index map[int]int // pid → index in the field all
	ids   []store.Identity
	roots map[int]int // pid → index in ids, for live roots
	owner []int       // for each process in the field all: index in ids, nobody or unasked

	strays map[int]store.Identity // pid of an orphan → root of its tree
}

const (
	nobody  = -1
	unasked = -2
)

// measureTrees measures the process trees with the roots ids. Trees without a live root get nil. If
// inspect is set, it also measures what live members use besides CPU time.
func (m *Meter) measureTrees(now time.Duration, boot string, ids []store.Identity, all []Process,
	strays map[int]store.Identity, inspect func(Process, *member, *api.Metrics)) []*api.Metrics {
	s := measurement{Meter: m, now: now, all: all, ids: ids,
		index: make(map[int]int, len(all)), roots: make(map[int]int, len(ids)), owner: make([]int, len(all)), strays: strays}
	for i, p := range all {
		s.index[p.PID] = i
		s.owner[i] = unasked
	}
	s.forgetExited(boot)
	out := make([]*api.Metrics, len(ids))
	for i, id := range ids {
		if s.isAlive(id, boot) {
			s.roots[id.PID] = i
			out[i] = &api.Metrics{Ports: []int{}}
		}
	}
	ticks := make([]uint64, len(ids))
	for i, p := range all {
		o := s.ownerOf(i)
		if o == nobody {
			continue
		}
		mb := s.joinTree(p, ids[o])
		if s.isDue(ids[o]) {
			ticks[o] += p.CPU - min(mb.cpu, p.CPU)
			mb.cpu = p.CPU
		}
		if !p.IsZombie() {
			out[o].Processes++
			out[o].Threads += p.Threads
			inspect(p, mb, out[o])
		}
	}
	for pid, i := range s.roots {
		s.updatePercent(out[i], ids[i], s.all[s.index[pid]], ticks[i])
	}
	for i, id := range ids {
		// A process listed twice is measured once.
		if first, ok := s.roots[id.PID]; ok && out[i] != nil {
			out[i] = out[first]
		}
	}
	return out
}

func (s *measurement) isAlive(id store.Identity, boot string) bool {
	i, ok := s.index[id.PID]
	return ok && id.BootID == boot && s.all[i].StartTime == id.StartTime && !s.all[i].IsZombie()
}

// forgetExited drops trees whose root has exited, and exited members.
func (s *measurement) forgetExited(boot string) {
	for id := range s.trees {
		if !s.isAlive(id, boot) {
			delete(s.trees, id)
		}
	}
	var ended []int
	for pid, mb := range s.members {
		if s.trees[mb.root] == nil || !s.isPresent(pid, mb) {
			ended = append(ended, pid)
		}
	}
	for _, pid := range ended {
		if mb := s.members[pid]; s.trees[mb.root] != nil && s.isCountedByParent(mb) {
			s.trees[mb.root].moved += mb.cpu
		}
	}
	for _, pid := range ended {
		delete(s.members, pid)
	}
}

func (s *measurement) isPresent(pid int, mb *member) bool {
	i, ok := s.index[pid]
	return ok && s.all[i].StartTime == mb.startTime
}

// isCountedByParent reports whether the ticks of an exited member are now included in another member's:
// its nearest living ancestor in the tree.
func (s *measurement) isCountedByParent(mb *member) bool {
	for range s.members {
		parent := s.members[mb.parent]
		if parent == nil || parent.root != mb.root {
			return false
		}
		if s.isPresent(mb.parent, parent) {
			return true
		}
		mb = parent
	}
	return false
}

// ownerOf returns the tree a process belongs to. That is the first of these: its previous tree, the
// tree of its session, the tree it is an orphan of, the tree of its parent.
func (s *measurement) ownerOf(i int) int {
	if s.owner[i] != unasked {
		return s.owner[i]
	}
	// Set first, to end cycles: reused pids can make it look like a process is its own ancestor.
	s.owner[i] = nobody
	p := s.all[i]
	if o, ok := s.roots[p.PID]; ok {
		s.owner[i] = o
	} else if mb := s.members[p.PID]; mb != nil {
		if o, ok := s.roots[mb.root.PID]; ok {
			s.owner[i] = o
		}
	} else if o, ok := s.roots[p.Session]; ok && p.StartTime >= s.ids[o].StartTime {
		s.owner[i] = o
	} else if o, ok := s.roots[s.strays[p.PID].PID]; ok && s.ids[o] == s.strays[p.PID] {
		s.owner[i] = o
	} else if parent, ok := s.index[p.Parent]; ok {
		s.owner[i] = s.ownerOf(parent)
	}
	return s.owner[i]
}

// joinTree makes a process a member of a tree.
func (s *measurement) joinTree(p Process, root store.Identity) *member {
	mb := s.members[p.PID]
	if mb == nil {
		mb = &member{startTime: p.StartTime}
		s.members[p.PID] = mb
	}
	mb.root, mb.parent, mb.threads = root, p.Parent, p.Threads
	return mb
}

func (s *measurement) treeUseOf(root store.Identity) *treeUse {
	u := s.trees[root]
	if u == nil {
		began := time.Duration(root.StartTime) * time.Second / ticksPerSecond
		u = &treeUse{at: min(began, s.now)}
		if s.now-u.at < youngTree {
			u.past.startAt(u.at)
		}
		s.trees[root] = u
	}
	return u
}

// isDue reports whether enough time has passed for a new percentage.
func (s *measurement) isDue(root store.Identity) bool {
	return s.now-s.treeUseOf(root).at >= minInterval
}

// updatePercent computes a tree's CPU percentage since the last measurement.
func (s *measurement) updatePercent(out *api.Metrics, id store.Identity, root Process, ticks uint64) {
	u := s.treeUseOf(id)
	if s.isDue(id) {
		used := ticks - min(u.moved, ticks)
		u.percent = float64(used) / (s.now - u.at).Seconds()
		if u.past.last == 0 {
			u.past.startAt(s.now)
		} else {
			u.fresh += used
		}
		u.at, u.moved = s.now, 0
	}
	out.CPUPercent = u.percent
}

// recordHistory adds the CPU and memory usage of each process tree to its history, and copies the
// history to out, which must already hold the tree's memory. It skips trees without a live root, and
// records a tree that is listed twice only once.
func (m *Meter) recordHistory(now time.Duration, ids []store.Identity, out []*api.Metrics) {
	for i, id := range ids {
		u := m.trees[id]
		if u == nil || out[i] == nil || out[i].HistorySeconds != nil {
			continue
		}
		u.past.addUse(now, u.fresh, out[i].RSSBytes)
		u.fresh = 0
		u.past.copyTo(out[i], now)
	}
}

// recordIdle records that no tree has used CPU time since the last sample.
func (m *Meter) recordIdle(now time.Duration) {
	for _, u := range m.trees {
		u.at, u.percent = now, 0
		u.past.addIdle(now)
	}
}
