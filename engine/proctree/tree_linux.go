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

	"tandem/engine/sleep"
	"tandem/persist/store"
)

// A Table reads the process table for many at once: whoever asks while
// it is being read shares the next reading, which begins after they asked.
type Table struct {
	reading sync.Mutex // held during a reading
	marks   marks

	mu   sync.Mutex
	next *reading // not begun yet; nil if nobody waits
}

type reading struct {
	done chan struct{}
	all  *Snapshot
	err  error
}

// Read gives the process table as it is now. The result is shared.
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

// Orphans are those of some processes that have lost their parent, by the marks
// that they carry.
func (t *Table) Orphans(all []Process) map[Mark][]int { return t.marks.orphans(all) }

// A Snapshot is one reading of the process table, in the orders that trees are
// found by.
type Snapshot struct {
	byPID     map[int]Process
	byParent  map[int][]int
	bySession map[int][]int
	orphans   func() map[Mark][]int // by what they are marked with; nil if nothing was read
	began     uint64                // when the reading did, in clock ticks since boot
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
	s.orphans = sync.OnceValue(func() map[Mark][]int { return marks.orphans(all) })
	return s
}

// Marked are the orphans by what they are marked with.
func (s *Snapshot) Marked() map[Mark][]int {
	if s.orphans == nil {
		return nil
	}
	return s.orphans()
}

// MayBecomeOurs reports whether there is a process that may become a child of
// a keeper of this data folder; spared is the keeper itself.
func (s *Snapshot) MayBecomeOurs(dataDir string, spared int) bool {
	collects := collectors(slices.Collect(maps.Values(s.byPID)))
	for _, p := range s.byPID {
		if p.PID != spared && collects[p.Parent] && mayBecomeOurs(p, dataDir) {
			return true
		}
	}
	return false
}

// LeaderOf is the first process that carries a mark and leads a session: the
// child, since what it has started came later. ok is false if there is none.
func (s *Snapshot) LeaderOf(m Mark) (leader Process, ok bool) {
	for _, pid := range s.Marked()[m] {
		p := s.byPID[pid]
		older := leader.PID == 0 || p.StartTime < leader.StartTime
		if p.Session == pid && !p.Zombie && older {
			leader = p
		}
	}
	return leader, leader.PID != 0
}

// A Tree is a child of ours and everything that came of it: what is in its
// session, what descends from it, and orphans that carry its mark. Who once
// belonged to it stays in it when its parent has ended or it has left the
// session.
type Tree struct {
	root   store.Identity
	known  map[int]uint64 // pid → start time of all members seen
	spared map[int]bool   // pids that never belong to it: engine and keeper

	DataDir string // of our engine; keepers of other data folders are not members
	Mark    Mark   // of its orphans; none if it is zero
	Held    uint64 // until when the root's session is known to have been there, in clock ticks since boot
	Cgroup  string // folder of the cgroup that it was started in; "" if there is none
}

func NewTree(root store.Identity, spared ...int) *Tree {
	t := &Tree{root: root, known: map[int]uint64{root.PID: root.StartTime}, spared: make(map[int]bool)}
	for _, pid := range spared {
		t.spared[pid] = true
	}
	return t
}

// BootTicks is now in clock ticks since boot, as start times are; 0 if that
// cannot be told.
func BootTicks() uint64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0
	}
	return uint64(now.Nano() / (int64(time.Second) / ticksPerSecond))
}

// BornAt is when a process of this boot was started.
func BornAt(id store.Identity) time.Time {
	ticks := int64(BootTicks()) - int64(id.StartTime)
	return time.Now().Add(-time.Duration(ticks) * (time.Second / ticksPerSecond))
}

// bornBetween is how much later than the last look a process may have been
// started that goes on in the session when its parent has ended since. No other
// session gets the number so soon.
const bornBetween = ticksPerSecond / 2

// inSession gives who is in the root's session, and nobody of another one that
// has got its number. The number is not given away while the root lives, or
// anybody of the session: who was started when it was still the root's, and is in
// a session of that number now, has been in it all the time.
func (t *Tree) inSession(all *Snapshot) []int {
	root, held := all.byPID[t.root.PID]
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

// isOtherKeeper reports whether p is the keeper of another data folder: it leads a session, and
// its environment has that folder but no session of ours.
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

// members gives those that live now, the root first.
func (t *Tree) members(all *Snapshot) []Process {
	var queue []int
	ours := make(map[int]bool)
	late := make(map[int]Process) // born after the reading
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
		if !p.Zombie {
			live = append(live, p)
		}
	}
	// A shell whose command is signalled first sees that end, and goes on.
	if root := slices.IndexFunc(live, func(p Process) bool { return p.PID == t.root.PID }); root > 0 {
		live[0], live[root] = live[root], live[0]
	}
	return live
}

