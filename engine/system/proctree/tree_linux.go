package proctree

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/base/sleep"
	"tandem/persist/store"
)

// A Table reads the process table for several callers. Callers that arrive during a reading share
// the next one, which begins after they called.
type Table struct {
	reading sync.Mutex // held during a reading
	marks   marks

	mu   sync.Mutex
	next *reading // not begun yet; nil if no caller waits
}

type reading struct {
	done chan struct{}
	all  *Snapshot
	err  error
}

// Read returns the current process table. The result is shared.
func (t *Table) Read() (*Snapshot, error) {
	t.mu.Lock()
	r, mine := t.next, t.next == nil
	if mine {
		r = &reading{done: make(chan struct{})}
		t.next = r
	}
	t.mu.Unlock()
	if mine {
		t.reading.Lock()
		// Later callers need a new reading: this one may have missed their processes.
		t.mu.Lock()
		t.next = nil
		t.mu.Unlock()
		now := BootTicks()
		var all []Process
		if all, r.err = All(); r.err == nil {
			r.all = newSnapshot(all, &t.marks)
			r.all.began = now
		}
		t.reading.Unlock()
		close(r.done)
	}
	<-r.done
	return r.all, r.err
}

// Orphans searches procs, the process table, for marked processes without their parent. It returns
// their pids, by mark.
func (t *Table) Orphans(procs []Process) map[Mark][]int { return t.marks.findOrphans(procs) }

// A Snapshot is one reading of the process table, indexed for finding trees.
type Snapshot struct {
	byPID     map[int]Process
	byParent  map[int][]int
	bySession map[int][]int
	orphans   func() map[Mark][]int // nil if nothing was read
	began     uint64                // start of the reading, in clock ticks since boot
}

func newSnapshot(all []Process, marks *marks) *Snapshot {
	s := &Snapshot{
		byPID:     make(map[int]Process, len(all)),
		byParent:  make(map[int][]int),
		bySession: make(map[int][]int),
	}
	for _, p := range all {
		s.byPID[p.PID] = p
		s.byParent[p.Parent] = append(s.byParent[p.Parent], p.PID)
		s.bySession[p.Session] = append(s.bySession[p.Session], p.PID)
	}
	s.orphans = sync.OnceValue(func() map[Mark][]int { return marks.findOrphans(all) })
	return s
}

// Marked returns the orphans by mark.
func (s *Snapshot) Marked() map[Mark][]int {
	if s.orphans == nil {
		return nil
	}
	return s.orphans()
}

// WithMark returns the orphans with a mark and their descendants, without zombies, in ascending order.
func (s *Snapshot) WithMark(m Mark) []int {
	var live []int
	queue := slices.Clone(s.Marked()[m])
	seen := make(map[int]bool)
	for len(queue) > 0 {
		pid := queue[0]
		queue = queue[1:]
		if seen[pid] {
			continue
		}
		seen[pid] = true
		if !s.byPID[pid].IsZombie() {
			live = append(live, pid)
		}
		queue = append(queue, s.byParent[pid]...)
	}
	slices.Sort(live)
	return live
}

// MayBecomeOurs reports whether a process may become a child of this data directory's keeper.
// spared is the pid of the keeper itself.
func (s *Snapshot) MayBecomeOurs(dataDir string, spared int) bool {
	collects := orphanCollectors(slices.Collect(maps.Values(s.byPID)))
	for _, p := range s.byPID {
		if p.PID != spared && collects[p.Parent] && mayBecomeOurs(p, dataDir) {
			return true
		}
	}
	return false
}

// LeaderOf returns the oldest session leader with the mark: the child, since its descendants
// started later. ok is false if there is none.
func (s *Snapshot) LeaderOf(m Mark) (leader Process, ok bool) {
	for _, pid := range s.Marked()[m] {
		p := s.byPID[pid]
		older := leader.PID == 0 || p.StartTime < leader.StartTime
		if p.Session == pid && !p.IsZombie() && older {
			leader = p
		}
	}
	return leader, leader.PID != 0
}

// A Tree is a child with everything it started: its session, its descendants, and orphans with its
// mark. A process stays in the tree when its parent exits or it leaves the session.
type Tree struct {
	root   store.Identity
	known  map[int]uint64 // pid → start time of all members seen so far
	spared map[int]bool   // pids excluded from the tree: engine and keeper

	DataDir string // the engine's; keepers of other data directories are not members
	Mark    Mark   // of its orphans; zero for none
	Held    uint64 // time until which the root's session is known to exist, in clock ticks since boot
	Cgroup  string // directory of the cgroup it was started in, or ""
}

