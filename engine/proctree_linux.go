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

	mu   sync.Mutex
	next *reading // not begun yet; nil if nobody waits
}

type reading struct {
	done chan struct{}
	all  []procStat
	err  error
}

// read gives the process table as it is now. The result is shared.
func (t *processTable) read() ([]procStat, error) {
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
		r.all, r.err = allProcesses()
		t.reading.Unlock()
		close(r.done)
	}
	<-r.done
	return r.all, r.err
}

// A tree is a child of ours and everything that came of it: what is in its
// session and what descends from it. Who once belonged to it stays in it when
// its parent has ended or it has left the session.
type tree struct {
	root   persist.Identity
	known  map[int]uint64 // pid → start time of all members seen
	spared map[int]bool   // pids that never belong to it: engine and keeper
}

func newTree(root persist.Identity, spared ...int) *tree {
	t := &tree{root: root, known: map[int]uint64{root.PID: root.StartTime}, spared: make(map[int]bool)}
	for _, pid := range spared {
		t.spared[pid] = true
	}
	return t
}

// members gives those that live now. A session id counts as long as nobody
// else can have it: while a process of that session lives, its number is not
// given to a new one.
func (t *tree) members(all []procStat) []procStat {
	ours := make(map[int]bool)
	reused := t.reused(all)
	for _, p := range all {
		if t.spared[p.pid] {
			continue
		}
		if start, ok := t.known[p.pid]; ok && start == p.startTime {
			ours[p.pid] = true
		}
		if p.session == t.root.PID && p.startTime >= t.root.StartTime && !reused {
			ours[p.pid] = true
		}
	}
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if ours[p.parent] && !ours[p.pid] && !t.spared[p.pid] {
				ours[p.pid], grown = true, true
			}
		}
	}
	var live []procStat
	for _, p := range all {
		if ours[p.pid] {
			t.known[p.pid] = p.startTime
			if !p.zombie {
				live = append(live, p)
			}
		}
	}
	return live
}

// reused reports whether the root's pid is another process's now.
func (t *tree) reused(all []procStat) bool {
	i := slices.IndexFunc(all, func(p procStat) bool { return p.pid == t.root.PID })
	return i >= 0 && all[i].startTime != t.root.StartTime
}

// How a tree is ended: a terminal hangs up first, which shells obey, then
// programs are asked, then they are killed.
const (
	termAfter  = 700 * time.Millisecond
	killAfter  = 3 * time.Second
	stuckAfter = 6 * time.Second
)

// endTree ends a child and everything that came of it. It returns when nothing
// of it is left, or says who stays. Processes with a spared pid are left alone.
func endTree(ctx context.Context, table *processTable, root persist.Identity, spared ...int) error {
	boot, err := persist.BootID()
	if err != nil {
		return err
	}
	if root.BootID != boot {
		return nil
	}
	t := newTree(root, spared...)
	began := time.Now()
	sent := time.Duration(-1)
	for wait := 2 * time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		all, err := table.read()
		if err != nil {
			return err
		}
		live := t.members(all)
		if len(live) == 0 {
			return nil
		}
		since := time.Since(began)
		if since > stuckAfter {
			return errStuck(live)
		}
		for _, step := range endSteps {
			if since >= step.after && (sent < step.after || step.repeat) {
				sendAll(live, step.signals)
				sent = max(sent, step.after)
			}
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// endSteps are what is sent when; SIGKILL goes out again to what was born in
// between.
var endSteps = [...]struct {
	after   time.Duration
	signals []unix.Signal
	repeat  bool
}{
	{0, []unix.Signal{unix.SIGHUP, unix.SIGCONT}, false},
	{termAfter, []unix.Signal{unix.SIGTERM, unix.SIGCONT}, false},
	{killAfter, []unix.Signal{unix.SIGKILL}, true},
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
	return errors.New("end processes: still there after SIGKILL: " + strings.Join(names, ", "))
}