// isScarce reports whether an error is that there was no descriptor at that
// moment.
func isScarce(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE)
}

// A Step is a number of signals that a tree gets if it lives so long.
type Step struct {
	after   time.Duration
	signals []unix.Signal
	repeat  bool // send them again to what was born in between
}

// scarceLimit is how long an end waits for a descriptor.
const scarceLimit = 5 * time.Second

// stuckAfter is how long after the last step a tree counts as stuck.
const stuckAfter = 3 * time.Second

// TerminalSteps end what has a terminal: that hangs up first, which shells
// obey, then programs are asked, then they are killed; that is when a stop
// timeout is over, which is 3 seconds if it is 0.
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

// StopSteps ask with one signal and then kill when the stop timeout is over.
func StopSteps(signal unix.Signal, timeout time.Duration) []Step {
	kill := Step{timeout, []unix.Signal{unix.SIGKILL}, true}
	if signal == unix.SIGKILL {
		kill.after = 0
		return []Step{kill}
	}
	return []Step{{0, []unix.Signal{signal, unix.SIGCONT}, false}, kill}
}

// End ends a tree. It returns when nothing of it is left, or says who stays.
func (t *Tree) End(ctx context.Context, table *Table, steps []Step) error {
	began := time.Now()
	boot, err := store.BootID()
	for isScarce(err) && ctx.Err() == nil && time.Since(began) < scarceLimit {
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
		for isScarce(err) && ctx.Err() == nil && time.Since(began) < scarceLimit {
			time.Sleep(wait) // others open files for a moment only
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

// Lives reports whether anything of the tree does.
func (t *Tree) Lives(all *Snapshot) bool { return len(t.members(all)) > 0 || Populated(t.Cgroup) }

// groupLives reports whether the root's process group is there although nobody
// of it was seen: its processes fork and end faster than the process table can be
// read. The number is the group's as long as it is held; what has ended and was
// not collected holds it too.
func (t *Tree) groupLives(all *Snapshot) bool {
	now := BootTicks()
	if now == 0 || now > t.Held || t.root.PID <= 1 || unix.Kill(-t.root.PID, 0) != nil {
		return false
	}
	if p, ok := Read(t.root.PID); ok && p.StartTime != t.root.StartTime {
		return false
	}
	for _, p := range all.byPID {
		if p.Group == t.root.PID && p.Zombie && p.StartTime+bornBetween < now {
			return false
		}
	}
	t.Held = now + bornBetween
	return true
}

// sendUnseen signals the root's group though nobody of it was seen.
func (t *Tree) sendUnseen(all *Snapshot, signals []unix.Signal) {
	if t.groupLives(all) {
		for _, signal := range signals {
			_ = unix.Kill(-t.root.PID, signal) // it may have ended meanwhile
		}
	}
}

// sendAll signals the process groups of all members, which reaches children
// that are being forked at this moment. It gives which it has.
func sendAll(live []Process, signals []unix.Signal) (done map[int]bool) {
	done = make(map[int]bool)
	for _, p := range live {
		if done[p.Group] || !same(p) {
			continue
		}
		done[p.Group] = true
		for _, s := range signals {
			// A group that has ended meanwhile needs no signal.
			_ = unix.Kill(-p.Group, s)
		}
	}
	return done
}

// same reports whether p is still the process that was looked at.
func same(p Process) bool {
	now, ok := Read(p.PID)
	return ok && now.StartTime == p.StartTime && now.Group == p.Group && p.Group > 1
}

func errStuck(live []Process) error {
	var names []string
	for _, p := range live[:min(len(live), 10)] {
		names = append(names, fmt.Sprintf("%s (%d)", p.Name, p.PID))
	}
	if len(names) == 0 {
		names = []string{"those of its group, which come and go"}
	}
	return errors.New("end processes: still there after SIGKILL: " + strings.Join(names, ", "))
}