func NewTree(root store.Identity, spared ...int) *Tree {
	t := &Tree{root: root, known: map[int]uint64{root.PID: root.StartTime}, spared: make(map[int]bool)}
	for _, pid := range spared {
		t.spared[pid] = true
	}
	return t
}

// BootTicks returns the time since boot in clock ticks, the unit of start times; 0 if it is
// unknown.
func BootTicks() uint64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0
	}
	return uint64(now.Nano() / (int64(time.Second) / ticksPerSecond))
}

// BornAt returns when a process of this boot was started.
func BornAt(id store.Identity) time.Time {
	ticks := int64(BootTicks()) - int64(id.StartTime)
	return time.Now().Add(-time.Duration(ticks) * (time.Second / ticksPerSecond))
}

// bornBetween is how long after the last reading a process may have started and still count as a
// member of the session, although its parent has exited since: a session id is not reused that
// quickly.
const bornBetween = ticksPerSecond / 2

// inSession returns the processes in the root's session, unless the session's id was reused. The
// kernel does not reuse it while the root or a member lives. So a process in the session that
// started while the session was the root's has been in it all along.
func (t *Tree) inSession(all *Snapshot) []int {
	root, held := all.byPID[t.root.PID]
	// Another process has the root's pid.
	if held && root.StartTime != t.root.StartTime {
		return nil
	}
	session := all.bySession[t.root.PID]
	for _, pid := range session {
		start := all.byPID[pid].StartTime
		held = held || start >= t.root.StartTime && start <= t.Held
	}
	if !held {
		return nil
	}
	t.Held = max(t.Held, all.began+bornBetween)
	return session
}

// isOtherKeeper reports whether p is the keeper of another data directory: it leads a session, and
// its environment has that directory but no session of ours.
func (t *Tree) isOtherKeeper(p Process) bool {
	if t.DataDir == "" || p.Session != p.PID || p.PID == t.root.PID {
		return false
	}
	text, err := readEnviron(p.PID, time.Now().Add(maxMarkWait))
	if err != nil {
		return false
	}
	m := parseMark(text)
	return m.ID == "" && m.DataDir != "" && m.DataDir != t.DataDir
}

// members returns the live members, the root first.
func (t *Tree) members(all *Snapshot) []Process {
	var queue []int
	ours := make(map[int]bool)
	late := make(map[int]Process) // started after the reading
	add := func(pid int) {
		if !ours[pid] && !t.spared[pid] {
			ours[pid] = true
			queue = append(queue, pid)
		}
	}
	for pid, start := range t.known {
		if p, ok := all.byPID[pid]; ok && p.StartTime == start {
			add(pid)
		}
	}
	for _, pid := range t.inSession(all) {
		add(pid)
	}
	for _, p := range membersOf(t.Cgroup) {
		if _, seen := all.byPID[p.PID]; !seen {
			late[p.PID] = p
		}
		add(p.PID)
	}
	if t.Mark != (Mark{}) {
		for _, pid := range all.Marked()[t.Mark] {
			add(pid)
		}
	}
	// Breadth first through all descendants.
	for len(queue) > 0 {
		pid := queue[0]
		queue = queue[1:]
		for _, child := range all.byParent[pid] {
			if !t.isOtherKeeper(all.byPID[child]) {
				add(child)
			}
		}
	}
	var live []Process
	for pid := range ours {
		p, seen := all.byPID[pid]
		if !seen {
			p = late[pid]
		}
		t.known[pid] = p.StartTime
		if !p.IsZombie() {
			live = append(live, p)
		}
	}
	// Signal the root first: a shell whose command is signalled before it sees the command exit
	// and continues.
	if root := slices.IndexFunc(live, func(p Process) bool { return p.PID == t.root.PID }); root > 0 {
		live[0], live[root] = live[root], live[0]
	}
	return live
}

// isScarce reports whether an error means that no descriptor was free.
func isScarce(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE)
}

// A Step sends signals to a tree that is still alive after some time.
type Step struct {
	after   time.Duration
	signals []unix.Signal
	repeat  bool // send them again to processes started since
}

// maxScarce bounds the time End waits for a free descriptor.
const maxScarce = 5 * time.Second

// stuckAfter is the time after the last step at which a tree counts as stuck.
const stuckAfter = 3 * time.Second

// TerminalSteps returns the steps that stop a program in a terminal: hang up, which shells obey,
// then ask the programs to exit, then kill them once timeout has passed. A timeout of 0 means 3
// seconds.
func TerminalSteps(timeout time.Duration) []Step {
	if timeout <= 0 {
		timeout = 3 * time.Second
	}
	return []Step{
		{0, []unix.Signal{unix.SIGHUP, unix.SIGCONT}, false},
		{min(700*time.Millisecond, timeout), []unix.Signal{unix.SIGTERM, unix.SIGCONT}, false},
		{timeout, []unix.Signal{unix.SIGKILL}, true},
	}
}

