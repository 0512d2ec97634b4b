package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/persist"

	"golang.org/x/sys/unix"
)

// A processTable reads the process table for many at once: whoever asks while
// it is being read shares the next reading, which begins after they asked.
type processTable struct {
	reading sync.Mutex // held during a reading
	marks   marks

	mu   sync.Mutex
	next *reading // not begun yet; nil if nobody waits
}

type reading struct {
	done chan struct{}
	all  *snapshot
	err  error
}

// read gives the process table as it is now. The result is shared.
func (t *processTable) read() (*snapshot, error) {
	t.mu.Lock()
	r, mine := t.next, t.next == nil
	if mine {
		r = &reading{done: make(chan struct{})}
		t.next = r
	}
	t.mu.Unlock()
	if mine {
		t.reading.Lock()
		t.mu.Lock()
		t.next = nil
		t.mu.Unlock()
		now := bootTicks()
		var all []procStat
		if all, r.err = allProcesses(); r.err == nil {
			r.all = newSnapshot(all, &t.marks)
			r.all.began = now
		}
		t.reading.Unlock()
		close(r.done)
	}
	<-r.done
	return r.all, r.err
}

// A snapshot is one reading of the process table, in the orders that trees are
// found by.
type snapshot struct {
	byPID     map[int]procStat
	byParent  map[int][]int
	bySession map[int][]int
	marked    func() map[mark][]int // orphans by what they are marked with
	began     uint64                // when the reading did, in clock ticks since boot
}

func newSnapshot(all []procStat, marks *marks) *snapshot {
	s := &snapshot{
		byPID:     make(map[int]procStat, len(all)),
		byParent:  make(map[int][]int),
		bySession: make(map[int][]int),
	}
	for _, p := range all {
		s.byPID[p.pid] = p
		s.byParent[p.parent] = append(s.byParent[p.parent], p.pid)
		s.bySession[p.session] = append(s.bySession[p.session], p.pid)
	}
	s.marked = sync.OnceValue(func() map[mark][]int { return marks.orphans(all) })
	return s
}

// A tree is a child of ours and everything that came of it: what is in its
// session, what descends from it, and orphans that carry its mark. Who once
// belonged to it stays in it when its parent has ended or it has left the
// session.
type tree struct {
	root   persist.Identity
	mark   mark           // of its orphans; none if it is zero
	known  map[int]uint64 // pid → start time of all members seen
	spared map[int]bool   // pids that never belong to it: engine and keeper
	held   uint64         // until when the root's session is known to have been there, in clock ticks since boot
	cgroup string         // folder of the cgroup that it was started in; "" if there is none
}

func newTree(root persist.Identity, spared ...int) *tree {
	t := &tree{root: root, known: map[int]uint64{root.PID: root.StartTime}, spared: make(map[int]bool)}
	for _, pid := range spared {
		t.spared[pid] = true
	}
	return t
}

// bootTicks is now in clock ticks since boot, as start times are; 0 if that
// cannot be told.
func bootTicks() uint64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0
	}
	return uint64(now.Nano() / (int64(time.Second) / ticksPerSecond))
}

// bornBetween is how much later than the last look a process may have been
// started that goes on in the session when its parent has ended since. No other
// session gets the number so soon.
const bornBetween = ticksPerSecond / 2

// inSession gives who is in the root's session, and nobody of another one that
// has got its number. The number is not given away while the root lives, or
// anybody of the session: who was started when it was still the root's, and is in
// a session of that number now, has been in it all the time.
func (t *tree) inSession(all *snapshot) []int {
	root, held := all.byPID[t.root.PID]
	if held && root.startTime != t.root.StartTime {
		return nil
	}
	session := all.bySession[t.root.PID]
	for _, pid := range session {
		start := all.byPID[pid].startTime
		held = held || start >= t.root.StartTime && start <= t.held
	}
	if !held {
		return nil
	}
	t.held = max(t.held, all.began+bornBetween)
	return session
}

// members gives those that live now, the root first.
func (t *tree) members(all *snapshot) []procStat {
	var queue []int
	ours := make(map[int]bool)
	late := make(map[int]procStat) // born after the reading
	add := func(pid int) {
		if !ours[pid] && !t.spared[pid] {
			ours[pid] = true
			queue = append(queue, pid)
		}
	}
	for pid, start := range t.known {
		if p, ok := all.byPID[pid]; ok && p.startTime == start {
			add(pid)
		}
	}
	for _, pid := range t.inSession(all) {
		add(pid)
	}
	for _, p := range membersOf(t.cgroup) {
		if _, seen := all.byPID[p.pid]; !seen {
			late[p.pid] = p
		}
		add(p.pid)
	}
	if t.mark != (mark{}) {
		for _, pid := range all.marked()[t.mark] {
			add(pid)
		}
	}
	for len(queue) > 0 {
		pid := queue[0]
		queue = queue[1:]
		for _, child := range all.byParent[pid] {
			add(child)
		}
	}
	var live []procStat
	for pid := range ours {
		p, seen := all.byPID[pid]
		if !seen {
			p = late[pid]
		}
		t.known[pid] = p.startTime
		if !p.zombie {
			live = append(live, p)
		}
	}
	// A shell whose command is signalled first sees that end, and goes on.
	if root := slices.IndexFunc(live, func(p procStat) bool { return p.pid == t.root.PID }); root > 0 {
		live[0], live[root] = live[root], live[0]
	}
	return live
}

