package proctree

import (
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/persist/store"
)

const (
	// ticksPerSecond is the unit of processor times that the kernel shows to
	// programs (USER_HZ), the same on all of Linux. A tick a second is 1 %.
	ticksPerSecond = 100
	// shortestLook is the shortest time that ticks make a percentage of; who
	// asks again sooner gets the last one.
	shortestLook = 200 * time.Millisecond
	// youngTree is how old a tree is at most at the first look for its past to begin
	// with it: what is older may have used what it has used long ago.
	youngTree = 15 * time.Second
)

// A Meter measures processes when it is told to; in between it only remembers.
type Meter struct {
	mu      sync.Mutex // held during a measurement, which waits for nobody
	trees   map[store.Identity]*treeUse
	members map[int]*member // by pid
	sockets listeners
	sampled time.Duration // when the process table was last read for a sample, since boot
}

func NewMeter() *Meter {
	return &Meter{trees: make(map[store.Identity]*treeUse), members: make(map[int]*member)}
}

// A treeUse is what is remembered of a process and all that came of it. Times
// are since boot.
type treeUse struct {
	at      time.Duration // the last look; at first the start of the root
	percent float64
	fresh   uint64 // ticks that the past does not have yet
	past    past
	moved   uint64 // ticks of members that have ended, which their parents now show as theirs
}

// A member is a process that belongs to a tree.
type member struct {
	root      store.Identity
	parent    int
	startTime uint64
	cpu       uint64 // ticks counted so far
	threads   int
	pulse     uint64 // what it had run at the last sample, in nanoseconds or ticks
	held      heldSockets
}

// A measurement is one look at the process table for some trees.
type measurement struct {
	*Meter
	now   time.Duration
	all   []Process
	index map[int]int // pid → place in all
	ids   []store.Identity
	roots map[int]int // pid → place in ids, of those alive
	owner []int       // of each in all: place in ids, nobody or unasked

	strays map[int]store.Identity // pid of an orphan → root of its tree
}

const (
	nobody  = -1
	unasked = -2
)

// look measures the trees of ids in a process table: nil for those not alive.
// Inspect adds what one living member uses beside the processor.
func (m *Meter) look(now time.Duration, boot string, ids []store.Identity, all []Process,
	strays map[int]store.Identity, inspect func(Process, *member, *api.Metrics)) []*api.Metrics {
	s := measurement{Meter: m, now: now, all: all, ids: ids,
		index: make(map[int]int, len(all)), roots: make(map[int]int, len(ids)), owner: make([]int, len(all)), strays: strays}
	for i, p := range all {
		s.index[p.PID] = i
		s.owner[i] = unasked
	}
	s.forget(boot)
	out := make([]*api.Metrics, len(ids))
	for i, id := range ids {
		if s.alive(id, boot) {
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
		mb := s.join(p, ids[o])
		if s.due(ids[o]) {
			ticks[o] += p.CPU - min(mb.cpu, p.CPU)
			mb.cpu = p.CPU
		}
		if !p.Zombie {
			out[o].Processes++
			out[o].Threads += p.threads
			inspect(p, mb, out[o])
		}
	}
	for pid, i := range s.roots {
		s.account(out[i], ids[i], s.all[s.index[pid]], ticks[i])
	}
	for i, id := range ids {
		// The same process asked for twice is measured once.
		if first, ok := s.roots[id.PID]; ok && out[i] != nil {
			out[i] = out[first]
		}
	}
	return out
}

func (s *measurement) alive(id store.Identity, boot string) bool {
	i, ok := s.index[id.PID]
	return ok && id.BootID == boot && s.all[i].StartTime == id.StartTime && !s.all[i].Zombie
}

// forget drops the trees whose root has ended, and members that have.
func (s *measurement) forget(boot string) {
	for id := range s.trees {
		if !s.alive(id, boot) {
			delete(s.trees, id)
		}
	}
	var ended []int
	for pid, mb := range s.members {
		if s.trees[mb.root] == nil || !s.there(pid, mb) {
			ended = append(ended, pid)
		}
	}
	for _, pid := range ended {
		if mb := s.members[pid]; s.trees[mb.root] != nil && s.waitedFor(mb) {
			s.trees[mb.root].moved += mb.cpu
		}
	}
	for _, pid := range ended {
		delete(s.members, pid)
	}
}

func (s *measurement) there(pid int, mb *member) bool {
	i, ok := s.index[pid]
	return ok && s.all[i].StartTime == mb.startTime
}

// waitedFor reports whether the ticks of a member that has ended went over to
// another member: the nearest ancestor that lives.
func (s *measurement) waitedFor(mb *member) bool {
	for range s.members {
		parent := s.members[mb.parent]
		if parent == nil || parent.root != mb.root {
			return false
		}
		if s.there(mb.parent, parent) {
			return true
		}
		mb = parent
	}
	return false
}

// ownerOf finds the tree that a process belongs to: where it belonged before,
// that of its session, that whose orphan it is, or that of its parent.
func (s *measurement) ownerOf(i int) int {
	if s.owner[i] != unasked {
		return s.owner[i]
	}
	s.owner[i] = nobody // ends a circle, which reused pids could feign
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

// join makes a process a member of a tree, if it is none yet.
func (s *measurement) join(p Process, root store.Identity) *member {
	mb := s.members[p.PID]
	if mb == nil {
		mb = &member{startTime: p.StartTime}
		s.members[p.PID] = mb
	}
	mb.root, mb.parent, mb.threads = root, p.Parent, p.threads
	return mb
}

func (s *measurement) use(root store.Identity) *treeUse {
	u := s.trees[root]
	if u == nil {
		began := time.Duration(root.StartTime) * time.Second / ticksPerSecond
		u = &treeUse{at: min(began, s.now)}
		if s.now-u.at < youngTree {
			u.past.begin(u.at)
		}
		s.trees[root] = u
	}
	return u
}

// due reports whether enough time has gone by for a new percentage.
func (s *measurement) due(root store.Identity) bool { return s.now-s.use(root).at >= shortestLook }

// account makes a percentage of what a tree has used since the last look.
func (s *measurement) account(out *api.Metrics, id store.Identity, root Process, ticks uint64) {
	u := s.use(id)
	if s.due(id) {
		used := ticks - min(u.moved, ticks)
		u.percent = float64(used) / (s.now - u.at).Seconds()
		if u.past.last == 0 {
			u.past.begin(s.now)
		} else {
			u.fresh += used
		}
		u.at, u.moved = s.now, 0
	}
	out.CPUPercent = u.percent
}

// remember adds what trees have used to their past, once their memory is known
// too, and tells it.
func (m *Meter) remember(now time.Duration, ids []store.Identity, out []*api.Metrics) {
	for i, id := range ids {
		u := m.trees[id]
		if u == nil || out[i] == nil || out[i].HistorySeconds != nil {
			continue
		}
		u.past.note(now, u.fresh, out[i].RSSBytes)
		u.fresh = 0
		u.past.tell(out[i], now)
	}
}

// rest notes that no tree has used anything since the last sample.
func (m *Meter) rest(now time.Duration) {
	for _, u := range m.trees {
		u.at, u.percent = now, 0
		u.past.still(now)
	}
}