// StopSteps returns the steps that send the given signal and, once timeout has passed, kill the
// processes.
func StopSteps(signal unix.Signal, timeout time.Duration) []Step {
	kill := Step{timeout, []unix.Signal{unix.SIGKILL}, true}
	if signal == unix.SIGKILL {
		kill.after = 0
		return []Step{kill}
	}
	return []Step{{0, []unix.Signal{signal, unix.SIGCONT}, false}, kill}
}

// End stops a tree. It returns once no member is left, or an error with those that remain.
func (t *Tree) End(ctx context.Context, table *Table, steps []Step) error {
	began := time.Now()
	boot, err := store.BootID()
	for isScarce(err) && ctx.Err() == nil && time.Since(began) < maxScarce {
		time.Sleep(10 * time.Millisecond)
		boot, err = store.BootID()
	}
	if err != nil {
		return err
	}
	if t.root.BootID != boot {
		return nil
	}
	sent := -1
	for wait := 2 * time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		all, err := table.Read()
		for isScarce(err) && ctx.Err() == nil && time.Since(began) < maxScarce {
			time.Sleep(wait) // descriptors are usually free again soon
			all, err = table.Read()
		}
		if err != nil {
			return err
		}
		live := t.members(all)
		if len(live) == 0 && !Populated(t.Cgroup) && !t.groupLives(all) {
			DropCgroup(t.Cgroup)
			return nil
		}
		since := time.Since(began)
		if since > steps[len(steps)-1].after+stuckAfter {
			return errStuck(live)
		}
		for i, step := range steps {
			if since >= step.after && (sent < i || step.repeat) {
				if done := sendAll(live, step.signals); !done[t.root.PID] {
					t.sendUnseen(all, step.signals)
				}
				if step.repeat {
					KillCgroup(t.Cgroup)
				}
				sent = max(sent, i)
			}
		}
		if err := sleep.For(ctx, wait); err != nil {
			return err
		}
	}
}

// Lives reports whether a member of the tree is alive.
func (t *Tree) Lives(all *Snapshot) bool { return len(t.members(all)) > 0 || Populated(t.Cgroup) }

// groupLives reports whether the root's process group exists although no member was seen: its
// processes may fork and exit faster than the process table can be read. The group's id is not
// reused while a member exists, zombies included.
func (t *Tree) groupLives(all *Snapshot) bool {
	now := BootTicks()
	if now == 0 || now > t.Held || t.root.PID <= 1 || unix.Kill(-t.root.PID, 0) != nil {
		return false
	}
	if p, ok := Read(t.root.PID); ok && p.StartTime != t.root.StartTime {
		return false
	}
	for _, p := range all.byPID {
		if p.Group == t.root.PID && p.IsZombie() && p.StartTime+bornBetween < now {
			return false
		}
	}
	t.Held = now + bornBetween
	return true
}

// sendUnseen signals the root's group although no member was seen.
func (t *Tree) sendUnseen(all *Snapshot, signals []unix.Signal) {
	if t.groupLives(all) {
		for _, signal := range signals {
			_ = unix.Kill(-t.root.PID, signal) // it may have exited meanwhile
		}
	}
}

// sendAll signals the process groups of all members, which includes children being forked at this
// moment. It returns the groups signalled.
func sendAll(live []Process, signals []unix.Signal) (done map[int]bool) {
	done = make(map[int]bool)
	for _, p := range live {
		if done[p.Group] || !isSame(p) {
			continue
		}
		// One signal per group: programs may treat a second one differently.
		done[p.Group] = true
		for _, s := range signals {
			// A group that has exited meanwhile needs no signal.
			_ = unix.Kill(-p.Group, s)
		}
	}
	return done
}

// isSame reports whether p is still the process that was read.
func isSame(p Process) bool {
	now, ok := Read(p.PID)
	return ok && now.StartTime == p.StartTime && now.Group == p.Group && p.Group > 1
}

func errStuck(live []Process) error {
	var names []string
	for _, p := range live[:min(len(live), 10)] {
		names = append(names, fmt.Sprintf("%s (%d)", p.Name, p.PID))
	}
	if len(names) == 0 {
		names = []string{"processes of its group, which exit before they can be listed"}
	}
	return errors.New("kill processes: still there after SIGKILL: " + strings.Join(names, ", "))
}