// A step is a number of signals that a tree gets if it lives so long.
type step struct {
	after   time.Duration
	signals []unix.Signal
	repeat  bool // send them again to what was born in between
}

// scarceLimit is how long an end waits for a descriptor.
const scarceLimit = 5 * time.Second

// stuckAfter is how long after the last step a tree counts as stuck.
const stuckAfter = 3 * time.Second

// terminalSteps end what has a terminal: that hangs up first, which shells
// obey, then programs are asked, then they are killed.
var terminalSteps = [...]step{
	{0, []unix.Signal{unix.SIGHUP, unix.SIGCONT}, false},
	{700 * time.Millisecond, []unix.Signal{unix.SIGTERM, unix.SIGCONT}, false},
	{3 * time.Second, []unix.Signal{unix.SIGKILL}, true},
}

// stopSteps ask with one signal and then kill.
func stopSteps(signal unix.Signal, patience time.Duration) []step {
	kill := step{patience, []unix.Signal{unix.SIGKILL}, true}
	if signal == unix.SIGKILL {
		kill.after = 0
		return []step{kill}
	}
	return []step{{0, []unix.Signal{signal, unix.SIGCONT}, false}, kill}
}

// end ends a tree. It returns when nothing of it is left, or says who stays.
func (t *tree) end(ctx context.Context, table *processTable, steps []step) error {
	boot, err := persist.BootID()
	if err != nil {
		return err
	}
	if t.root.BootID != boot {
		return nil
	}
	began := time.Now()
	sent := -1
	for wait := 2 * time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		all, err := table.read()
		for isScarce(err) && ctx.Err() == nil && time.Since(began) < scarceLimit {
			time.Sleep(wait) // others open files for a moment only
			all, err = table.read()
		}
		if err != nil {
			return err
		}
		live := t.members(all)
		if len(live) == 0 && !populated(t.cgroup) && !t.groupLives(all) {
			dropCgroup(t.cgroup)
			return nil
		}
		since := time.Since(began)
		if since > steps[len(steps)-1].after+stuckAfter {
			return errStuck(live)
		}
		for i, step := range steps {
			if since >= step.after && (sent < i || step.repeat) {
				sendAll(live, step.signals)
				t.sendUnseen(all, step)
				sent = max(sent, i)
			}
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// groupLives reports whether the root's process group is there although nobody
// of it was seen: its processes fork and end faster than the process table can be
// read. The number is the group's as long as it is held; what has ended and was
// not collected holds it too.
func (t *tree) groupLives(all *snapshot) bool {
	now := bootTicks()
	if now == 0 || now > t.held || t.root.PID <= 1 || unix.Kill(-t.root.PID, 0) != nil {
		return false
	}
	if p, ok := readStat(t.root.PID); ok && p.startTime != t.root.StartTime {
		return false
	}
	for _, p := range all.byPID {
		if p.group == t.root.PID && p.zombie && p.startTime+bornBetween < now {
			return false
		}
	}
	t.held = now + bornBetween
	return true
}

// sendUnseen signals what nobody has seen: all of the root's group, and in the
// end all of the cgroup.
func (t *tree) sendUnseen(all *snapshot, s step) {
	if t.groupLives(all) {
		for _, signal := range s.signals {
			_ = unix.Kill(-t.root.PID, signal) // it may have ended meanwhile
		}
	}
	if s.repeat {
		killCgroup(t.cgroup)
	}
}

// sendAll signals the process groups of all members, which reaches children
// that are being forked at this moment.
func sendAll(live []procStat, signals []unix.Signal) {
	done := make(map[int]bool)
	for _, p := range live {
		if done[p.group] || !same(p) {
			continue
		}
		done[p.group] = true
		for _, s := range signals {
			// A group that has ended meanwhile needs no signal.
			_ = unix.Kill(-p.group, s)
		}
	}
}

// same reports whether p is still the process that was looked at.
func same(p procStat) bool {
	now, ok := readStat(p.pid)
	return ok && now.startTime == p.startTime && now.group == p.group && p.group > 1
}

func errStuck(live []procStat) error {
	var names []string
	for _, p := range live[:min(len(live), 10)] {
		names = append(names, fmt.Sprintf("%s (%d)", p.name, p.pid))
	}
	if len(names) == 0 {
		names = []string{"those of its group, which come and go"}
	}
	return errors.New("end processes: still there after SIGKILL: " + strings.Join(names, ", "))
}
